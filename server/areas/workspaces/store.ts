import type { Tx } from '#platform/db/pool'
import type { WorkspaceRole } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { type AuditEntry, auditList, type Workspace, workspaceList } from './schema.ts'

const columns = `w.workspace_id, w.company_id, w.name, m.role,
  jsonb_build_object('require_second_factor', w.require_second_factor) as settings, w.created_at, w.updated_at`

export const findWorkspace = (tx: Tx, workspaceId: string, userId: string): Promise<Workspace | undefined> =>
  tx.maybe<Workspace>(
    `select ${columns} from workspaces w join memberships m using (workspace_id) where w.workspace_id = $1 and m.user_id = $2`,
    [workspaceId, userId],
  )

export const listWorkspaces = (tx: Tx, userId: string, asked: ListInput) =>
  readList<Workspace>(tx, workspaceList, asked, {
    sql: `select ${columns} from memberships m join workspaces w using (workspace_id) where m.user_id = $1`,
    values: [userId],
  })

export const insertCompany = (
  tx: Tx,
  company: { companyId: string; orgId: string; userId: string; name: string },
): Promise<number> =>
  tx.count('insert into companies (company_id, org_id, owner_id, name) values ($1, $2, $3, $4)', [
    company.companyId,
    company.orgId,
    company.userId,
    company.name,
  ])

export const insertWorkspace = (
  tx: Tx,
  workspaceId: string,
  workspace: { companyId: string; orgId: string; name: string },
): Promise<number> =>
  tx.count('insert into workspaces (workspace_id, company_id, org_id, name) values ($1, $2, $3, $4)', [
    workspaceId,
    workspace.companyId,
    workspace.orgId,
    workspace.name,
  ])

export const insertOwner = (tx: Tx, workspaceId: string, userId: string): Promise<number> =>
  tx.count(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'owner')`, [workspaceId, userId])

export const updateWorkspace = (
  tx: Tx,
  workspaceId: string,
  patch: { name?: string | undefined; company_id?: string | undefined; require_second_factor?: boolean | undefined },
): Promise<number> =>
  tx.count(
    `update workspaces set name = coalesce($2, name), company_id = coalesce($3::uuid, company_id),
       require_second_factor = coalesce($4, require_second_factor), updated_at = now()
     where workspace_id = $1`,
    [workspaceId, patch.name ?? null, patch.company_id ?? null, patch.require_second_factor ?? null],
  )

export const deleteWorkspace = (tx: Tx, workspaceId: string): Promise<number> =>
  tx.count('delete from workspaces where workspace_id = $1', [workspaceId])

export const selectWorkspace = (tx: Tx, workspaceId: string, sessionId: string): Promise<number> =>
  tx.count('update sessions set selected_workspace_id = $1 where session_id = $2', [workspaceId, sessionId])

export const findRole = async (tx: Tx, workspaceId: string, userId: string): Promise<WorkspaceRole | undefined> =>
  (
    await tx.maybe<{ role: WorkspaceRole }>('select role from memberships where workspace_id = $1 and user_id = $2', [
      workspaceId,
      userId,
    ])
  )?.role

export const isFactorSatisfied = async (tx: Tx, workspaceId: string): Promise<boolean> =>
  (await tx.row<{ satisfied: boolean }>('select factor_satisfied($1) as satisfied', [workspaceId])).satisfied

export const hasSecondFactor = async (tx: Tx, userId: string): Promise<boolean> =>
  (await tx.row<{ has: boolean }>('select has_second_factor($1) as has', [userId])).has

/** Checks whether the person is an owner or a member of any workspace. */
export const worksSomewhere = async (tx: Tx, userId: string): Promise<boolean> =>
  (await tx.count(`select from memberships where user_id = $1 and role in ('owner', 'member') limit 1`, [userId])) > 0

const auditColumns = 'entry_id, workspace_id, actor_id, actor_kind, action, subject, data, address, at'

export type AuditFilter = {
  action?: string | undefined
  actor_id?: string | undefined
  subject?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

const auditWhere = `($1::text is null or action = $1 or (right($1, 2) = '.*' and starts_with(action, left($1, -1))))
  and ($2::uuid is null or actor_id = $2) and ($3::text is null or subject = $3)
  and ($4::timestamptz is null or at >= $4) and ($5::timestamptz is null or at < $5)`

/** Names for operators, who cannot look up people and workspaces of other tenants. */
const auditNames = `, (select u.name from users u where u.user_id = a.actor_id) as actor_name,
  (select w.name from workspaces w where w.workspace_id = a.workspace_id) as workspace_name`

/** Lists the log of one workspace, or of all if `workspaceId` is null. */
export const listAudit = (tx: Tx, workspaceId: string | null, filter: AuditFilter, asked: ListInput) =>
  readList<AuditEntry>(tx, auditList, asked, {
    sql: `select ${auditColumns}${workspaceId === null ? auditNames : ''} from audit_log a where ${workspaceId === null ? '' : 'workspace_id = $6 and'} ${auditWhere}`,
    values: [
      filter.action ?? null,
      filter.actor_id ?? null,
      filter.subject ?? null,
      filter.from ?? null,
      filter.to ?? null,
      ...(workspaceId === null ? [] : [workspaceId]),
    ],
  })
