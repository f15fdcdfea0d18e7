import { z } from 'zod'
import { givenShares, shownShares } from '#areas/teams/shares'
import { bulkAnswer, idList } from '#platform/http/bulk'
import { anyId, defineList, flag } from '#platform/http/list'
import { definition, definitionIn, id, jsonObject, name, reference, timestamp } from '#platform/http/schema'
import { Settings, SettingsPatch, ShownSettings } from './settings-schema.ts'

const ROLES: ['editor', 'member', 'viewer'] = ['editor', 'member', 'viewer']
const Role = z.enum(ROLES)

/** The id of a workflow: a TypeID, or the slug of a system workflow. */
const WorkflowId = id('wf')

const MAX_TAGS = 20
const tags = z
  .array(z.string().trim().min(1).max(50))
  .max(MAX_TAGS)
  .refine((all) => new Set(all).size === all.length, 'names a tag twice')
  .describe('Words by which people sort their workflows')

/** What can start a workflow besides a person. */
export const startKinds = ['schedule', 'webhook', 'embed', 'event', 'service', 'template', 'job'] as const

const Activity = z.object({
  last_run: z
    .object({
      execution_id: id('exe'),
      status: z.string(),
      created_at: timestamp(),
      finished_at: timestamp().nullable(),
    })
    .nullable()
    .describe('The newest run; trials and runs for records of jobs do not count'),
  next_run_at: timestamp().nullable().describe('When a schedule starts it next'),
  starts: z.array(z.enum(startKinds)).describe('What starts it besides a person: only what is switched on'),
})
export type Activity = z.input<typeof Activity>

export const Workflow = z
  .object({
    workflow_id: WorkflowId,
    kind: z.enum(['user', 'system']),
    name: z.string(),
    description: z.string().nullable(),
    owner_id: id('usr').nullable(),
    members: z.array(z.object({ user_id: id('usr'), role: Role })),
    teams: shownShares(ROLES),
    role: z
      .enum(['owner', ...ROLES])
      .nullable()
      .describe('Of the caller, as a member or through a team; null: none'),
    active_version_id: id('wfv').nullable(),
    activation_required: z
      .boolean()
      .describe('It has a new owner and does not run before its owner or an editor has activated a version'),
    paused_at: timestamp().nullable().describe('Since when none of its runs start; null if it is not paused'),
    pending_owner_id: id('usr').nullable().describe('Whom its owner has offered it to'),
    tags: z.array(z.string()).describe('Words by which people sort their workflows'),
    activity: Activity.nullish().describe('In lists with `include=activity`; null if the caller may not see its runs'),
    settings: ShownSettings,
    /** The definition of a system workflow, which has no versions. */
    definition: definition().optional(),
    created_at: timestamp().nullable(),
    updated_at: timestamp().nullable(),
  })
  .meta({ id: 'Workflow' })
export type Workflow = z.input<typeof Workflow>

const members = z.array(z.strictObject({ user_id: reference('usr'), role: Role.default('member') })).max(1000)

const teams = givenShares(ROLES, 'member')

export const NewWorkflow = z.strictObject({
  name: name(),
  description: z.string().max(10_000).nullable().optional(),
  definition: definitionIn().optional(),
  members: members.optional(),
  teams: teams.optional(),
  tags: tags.optional(),
  settings: Settings.optional(),
})
export type NewWorkflow = z.output<typeof NewWorkflow>

export const WorkflowPatch = z.strictObject({
  name: name().optional(),
  description: z.string().max(10_000).nullable().optional(),
  members: members.nullable().optional(),
  teams: teams.nullable().optional(),
  tags: tags.nullable().optional(),
  settings: SettingsPatch.nullable().optional(),
  owner_id: reference('usr').optional(),
})
export type WorkflowPatch = z.output<typeof WorkflowPatch>

const warnings = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .optional()
  .describe('Problems that were found when it was saved; absent if there are none')

export const Version = z
  .object({
    version_id: id('wfv'),
    workflow_id: id('wf'),
    number: z.number().int(),
    active: z.boolean(),
    definition: definition(),
    sha256: z.string(),
    note: z.string().nullable(),
    created_by: id('usr').nullable(),
    activated_by: id('usr').nullable().describe('Who activated it last: its runs act for them'),
    created_at: timestamp(),
  })
  .meta({ id: 'WorkflowVersion' })
export type Version = z.input<typeof Version>

/** The responses of operations that save a definition. */
export const WorkflowMade = Workflow.extend({ warnings }).meta({ id: 'WorkflowMade' })
export const VersionMade = Version.extend({ warnings }).meta({ id: 'WorkflowVersionMade' })
export type WorkflowMade = z.input<typeof WorkflowMade>
export type VersionMade = z.input<typeof VersionMade>

const Document = z
  .strictObject({
    heddle: z.string().max(40).optional().describe('Format of the document: workflow/1'),
    name: name(),
    description: z.string().max(10_000).nullable().optional(),
    settings: jsonObject().optional(),
    definition: jsonObject(),
  })
  .describe('A workflow that names what it uses: {"$name": "Shop API", "kind": "credential"} in the place of an id')

const NamedThing = z.object({
  path: z.string().describe('Its place in the document'),
  kind: z.enum(['credential', 'connection', 'dataset', 'knowledge', 'channel', 'workflow', 'person', 'team']),
  name: z.string().describe('Of a person the e-mail address, of a team the slug'),
})

