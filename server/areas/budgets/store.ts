import type { Tx } from '#platform/db/pool'
import type { Period, ScopeKind } from './schema.ts'

export type BudgetRow = {
  scope_kind: ScopeKind
  scope_id: string | null
  per: Period
  amount: number
  hard: boolean
  spent: number
  /** The first day of the current period. */
  period: string
  resets_at: Date
  name: string | null
}

/** The workflow, person and credential to which a call is counted. */
export type Spender = { workflowId: string | null; personId: string | null; credentialId: string | null }

const PERIOD = `date_trunc(b.per, now() at time zone 'utc')`
const COLUMNS = `b.scope_kind, b.scope_id, b.per, b.amount::double precision as amount, b.hard, to_char(${PERIOD}, 'YYYY-MM-DD') as period,
  (${PERIOD} + ('1 ' || b.per)::interval) at time zone 'utc' as resets_at,
  coalesce((select sum(d.cost) from usage_days d where d.workspace_id = b.workspace_id and d.day >= ${PERIOD}::date
    and case b.scope_kind when 'workflow' then d.workflow_id = b.scope_id when 'person' then d.person_id = b.scope_id
      when 'credential' then d.credential_id = b.scope_id else true end), 0)::double precision as spent,
  case b.scope_kind
    when 'workflow' then (select w.name from workflows w where w.workspace_id = b.workspace_id and w.workflow_id = b.scope_id)
    when 'person' then (select u.name from users u where u.user_id = b.scope_id)
    when 'credential' then (select c.name from credentials c where c.workspace_id = b.workspace_id and c.credential_id = b.scope_id) end as name`

export const listBudgets = (tx: Tx, workspaceId: string): Promise<BudgetRow[]> =>
  tx.rows<BudgetRow>(
    `select ${COLUMNS} from budgets b where b.workspace_id = $1 order by b.scope_kind, b.scope_id, b.per`,
    [workspaceId],
  )

/**
 * Returns the budgets that apply to a call. `$5` is an execution, which determines the workflow and the person who
 * started it.
 */
export const budgetsOf = (
  tx: Tx,
  workspaceId: string,
  { workflowId, personId, credentialId }: Spender,
  executionId: string | null,
): Promise<BudgetRow[]> =>
  tx.rows<BudgetRow>(
    `with spender as (select coalesce(e.workflow_id, $2::uuid) as workflow_id, coalesce(e.started_by, $3::uuid) as person_id
       from (select 1) as one left join executions e on e.workspace_id = $1 and e.execution_id = $5)
     select ${COLUMNS} from budgets b, spender s where b.workspace_id = $1 and (b.scope_kind = 'workspace'
       or (b.scope_kind = 'workflow' and b.scope_id = s.workflow_id) or (b.scope_kind = 'person' and b.scope_id = s.person_id)
       or (b.scope_kind = 'credential' and b.scope_id = $4::uuid))`,
    [workspaceId, workflowId, personId, credentialId, executionId],
  )

export type NewBudget = Pick<BudgetRow, 'scope_kind' | 'scope_id' | 'per' | 'amount' | 'hard'>

/** Replaces all budgets. A budget whose limit is raised notifies again when it is reached. */
export async function replaceBudgets(tx: Tx, workspaceId: string, budgets: NewBudget[]): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('budgets ' || $1, 0))`, [workspaceId])
  const columns = [
    budgets.map(({ scope_kind }) => scope_kind),
    budgets.map(({ scope_id }) => scope_id),
    budgets.map(({ per }) => per),
  ]
  await tx.count(
    `delete from budgets b where b.workspace_id = $1 and not exists (
       select from unnest($2::text[], $3::uuid[], $4::text[]) as n (scope_kind, scope_id, per)
       where n.scope_kind = b.scope_kind and n.scope_id is not distinct from b.scope_id and n.per = b.per)`,
    [workspaceId, ...columns],
  )
  await tx.count(
    `insert into budgets as b (workspace_id, scope_kind, scope_id, per, amount, hard)
     select $1, n.* from unnest($2::text[], $3::uuid[], $4::text[], $5::numeric[], $6::boolean[]) as n
     on conflict (workspace_id, scope_kind, scope_id, per) do update set amount = excluded.amount, hard = excluded.hard, updated_at = now(),
       warned_on = case when b.amount = excluded.amount then b.warned_on end,
       exceeded_on = case when b.amount = excluded.amount then b.exceeded_on end`,
    [workspaceId, ...columns, budgets.map(({ amount }) => amount), budgets.map(({ hard }) => hard)],
  )
}

/** Returns true for the one transaction that must send this notification in this period. */
export const markNotified = async (
  tx: Tx,
  workspaceId: string,
  { scope_kind, scope_id, per, period }: BudgetRow,
  level: 'warning' | 'exceeded',
): Promise<boolean> => {
  // After the notification that the budget is exceeded, no warning is needed.
  const set = level === 'exceeded' ? 'exceeded_on = $5::date, warned_on = $5::date' : 'warned_on = $5::date'
  const column = level === 'exceeded' ? 'exceeded_on' : 'warned_on'
  const marked = await tx.count(
    `update budgets set ${set} where workspace_id = $1 and scope_kind = $2 and scope_id is not distinct from $3::uuid and per = $4
       and ${column} is distinct from $5::date`,
    [workspaceId, scope_kind, scope_id, per, period],
  )
  return marked > 0
}

export const listOwners = async (tx: Tx, workspaceId: string): Promise<string[]> =>
  (
    await tx.rows<{ user_id: string }>(`select user_id from memberships where workspace_id = $1 and role = 'owner'`, [
      workspaceId,
    ])
  ).map(({ user_id }) => user_id)

/** Checks whether the workspace has this workflow, person or credential. */
export const hasScope = async (tx: Tx, workspaceId: string, kind: ScopeKind, id: string): Promise<boolean> => {
  const { found } = await tx.row<{ found: boolean }>(
    `select case $2 when 'workspace' then true
       when 'workflow' then exists (select from workflows where workspace_id = $1 and workflow_id = $3 and deleted_at is null)
       when 'person' then exists (select from memberships where workspace_id = $1 and user_id = $3)
       else exists (select from credentials where workspace_id = $1 and credential_id = $3) end as found`,
    [workspaceId, kind, id],
  )
  return found
}
