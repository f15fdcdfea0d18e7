import type { TriggerKind } from '#engine/ports'
import type { Database, Tx } from '#platform/db/pool'
import { invalid } from '#platform/errors'
import { firstIdAt } from '#platform/ids'
import { type Listing, nextId, type Range, rangeOf, readNewest } from './newest.ts'
import type { ExecutionSummary } from './schema.ts'
import type { Filter } from './search.ts'
import { searchByTerms } from './search-terms.ts'
import { summaryColumns } from './store.ts'
import { isOpen, OPEN, wantedTerms } from './terms.ts'

// Searches executions by their content. Labels (tags, metadata, error, failed node) have their own table in the order
// of time. Words, fields of the input and versions are found with the index of executions (indexing.ts, sweeping.ts).
// For all other conditions, the search reads the executions themselves, a few thousand for each page.

/** The maximum number of executions that a page reads. */
const MAX_LOOKED = 5_000
/** Values with a larger stored size are not searched. */
const MAX_LOOKED_BYTES = 32 * 1024
const MAX_CONDITIONS = 10

export type Content = {
  labels: string[]
  versionId: string | null
  q: string | null
  input: { path: string[]; value: string }[]
}

export const hasContent = ({ labels, versionId, q, input }: Content): boolean =>
  labels.length > 0 || versionId !== null || q !== null || input.length > 0

const FIELD = /^(input|metadata)\.(.{1,200})$/

/** Parses query parameters such as `input.order.id=7` and `metadata.customer=42`. */
export function fieldsOf(more: Record<string, unknown>): Pick<Content, 'labels' | 'input'> {
  const labels: string[] = []
  const input: Content['input'] = []
  for (const [name, value] of Object.entries(more)) {
    const [, kind, field] = FIELD.exec(name) ?? []
    if (kind === undefined || field === undefined)
      throw invalid([{ path: `/${name}`, message: 'is not a known parameter' }])
    if (kind === 'metadata') labels.push(`metadata:${field}=${value}`)
    else input.push({ path: field.split('.'), value: String(value) })
  }
  if (labels.length + input.length > MAX_CONDITIONS)
    throw invalid([{ path: '', message: `asks for more than ${MAX_CONDITIONS} fields` }])
  return { labels, input }
}

const MINE = `with mine as materialized (
    select w.workflow_id from workflows w
      where w.workspace_id = $1 and w.owner_id = $2 and w.deleted_at is null and ($7::uuid is null or w.workflow_id = $7)
    union select m.workflow_id from workflow_people m
      join workflows w on w.workspace_id = m.workspace_id and w.workflow_id = m.workflow_id and w.deleted_at is null
      where m.workspace_id = $1 and m.user_id = $2 and ($7::uuid is null or m.workflow_id = $7))`

const SEEN = `e.workspace_id = $1 and e.execution_id >= $3 and e.execution_id < $4 and e.created_at >= $5 and e.created_at < $6
  and (e.workflow_id in (select workflow_id from mine) or (e.started_by = $2 and ($7::uuid is null or e.workflow_id = $7)))
  and ($8::text is null or e.system_slug = $8) and ($10::text[] is null or e.trigger_kind = any ($10))
  and ($11::text[] is null or e.status = any ($11)) and ($12::uuid is null or e.version_id = $12)`

/** The text of a value, or null if its stored size is too large. */
const readable = (column: 'input' | 'results' | 'error'): string =>
  `case when pg_column_size(e.${column}) <= ${MAX_LOOKED_BYTES} then e.${column}::text end`

const HOLDS = `($13::text is null or strpos(lower(${readable('input')}), lower($13)) > 0 or strpos(lower(${readable('results')}), lower($13)) > 0
    or strpos(lower(${readable('error')}), lower($13)) > 0)
  and not exists (select from json_to_recordset($14::json) as f (path text[], value text) where coalesce(f.value <> case
    when pg_column_size(e.input) <= ${MAX_LOOKED_BYTES} and strpos(e.input::text, '\\u0000') = 0 then e.input #>> f.path end, true))
  and not exists (select from unnest($15::text[]) as w (label) where not exists (
    select from run_labels l where l.workspace_id = $1 and l.label = w.label and l.execution_id = e.execution_id))`

type Direction = 'asc' | 'desc'

const SHOWN = (direction: Direction): string => `
  select ${summaryColumns} from executions
  where workspace_id = $1 and execution_id = any (array(select execution_id from found)) and execution_id >= $3 and execution_id < $4
  order by execution_id ${direction} limit $9`

/**
 * Finds executions by the first label, in the order of that label's index. The other labels are checked for each row.
 */
const byLabel = (direction: Direction): string => `${MINE}, found as materialized (
    select e.execution_id from run_labels r join executions e on e.workspace_id = r.workspace_id and e.execution_id = r.execution_id
    where r.workspace_id = $1 and r.label = ($15::text[])[1] and r.execution_id >= $3 and r.execution_id < $4 and ${SEEN} and ${HOLDS}
    order by r.execution_id ${direction} limit $9) ${SHOWN(direction)}`