export const Exported = z
  .object({
    workflow_id: id('wf'),
    version_id: id('wfv'),
    sha256: z.string().describe('The hash of the definition in this workspace, with ids instead of names'),
    document: Document,
    names: z.array(NamedThing),
    warnings,
  })
  .meta({ id: 'WorkflowExport' })
export type Exported = z.input<typeof Exported>

export const ImportRequest = z
  .strictObject({
    document: Document,
    workflow_id: reference('wf').optional().describe('Becomes a version of this one; a new workflow without it'),
    note: z.string().max(2000).nullable().optional(),
    activate: z.boolean().optional().describe('Of a later version; true unless given'),
    expected_version_id: reference('wfv').nullable().optional().describe('412 if another version is active'),
    dry_run: z.boolean().optional().describe('Checks and binds, and changes nothing'),
  })
  .meta({ id: 'WorkflowImportRequest' })
export type ImportRequest = z.output<typeof ImportRequest>

export const Imported = z
  .object({
    workflow_id: id('wf').nullable().describe('Null if a dry run would create it'),
    version_id: id('wfv').nullable().describe('Null if a dry run would create it'),
    created: z.boolean(),
    changed: z.boolean().describe('False if the workspace already had this definition'),
    bound: z.array(NamedThing.extend({ id: z.string() })),
    warnings,
  })
  .meta({ id: 'WorkflowImport' })
export type Imported = z.input<typeof Imported>

export const Transfer = z
  .object({
    workflow_id: id('wf'),
    workflow_name: z.string(),
    from_user_id: id('usr'),
    to_user_id: id('usr'),
    state: z.enum(['pending', 'accepted', 'declined']),
    created_at: timestamp(),
  })
  .meta({ id: 'WorkflowTransfer' })
export type Transfer = z.input<typeof Transfer>
export const NewTransfer = z.strictObject({ user_id: reference('usr') })

export const NewVersion = z.strictObject({
  definition: definitionIn(),
  note: z.string().max(2000).nullable().optional(),
  activate: z.boolean().optional(),
})
export type NewVersion = z.output<typeof NewVersion>

const Change = z.object({ path: z.string(), before: z.unknown().optional(), after: z.unknown().optional() })
export const VersionDiff = z.looseObject({ from: id('wfv'), to: id('wfv') }).meta({ id: 'WorkflowVersionDiff' })
export type Change = z.input<typeof Change>

const NodeEntry = z.object({
  type: z.string(),
  title: z.string(),
  description: z.string(),
  args_schema: jsonObject(),
  output_schema: jsonObject(),
  ports: z.array(z.string()),
  available: z.boolean(),
  unavailable_reason: z.string().nullable(),
})
export const Registry = z
  .looseObject({
    tools: z.array(NodeEntry.loose()),
    capabilities: z.array(NodeEntry.loose()),
    agents: z.array(NodeEntry.loose()),
  })
  .meta({ id: 'Registry' })
export const Palette = z
  .looseObject({ groups: z.array(z.looseObject({ title: z.string(), nodes: z.array(NodeEntry.loose()) })) })
  .meta({ id: 'Palette' })

export const DeleteWorkflows = z
  .strictObject({
    workflow_ids: idList('wf'),
    cancel_runs: z.boolean().default(false).describe('Cancel their live executions; without it those workflows stay'),
  })
  .meta({ id: 'DeleteWorkflows' })
export const WorkflowsDeleted = bulkAnswer('workflow_id', 'wf').meta({ id: 'WorkflowsDeleted' })

export const workflowList = defineList({
  id: 'workflow_id',
  search: ['name', 'description'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: '-created_at',
  filters: { owner_id: anyId('usr', 'Only workflows of this owner') },
})
export const workflowStates = ['live', 'paused', 'draft'] as const
export const workflowQuery = workflowList.query.extend({
  scope: z.enum(['own', 'workspace']).optional(),
  tag: z.string().min(1).max(50).optional().describe('Only workflows with this tag'),
  state: z
    .enum(workflowStates)
    .optional()
    .describe('`live`: it has an active version and is not paused. `draft`: it has no active version'),
  include: z.enum(['activity']).optional().describe('`activity`: last run, next time and what starts it'),
})

const UsedBy = <Key extends string>(key: Key, prefix: Parameters<typeof id>[0]) =>
  z.array(z.object({ [key]: id(prefix), name: z.string() } as Record<Key | 'name', z.ZodString>))

export const WorkflowUse = z
  .object({
    workflows: UsedBy('workflow_id', 'wf').describe('Whose active version calls it'),
    error_of: UsedBy('workflow_id', 'wf').describe('Which start it when a run of theirs fails'),
    jobs: UsedBy('job_id', 'job').describe('Jobs that run it for each record'),
    templates: UsedBy('template_id', 'tmpl').describe('Assistants that offer it'),
    suites: UsedBy('suite_id', 'suite').describe('Suites that test it'),
  })
  .meta({ id: 'WorkflowUse' })
export type WorkflowUse = z.input<typeof WorkflowUse>

export const versionList = defineList({
  id: 'number',
  idIs: 'number',
  search: ['note'],
  sort: { created_at: 'id' },
  order: '-created_at',
  filters: { active: flag('Only the active version, or only the others') },
})

export const transferList = defineList({
  id: 'workflow_id',
  search: ['workflow_name'],
  sort: { workflow_id: 'id', created_at: 'time', workflow_name: 'text' },
  order: '-workflow_id',
})
