import { z } from 'zod'
import { anyId, anyOf, defineList } from '#platform/http/list'
import { email, id, jsonObject, name, reference, timestamp, timestampIn } from '#platform/http/schema'

const WorkspaceRole = z.enum(['owner', 'member', 'viewer', 'guest'])

export const Workspace = z
  .object({
    workspace_id: id('ws'),
    company_id: id('co'),
    name: z.string(),
    role: WorkspaceRole.describe("The caller's role in it"),
    settings: z.object({
      require_second_factor: z
        .boolean()
        .describe(
          'Whether members without a second factor are refused (403 `second_factor_required`), their API keys too',
        ),
    }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Workspace' })
export type Workspace = z.input<typeof Workspace>

export const NewWorkspace = z.strictObject({ name: name(), company_id: reference('co').optional() })
export const WorkspacePatch = z.strictObject({
  name: name().optional(),
  company_id: reference('co').optional(),
  settings: z.strictObject({ require_second_factor: z.boolean().optional() }).optional(),
})

export const WorkspaceMember = z
  .object({
    user_id: id('usr'),
    kind: z.enum(['person', 'service_account']),
    email: z.string(),
    name: z.string(),
    role: WorkspaceRole,
    joined_at: timestamp(),
  })
  .meta({ id: 'WorkspaceMember' })
export type WorkspaceMember = z.input<typeof WorkspaceMember>

export const MemberPatch = z.strictObject({ role: WorkspaceRole })

/** The request body of every invite operation. */
export const NewInvitation = z.strictObject({
  email: email(),
  role: z.enum(['owner', 'member', 'viewer']).default('member'),
})

/** The response of every invite operation. */
export const Invitation = z
  .object({
    invitation_id: id('ivt'),
    email: z.string(),
    role: z.string(),
    state: z.enum(['added', 'invited']),
    link: z.string().optional().describe('Anyone who has that address and opens it can accept; shown once'),
    expires_at: timestamp().optional(),
  })
  .meta({ id: 'Invitation' })
export type Invitation = z.input<typeof Invitation>

export const PendingInvitation = z
  .object({
    invitation_id: id('ivt'),
    email: z.string(),
    role: z.string(),
    resource_kind: z.enum(['thread', 'job']).nullable(),
    invited_by: id('usr').nullable(),
    created_at: timestamp(),
    expires_at: timestamp(),
  })
  .meta({ id: 'PendingInvitation' })
export type PendingInvitation = z.input<typeof PendingInvitation>

export const AuditEntry = z
  .object({
    entry_id: id('aul'),
    workspace_id: id('ws').nullable(),
    actor_id: id('usr').nullable(),
    actor_kind: z.string(),
    actor_name: z.string().nullable().optional().describe('Shown to operators; null if the account was deleted'),
    workspace_name: z.string().nullable().optional().describe('Shown to operators; null if it was deleted'),
    action: z.string(),
    subject: z.string().nullable(),
    data: jsonObject(),
    address: z.string().nullable(),
    at: timestamp(),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.input<typeof AuditEntry>

const auditFilter = {
  action: z.string().max(100).optional().describe('Only entries of this action; `workflow.*` for all that begin so'),
  actor_id: reference('usr').optional().describe('Only what this person did'),
  subject: z.string().max(320).optional().describe('Only entries about this id or address'),
  from: timestampIn().optional().describe('Not before this time'),
  to: timestampIn().optional().describe('Before this time'),
}
export const auditList = defineList({
  id: 'entry_id',
  created: 'at',
  search: ['action', 'subject'],
  sort: { created_at: 'id' },
  order: '-created_at',
  idsByTime: true,
})
export const auditQuery = auditList.query.extend(auditFilter)
export const auditExportQuery = z.strictObject({ ...auditFilter, format: z.enum(['jsonl']).default('jsonl') })

const roles = ['owner', 'member', 'viewer', 'guest'] as const

export const workspaceList = defineList({
  id: 'workspace_id',
  search: ['name'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: '-created_at',
  filters: { role: anyOf(roles), company_id: anyId('co', 'Only workspaces of this company') },
})

export const memberList = defineList({
  id: 'user_id',
  created: 'joined_at',
  search: ['name', 'email'],
  sort: { user_id: 'id', created_at: 'time', name: 'text', email: 'text' },
  order: '-user_id',
  filters: { role: anyOf(roles) },
})

export const invitationList = defineList({
  id: 'invitation_id',
  search: ['email'],
  sort: { created_at: 'id', email: 'text', expires_at: 'time' },
  order: '-created_at',
  filters: { role: anyOf(roles) },
})
