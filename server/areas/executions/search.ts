import type { TriggerKind } from '#engine/ports'
import type { Tx } from '#platform/db/pool'
import { type Listing, rangeOf, readNewest, rowsInOrder } from './newest.ts'
import type { ExecutionSummary } from './schema.ts'
import { summaryColumns } from './store.ts'

// Searches the executions that a person can see: those of existing workflows that the person owns or is a member of,
// and those that the person started. Each of these sets, and each requested status, is read newest first through its
// own index, for at most one page. Reading all executions of the workspace instead took a million rows for a person who
// can see ten.

export type Filter = {
  workflowId: string | null
  systemSlug: string | null
  status: string[] | null
  /** The kinds of triggers that started the executions. */
  trigger: TriggerKind[] | null
}

/** Without jobs. A job starts an execution for each record, which would hide all others. */
export const NOT_JOBS: TriggerKind[] = [
  'user',
  'webhook',
  'embed',
  'schedule',
  'channel',
  'workflow',
  'event',
  'system',
]
/** Trials are excluded unless they are requested. */
export const NOT_TRIALS: TriggerKind[] = [...NOT_JOBS, 'job']

/**
 * The status is part of the SQL text, so that the partial indexes of one status can be used. A status is a word of the
 * schema.
 */
const statusIs = (status: string | null): string => {
  if (status === null) return ''
  if (!/^[a-z_]+$/.test(status)) throw new Error('a status is a word')
  return `and e.status = '${status}'`
}

/**
 * Jobs start many more executions than all other triggers, so there are separate indexes for jobs and for the others.
 */
type Whose = 'any' | 'of jobs' | 'not of jobs'
const isWhose: Record<Whose, string> = {
  any: '',
  'of jobs': "and e.trigger_kind = 'job' and ($10::text[] is null or 'job' = any ($10))",
  'not of jobs': "and e.trigger_kind <> 'job' and ($10::text[] is null or e.trigger_kind = any ($10))",
}

/** Executions with these statuses have an index of their own, with those of jobs. */
const OWN_INDEX = new Set(['queued', 'running', 'waiting', 'failed', 'cancelled', 'timed_out'])

type Direction = 'asc' | 'desc'

const ofMyWorkflows = (status: string | null, whose: Whose, direction: Direction): string => `
  (select e.execution_id from mine cross join lateral (
      select e.execution_id from executions e where e.workspace_id = $1 and e.workflow_id = mine.workflow_id
        and e.execution_id >= $3 and e.execution_id < $4 and e.created_at >= $5 and e.created_at < $6
        ${statusIs(status)} ${isWhose[whose]}
      order by e.execution_id ${direction} limit $9) as e
    where $8::text is null order by e.execution_id ${direction} limit $9)`

const startedByMe = (status: string | null, whose: Whose, direction: Direction): string => `
  (select e.execution_id from executions e where e.workspace_id = $1 and e.started_by = $2
      and e.execution_id >= $3 and e.execution_id < $4 and e.created_at >= $5 and e.created_at < $6
      ${statusIs(status)} ${isWhose[whose]}
      and ($7::uuid is null or e.workflow_id = $7) and ($8::text is null or e.system_slug = $8)
    order by e.execution_id ${direction} limit $9)`

const foundWith = (status: string | null, triggers: readonly TriggerKind[] | null, direction: Direction): string[] => {
  const jobs = triggers === null || triggers.includes('job')
  const others = triggers === null || triggers.some((kind) => kind !== 'job')
  const kinds: Whose[] = [...(jobs ? (['of jobs'] as const) : []), ...(others ? (['not of jobs'] as const) : [])]
  const isOne = kinds.length === 0 || (triggers === null && status !== null && OWN_INDEX.has(status))
  const ofWorkflows: Whose[] = isOne ? ['any'] : kinds
  return [
    ...ofWorkflows.map((whose) => ofMyWorkflows(status, whose, direction)),
    ...kinds.map((whose) => startedByMe(status, whose, direction)),
  ]
}

const textFor = (
  statuses: readonly (string | null)[],
  triggers: readonly TriggerKind[] | null,
  direction: Direction,
): string => `
  with mine as materialized (
    select w.workflow_id from workflows w
      where w.workspace_id = $1 and w.owner_id = $2 and w.deleted_at is null and ($7::uuid is null or w.workflow_id = $7)
    union select m.workflow_id from workflow_people m
      join workflows w on w.workspace_id = m.workspace_id and w.workflow_id = m.workflow_id and w.deleted_at is null
      where m.workspace_id = $1 and m.user_id = $2 and ($7::uuid is null or m.workflow_id = $7)),
  found as materialized (
    select distinct f.execution_id from (${statuses.flatMap((status) => foundWith(status, triggers, direction)).join('\n  union all')}) as f
    order by f.execution_id ${direction} limit $9)
  select ${summaryColumns} from executions
  where workspace_id = $1 and execution_id = any (array(select execution_id from found)) and execution_id >= $3 and execution_id < $4
  order by execution_id ${direction} limit $9`

export const searchExecutions = (
  tx: Tx,
  workspaceId: string,
  userId: string,
  filter: Filter,
  listing: Listing,
): Promise<ExecutionSummary[]> => {
  const statuses = filter.status ? [...new Set(filter.status)].sort() : [null]
  const text = textFor(statuses, filter.trigger, listing.oldestFirst ? 'asc' : 'desc')
  // Few executions are queued or running at a time. Their indexes have another order, so the result is sorted.
  const areFew = statuses.some((status) => status === 'queued' || status === 'running')
  const read = (values: unknown[]): Promise<ExecutionSummary[]> =>
    areFew ? tx.rows(text, values) : rowsInOrder(tx, text, values)
  return readNewest(rangeOf(listing), (from, to, wanted) =>
    read([
      workspaceId,
      userId,
      from,
      to,
      listing.from ?? '-infinity',
      listing.to ?? 'infinity',
      filter.workflowId,
      filter.systemSlug,
      wanted,
      filter.trigger,
    ]),
  )
}
