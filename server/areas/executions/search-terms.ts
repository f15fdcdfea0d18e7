import { MINUTE, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { FIRST_ID, firstIdAt, LAST_ID } from '#platform/ids'
import { listBlocks } from './block-store.ts'
import { BlockGone, type Candidates, candidatesOf, MAX_BLOCKS } from './candidates.ts'
import { nextId, type Range } from './newest.ts'
import type { ExecutionSummary } from './schema.ts'

// A page of runs by the index of their words: the index names the runs that may hold what is wanted, in the order of time, and they are
// looked into until the page is full.

/** Not in the index yet: runs that have just begun or ended are looked into. */
const RECENT = 15 * SECOND
/** A run that is still at work is in the index by then (sweeping.ts). */
const OPEN_INDEXED_AFTER = 3 * MINUTE
const MAX_RECENT = 1_000
/** Runs that a page looks into, and how many of them at once at most. */
const MAX_LOOKED = 5_000
const MAX_AT_ONCE = 1_000
/** How often a page is read again because its blocks were merged meanwhile. */
const MAX_READS = 5

type Found = { rows: ExecutionSummary[]; lookedUntil: string | null }

const max = (a: string, b: string): string => (a > b ? a : b)
const min = (a: string, b: string): string => (a < b ? a : b)

export type TermSearch = {
  workspaceId: string
  terms: number[]
  range: Range
  /** Looks into the runs of a range, without the index. */
  look(range: Range): Promise<Found>
  /** The same, of the newest ones only. */
  lookAtNewest(range: Range, most: number): Promise<ExecutionSummary[]>
  /** The same, of those that have not ended. */
  lookAtOpen(range: Range, most: number): Promise<ExecutionSummary[]>
  /** Those of these runs, in the order of the page, that are found. */
  among(ids: readonly string[], from: string, to: string): Promise<ExecutionSummary[]>
}

export async function searchByTerms(tx: Tx, search: TermSearch, now = Date.now()): Promise<Found> {
  for (let reads = 1; ; reads += 1)
    try {
      return await searchOnce(tx, search, now)
    } catch (error) {
      if (!(error instanceof BlockGone) || reads === MAX_READS) throw error
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

/** Looks into candidates until the page is full, or until it has looked into enough of them. */
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
