import { setTimeout as pause } from 'node:timers/promises'
import { MINUTE, SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { FIRST_ID, firstIdAt } from '#platform/ids'
import type { Logger } from '#platform/log'
import { idAt } from './block.ts'
import { addBlocks } from './block-store.ts'
import { blocksOf, closeOpen, type Ended } from './indexing.ts'
import { mergeSmallBlocks } from './merging.ts'
import { nextId } from './newest.ts'

// Compares executions with the index and adds the missing ones: those that a crashed process did not write, and those
// from before the index existed. Unfinished executions are recorded, indexed by their input, and checked again later.
// Every step can be repeated: an execution that is in two blocks is found once.

const EVERY = 30 * SECOND
const OPEN_EVERY = 10 * MINUTE
/** An execution with a younger id may not have been committed yet. */
const SETTLED = 60 * SECOND
/** An execution that ended later than this is still being written by the process that ended it. */
const WRITTEN = 15 * SECOND
const AT_ONCE = 2_000
/** The lease in seconds. A process that crashes during the comparison blocks others for at most this time. */
const LEASED_S = 300
const NOBODY = '00000000-0000-0000-0000-000000000000'
/** The period before the index existed that is compared in one step. */
const STRIDE = 7 * 24 * 60 * MINUTE

type Row = { workspace_id: string; execution_id: string; finished_at: Date | null }

export async function sweepRuns(db: Database, now = Date.now()): Promise<void> {
  const { covered_to } = (await db.maintain<{ covered_to: string }>('select covered_to from covered_runs()'))[0]!
  const until = firstIdAt(now - SETTLED)
  if (until <= covered_to) return
  await compare(db, covered_to, until, now)
  await db.maintain('select cover_runs($1, $1)', [until])
}

/** Compares one week before the covered period. Returns false if there is nothing earlier. */
export async function sweepBack(db: Database, now = Date.now()): Promise<boolean> {
  const { covered_from } = (await db.maintain<{ covered_from: string }>('select covered_from from covered_runs()'))[0]!
  if (covered_from === FIRST_ID) return false
  const newest = (await db.maintain<{ id: string | null }>('select newest_run_before($1) as id', [covered_from]))[0]!.id
  const from = newest === null ? FIRST_ID : firstIdAt(Math.max(0, timeOf(newest) - STRIDE))
  if (newest !== null) await compare(db, from, covered_from, now)
  await db.maintain('select cover_runs($1, $1)', [from])
  return newest !== null
}

const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

/** Indexes executions that were recorded as unfinished and have ended since. */
export async function sweepOpen(db: Database, now = Date.now()): Promise<void> {
  for (let found = AT_ONCE; found === AT_ONCE; ) {
    const rows = await db.maintain<{ workspace_id: string; execution_id: string }>(
      'select workspace_id, execution_id from ended_open_runs($1, $2)',
      [new Date(now - WRITTEN), AT_ONCE],
    )
    found = rows.length
    for (const [workspaceId, members] of byWorkspace(rows))
      await indexRuns(db, workspaceId, idsOf(members), (runs) => closeOpen(db, runs, now))
  }
}

/** Indexes unfinished executions by their input. */
export async function indexOpen(db: Database): Promise<void> {
  for (let found = AT_ONCE; found === AT_ONCE; ) {
    const rows = await db.maintain<{ workspace_id: string; execution_id: string }>(
      'select workspace_id, execution_id from open_runs_to_index($1)',
      [AT_ONCE],
    )
    found = rows.length
    for (const [workspaceId, members] of byWorkspace(rows)) {
      await indexRuns(db, workspaceId, idsOf(members), async () => {})
      await db.tenant({ workspaceId, userId: null }, (tx) =>
        tx.count('update run_index_open set indexed = true where workspace_id = $1 and execution_id = any ($2)', [
          workspaceId,
          idsOf(members),
        ]),
      )
    }
  }
}

const idsOf = (rows: readonly { execution_id: string }[]): string[] => rows.map(({ execution_id }) => execution_id)

async function compare(db: Database, from: string, to: string, now: number): Promise<void> {
  let after = { workspace_id: NOBODY, execution_id: FIRST_ID }
  for (let rows: Row[] = []; ; ) {
    rows = await db.maintain<Row>(
      'select workspace_id, execution_id, finished_at from runs_between($1, $2, $3, $4, $5)',
      [from, to, after.workspace_id, after.execution_id, AT_ONCE],
    )
    for (const [workspaceId, members] of byWorkspace(rows)) await compareOf(db, workspaceId, members, now)
    const last = rows.at(-1)
    if (last === undefined || rows.length < AT_ONCE) return
    after = last
  }
}

function byWorkspace<R extends { workspace_id: string }>(rows: readonly R[]): Map<string, R[]> {
  return Map.groupBy(rows, ({ workspace_id }) => workspace_id)
}

async function compareOf(db: Database, workspaceId: string, rows: readonly Row[], now: number): Promise<void> {
  const known = await db.tenant({ workspaceId, userId: null }, (tx) =>
    tx.rows<{ ids: Buffer }>('select ids from run_blocks where workspace_id = $1 and last_id >= $2 and first_id < $3', [
      workspaceId,
      rows[0]!.execution_id,
      nextId(rows.at(-1)!.execution_id),
    ]),
  )
  const indexed = new Set<string>()
  for (const { ids } of known) for (let at = 0; at < ids.length / 16; at += 1) indexed.add(idAt(ids, at))
  const missing = rows.filter(({ execution_id }) => !indexed.has(execution_id))
  if (missing.length === 0) return
  const isWritten = ({ finished_at }: Row): boolean => finished_at !== null && finished_at.getTime() < now - WRITTEN
  await indexRuns(db, workspaceId, idsOf(missing.filter(isWritten)), (runs) => closeOpen(db, runs, now))
  const open = idsOf(missing.filter((row) => !isWritten(row)))
  await db.tenant({ workspaceId, userId: null }, (tx) =>
    tx.count(
      `insert into run_index_open (workspace_id, execution_id) select $1, id from unnest($2::uuid[]) as id on conflict do nothing`,
      [workspaceId, open],
    ),
  )
}

const CONTENT = `select workspace_id as "workspaceId", execution_id as "executionId", workflow_id as "workflowId", version_id as "versionId",
    status, case when pg_column_size(input) <= 32768 then input end as input,
    case when pg_column_size(results) <= 32768 then results end as results, error
  from executions where workspace_id = $1 and execution_id = any ($2::uuid[]) and execution_id >= $3 and execution_id < $4`
// The query above omits values over 32 KiB, because the search does not read them either (content.ts).
const READ_AT_ONCE = 100

async function indexRuns(
  db: Database,
  workspaceId: string,
  ids: readonly string[],
  written: (runs: readonly Ended[]) => Promise<void>,
): Promise<void> {
  const sorted = ids.toSorted()
  const runs: Ended[] = []
  const write = async (): Promise<void> => {
    if (runs.length === 0) return
    await addBlocks(db, await blocksOf(runs))
    await written(runs)
    runs.length = 0
  }
  for (let at = 0; at < sorted.length; at += READ_AT_ONCE) {
    const some = sorted.slice(at, at + READ_AT_ONCE)
    const rows = await db.tenant({ workspaceId, userId: null }, (tx) =>
      tx.rows<Ended>(CONTENT, [workspaceId, some, some[0], nextId(some.at(-1)!)]),
    )
    runs.push(...rows)
    if (runs.length >= 1_000) await write()
  }
  await write()
  await mergeSmallBlocks(db, workspaceId)
}

/** Lets one process at a time compare. The other processes skip. */
async function alone(db: Database, work: () => Promise<unknown>): Promise<void> {
  const [leased] = await db.maintain<{ leased: boolean }>('select lease_run_sweep($1) as leased', [LEASED_S])
  if (!leased?.leased) return
  try {
    await work()
  } finally {
    await db.maintain('select lease_run_sweep(0)')
  }
}

export function startSweeping({ db, log }: { db: Database; log: Logger }) {
  const stopping = new AbortController()
  let openAt = 0
  const turn = async (): Promise<void> => {
    await sweepRuns(db)
    await indexOpen(db)
    if (Date.now() >= openAt) {
      await sweepOpen(db)
      openAt = Date.now() + OPEN_EVERY
    }
    while (!stopping.signal.aborted && (await sweepBack(db)));
  }
  const running = (async () => {
    for (;;) {
      await pause(EVERY, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
      if (stopping.signal.aborted) return
      await alone(db, turn).catch((error: unknown) =>
        log.warn({ err: error }, 'executions could not be compared with the index'),
      )
    }
  })()
  return {
    async stop(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}