const byLooking = (direction: Direction): string => `${MINE}, found as materialized (
    select e.execution_id from executions e where ${SEEN} and ${HOLDS} order by e.execution_id ${direction} limit $9) ${SHOWN(direction)}`

/** Searches the newest executions that the person can see. */
const byNewest = (direction: Direction): string => `${MINE}, seen as materialized (
    select e.execution_id from executions e where ${SEEN} order by e.execution_id desc limit $16::integer),
  found as materialized (select e.execution_id from executions e where e.workspace_id = $1 and e.execution_id >= $3 and e.execution_id < $4
    and e.execution_id = any (array(select execution_id from seen)) and ${HOLDS} order by e.execution_id ${direction} limit $9) ${SHOWN(direction)}`

/** Searches the given executions, which the index returned. */
const byIds = (direction: Direction): string => `${MINE}, found as materialized (
    select e.execution_id from executions e where e.execution_id = any ($16::uuid[]) and ${SEEN} and ${HOLDS}
    order by e.execution_id ${direction} limit $9) ${SHOWN(direction)}`

/** The last execution that a page reads, even if the page is not full. */
const lastLooked = (direction: Direction): string => `${MINE}
  select e.execution_id from executions e where ${SEEN} and $9::integer > 0 and $13::text is not distinct from $13
    and $14::json is not null and $15::text[] is not null
  order by e.execution_id ${direction} offset ${MAX_LOOKED - 1} limit 1`

export type Found = { rows: ExecutionSummary[]; lookedUntil: string | null }

export async function searchByContent(
  tx: Tx,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  filter: Filter & { content: Content },
  listing: Listing,
): Promise<Found> {
  const { content } = filter
  const direction: Direction = listing.oldestFirst ? 'asc' : 'desc'
  const triggers: TriggerKind[] | null = filter.trigger
  const valuesIn = (from: string, to: string, wanted: number, status = filter.status): unknown[] => [
    workspaceId,
    userId,
    from,
    to,
    listing.from ?? '-infinity',
    listing.to ?? 'infinity',
    filter.workflowId,
    filter.systemSlug,
    wanted,
    triggers,
    status,
    content.versionId,
    content.q,
    JSON.stringify(content.input),
    content.labels,
  ]
  const range = rangeOf(listing)
  const look = (within: Range): Promise<Found> => lookInto(tx, within, direction, valuesIn)
  const terms = wantedTerms({ ...content, workflowId: filter.workflowId, status: filter.status })
  if (content.labels.length > 0) {
    const rows = await readNewest(range, (from, to, wanted) =>
      tx.rows<ExecutionSummary>(byLabel(direction), valuesIn(from, to, wanted)),
    )
    return { rows, lookedUntil: null }
  }
  if (terms.length === 0) return look(range)
  const among = (ids: readonly string[], from: string, to: string): Promise<ExecutionSummary[]> =>
    tx.rows<ExecutionSummary>(byIds(direction), [...valuesIn(from, to, ids.length), ids])
  const lookAtNewest = ({ from, to, wanted }: Range, most: number): Promise<ExecutionSummary[]> =>
    tx.rows<ExecutionSummary>(byNewest(direction), [...valuesIn(from, to, wanted), most])
  const open = filter.status?.filter(isOpen) ?? OPEN
  const lookAtOpen = async ({ from, to, wanted }: Range, most: number): Promise<ExecutionSummary[]> =>
    open.length === 0 ? [] : tx.rows<ExecutionSummary>(byNewest(direction), [...valuesIn(from, to, wanted, open), most])
  return searchByTerms(tx, { workspaceId, terms, range, look, lookAtNewest, lookAtOpen, among })
}

type Values = (from: string, to: string, wanted: number) => unknown[]

async function lookInto(tx: Tx, range: Range, direction: Direction, valuesIn: Values): Promise<Found> {
  const last = await tx.maybe<{ execution_id: string }>(
    lastLooked(direction),
    valuesIn(range.from, range.to, range.wanted),
  )
  const until = last?.execution_id ?? null
  const within = range.oldestFirst
    ? { ...range, to: until === null ? range.to : nextId(until) }
    : { ...range, from: until ?? range.from }
  const rows = await readNewest(within, (from, to, wanted) =>
    tx.rows<ExecutionSummary>(byLooking(direction), valuesIn(from, to, wanted)),
  )
  return { rows, lookedUntil: until }
}

/** Deletes labels of executions that are past their retention. */
export async function forgetRunLabels(
  db: Database,
  keptDays: number,
  now = Date.now(),
  atOnce = 10_000,
): Promise<void> {
  const before = firstIdAt(now - keptDays * 24 * 3600 * 1000)
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_run_labels($1, $2) as forgotten', [before, atOnce])
    )[0]!.forgotten
}
