import { MINUTE, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { FIRST_ID, firstIdAt, LAST_ID } from '#platform/ids'
import { listBlocks } from './block-store.ts'
import { BlockMerged, type Candidates, candidatesOf, MAX_BLOCKS } from './candidates.ts'
import { nextId, type Range } from './newest.ts'
import type { ExecutionSummary } from './schema.ts'

// Searches a page of executions with the index. The index returns the executions that may match, in the order of time.
// These candidates are read and checked until the page is full.

/** Executions younger than this may not be in the index yet, so the search reads them directly. */
const RECENT = 15 * SECOND
/** An unfinished execution of this age is in the index (sweeping.ts). */
const OPEN_INDEXED_AFTER = 3 * MINUTE
const MAX_RECENT = 1_000
/** The maximum number of executions that a page reads in total, and at once. */
const MAX_LOOKED = 5_000
const MAX_AT_ONCE = 1_000
/** The number of times a page is read if its blocks are merged in the meantime. */
const MAX_READS = 5

type Found = { rows: ExecutionSummary[]; lookedUntil: string | null }

const max = (a: string, b: string): string => (a > b ? a : b)
const min = (a: string, b: string): string => (a < b ? a : b)

export type TermSearch = {
  workspaceId: string
  terms: number[]
  range: Range
  /** Searches the executions of a range without the index. */
  look(range: Range): Promise<Found>
  /** As `look`, only among the newest executions. */
  lookAtNewest(range: Range, most: number): Promise<ExecutionSummary[]>
  /** As `look`, only among the executions that have not ended. */
  lookAtOpen(range: Range, most: number): Promise<ExecutionSummary[]>
  /** Returns those of the given executions that match, in the order of the page. */
  among(ids: readonly string[], from: string, to: string): Promise<ExecutionSummary[]>
}

export async function searchByTerms(tx: Tx, search: TermSearch, now = Date.now()): Promise<Found> {
  for (let reads = 1; ; reads += 1)
    try {
      return await searchOnce(tx, search, now)
    } catch (error) {
      if (!(error instanceof BlockMerged) || reads === MAX_READS) throw error
    }
}

async function searchOnce(tx: Tx, search: TermSearch, now: number): Promise<Found> {
  const { range, look } = search
  const oldestFirst = range.oldestFirst === true
  const listed = { from: range.from, to: range.to, oldestFirst, most: MAX_BLOCKS + 1 }
  const { coveredFrom: start, heads } = await listBlocks(tx, search.workspaceId, listed)
  const recent = max(firstIdAt(now - RECENT), FIRST_ID)
  const older: Range = { ...range, to: min(range.to, start) }
  const newer: Range = { ...range, from: max(range.from, max(recent, start)) }
  const opened = max(firstIdAt(now - OPEN_INDEXED_AFTER), FIRST_ID)
  const open: Range = { ...range, from: max(range.from, max(opened, start)), to: min(range.to, recent) }
  const indexed: Range = { ...range, from: max(range.from, start) }
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
  if (!isEmpty(newer)) add(await search.lookAtNewest(newer, MAX_RECENT))
  if (!isEmpty(open)) add(await search.lookAtOpen(open, MAX_RECENT))
  if (!isEmpty(indexed)) {
    const candidates = candidatesOf(tx, { ...search, range: indexed, oldestFirst, heads })
    const read = await readCandidates(search, candidates)
    add(read.rows)
    if (read.lookedUntil !== null) {
      const until = read.lookedUntil
      const certain = sorted().filter(({ execution_id: id }) => (oldestFirst ? id <= until : id >= until))
      return {
        rows: certain.slice(0, range.wanted),
        lookedUntil: certain.length >= range.wanted ? null : until,
      }
    }
  }
  if (!oldestFirst && rows.size < range.wanted && !isEmpty(older)) {
    const before = await look({ ...older, wanted: range.wanted - rows.size })
    add(before.rows)
    return { rows: sorted(), lookedUntil: before.lookedUntil }
  }
  return { rows: sorted().slice(0, range.wanted), lookedUntil: null }
}

/** Reads candidates until the page is full or the limit is reached. */
async function readCandidates(search: TermSearch, candidates: Candidates): Promise<Found> {
  const { wanted } = search.range
  const rows: ExecutionSummary[] = []
  let looked = 0
  for (let atOnce = wanted; ; atOnce = Math.min(MAX_AT_ONCE, atOnce * 2, MAX_LOOKED - looked)) {
    const ids = await candidates.next(atOnce)
    if (ids.length > 0) {
      const from = ids.reduce(min, LAST_ID)
      const to = nextId(ids.reduce(max, FIRST_ID))
      rows.push(...(await search.among(ids, from, to)))
    }
    looked += ids.length
    if (rows.length >= wanted || ids.length < atOnce) return { rows, lookedUntil: candidates.cutAt() }
    if (looked >= MAX_LOOKED) return { rows, lookedUntil: ids.at(-1)! }
  }
}
