import { SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { FIRST_ID, firstIdAt, LAST_ID } from '#platform/ids'
import { nextId, type Range } from './newest.ts'
import type { ExecutionSummary } from './schema.ts'

// A page of runs by the index of their words. Chunks of the index overlap, because runs do not end in the order in which they began: a row is
// given only once no chunk is left that could hold one before it.

/** Not in the index yet: runs that have just begun or ended are looked into. */
const RECENT = 15 * SECOND
const CHUNKS_AT_ONCE = 4
/** Chunks that a page looks into; each holds some 256 runs. */
const MAX_CHUNKS = 20
const MAX_FOUND = 2_000

type Chunk = { chunk_id: string; first_id: string; last_id: string }
type Found = { rows: ExecutionSummary[]; lookedUntil: string | null }

const max = (a: string, b: string): string => (a > b ? a : b)
const min = (a: string, b: string): string => (a < b ? a : b)

export type TermSearch = {
  workspaceId: string
  terms: number[]
  range: Range
  /** Looks into the runs of a range, without the index. */
  look(range: Range): Promise<Found>
  within(chunkIds: string[], from: string, to: string): Promise<(ExecutionSummary & { execution_id: string })[]>
}

export async function searchByTerms(tx: Tx, search: TermSearch, now = Date.now()): Promise<Found> {
  const { range, look } = search
  const oldestFirst = range.oldestFirst === true
  const { start } = await tx.row<{ start: string | null }>(
    'select (select first_id from run_terms where workspace_id = $1 order by first_id limit 1) as start',
    [search.workspaceId],
  )
  // What ended before there was an index, and what is not in it yet.
  const indexed = start ?? LAST_ID
  const recent = max(firstIdAt(now - RECENT), FIRST_ID)
  const older: Range = { ...range, to: min(range.to, indexed) }
  const newer: Range = { ...range, from: max(range.from, max(recent, indexed)) }
  const rows = new Map<string, ExecutionSummary>()
  const add = (more: ExecutionSummary[]): void => {
    for (const row of more) rows.set(row.execution_id, row)
  }
  const sorted = (): ExecutionSummary[] =>
    [...rows.values()].sort((a, b) => (a.execution_id < b.execution_id === oldestFirst ? -1 : 1))
  const isEmpty = ({ from, to }: Range): boolean => from >= to

  if (oldestFirst && !isEmpty(older)) {
    const before = await look(older)
    if (before.lookedUntil !== null || before.rows.length >= range.wanted) return before
    add(before.rows)
  }
  if (!isEmpty(newer)) add((await look(newer)).rows)
  const boundary = await readChunks(tx, search, { oldestFirst, add, rows })
  if (boundary !== null) {
    const certain = sorted().filter(({ execution_id: id }) => (oldestFirst ? id < boundary : id > boundary))
    return {
      rows: certain.slice(0, range.wanted),
      lookedUntil: certain.length >= range.wanted ? null : beyond(boundary, oldestFirst),
    }
  }
  if (!oldestFirst && rows.size < range.wanted && !isEmpty(older)) {
    const before = await look({ ...older, wanted: range.wanted - rows.size })
    add(before.rows)
    return { rows: sorted(), lookedUntil: before.lookedUntil }
  }
  return { rows: sorted().slice(0, range.wanted), lookedUntil: null }
}

/** The cursor after which the run of this id comes first. */
const beyond = (id: string, oldestFirst: boolean): string => (oldestFirst ? previousId(id) : nextId(id))

const previousId = (id: string): string => {
  const before = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0')
  return before.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Reads chunks until the page is full. Where it stops before the last one: the first id that another chunk could hold. */
async function readChunks(
  tx: Tx,
  { terms, range, within }: TermSearch,
  page: { oldestFirst: boolean; add(rows: ExecutionSummary[]): void; rows: ReadonlyMap<string, unknown> },
): Promise<string | null> {
  const { oldestFirst } = page
  const chunks = await tx.rows<Chunk>('select * from find_run_terms($1, $2, $3, $4, $5)', [
    terms,
    range.from,
    range.to,
    oldestFirst,
    MAX_FOUND + 1,
  ])
  const edgeAt = (at: number): string | null => {
    const next = chunks[at]
    return next ? (oldestFirst ? next.first_id : next.last_id) : null
  }
  const limit = Math.min(MAX_CHUNKS, MAX_FOUND)
  for (let at = 0; at < chunks.length; at += CHUNKS_AT_ONCE) {
    const edge = edgeAt(at)
    if (edge === null) return null
    if (at >= limit || certainly(page, edge) >= range.wanted) return edge
    const some = chunks.slice(at, at + CHUNKS_AT_ONCE)
    const from = some.reduce((least, { first_id }) => min(least, first_id), LAST_ID)
    const to = some.reduce((most, { last_id }) => max(most, last_id), FIRST_ID)
    page.add(
      await within(
        some.map(({ chunk_id }) => chunk_id),
        max(range.from, from),
        min(range.to, nextId(to)),
      ),
    )
  }
  return null
}

const certainly = (
  { rows, oldestFirst }: { rows: ReadonlyMap<string, unknown>; oldestFirst: boolean },
  edge: string,
): number => [...rows.keys()].filter((id) => (oldestFirst ? id < edge : id > edge)).length
