import type { LoadDefinition } from '#engine/definitions'
import { platformFault } from '#engine/platform-fault'
import { readPast } from '#engine/replaying/read'
import { type ReplayDeps, replayOne } from '#engine/replaying/replay'
import type { Definition, Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import * as store from './store.ts'

// Runs replays in slices. The next slice belongs to the workspace that has waited longest, and is written in one
// transaction. A process that dies during a slice has written nothing of it; another process repeats the slice after
// the lease expires.

const SLICE_RUNS = 50
/** A slice ends early after this time. */
const SLICE_MS = 500
const LEASE_S = 120
const POLL_EVERY = SECOND

export type RunnerOptions = Omit<ReplayDeps, 'workspaceId'> & { db: Database; log: Logger }

export function makeReplayRunner(options: RunnerOptions): PeriodicCheck {
  const { db, log } = options
  let isStopped = false

  const check = async (): Promise<number> => {
    while (!isStopped) {
      const claimed = await store.claimReplay(db, LEASE_S)
      if (!claimed) break
      await driveSlice(options, claimed, () => isStopped)
    }
    return POLL_EVERY
  }

  const periodicCheck = makePeriodicCheck({
    check,
    onError: (error) => log.warn({ err: error }, 'replays could not be continued; trying again in a second'),
  })
  return {
    ...periodicCheck,
    async stop() {
      isStopped = true
      await periodicCheck.stop()
    },
  }
}

export async function driveSlice(
  options: RunnerOptions,
  claimed: store.Claimed,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const { db, log } = options
  const { workspace_id: workspaceId } = claimed
  const scope = { workspaceId, userId: null }
  try {
    const slice = await db.tenant(scope, (tx) => store.findSlice(tx, claimed, SLICE_RUNS))
    if (!slice) return
    const candidate = await loadCandidate(options.loadDefinition, workspaceId, slice.version_id)
    if (!candidate) {
      const error = { code: 'version_gone', message: 'The version is no longer there.' }
      await db.tenant(scope, (tx) => store.failReplay(tx, claimed, error))
      return
    }
    const judged = await judgeSlice(options, workspaceId, candidate, { ...slice, isStopped })
    await db.tenant(scope, (tx) => store.writeSlice(tx, claimed, judged))
  } catch (error) {
    if (platformFault(error, 'engine')) {
      // Nothing of the slice was written, so it is repeated. If this fails too, it is repeated after the lease.
      await db.tenant(scope, (tx) => store.releaseReplay(tx, claimed)).catch(() => {})
      throw error
    }
    log.error({ err: error, replay_id: claimed.replay_id }, 'a replay failed')
    const message = 'The replay failed because of an internal error. Start it again.'
    await db.tenant(scope, (tx) => store.failReplay(tx, claimed, { code: 'internal', message }))
  }
}

const loadCandidate = (load: LoadDefinition, workspaceId: string, versionId: string): Promise<Definition | undefined> =>
  load(workspaceId, `version:${versionId}`).catch((error: unknown) => {
    if (platformFault(error, 'engine')) throw error
    return undefined
  })

async function judgeSlice(
  options: RunnerOptions,
  workspaceId: string,
  candidate: Definition,
  { ids, done, isStopped }: { ids: string[]; done: number; isStopped: () => boolean },
): Promise<store.Judged[]> {
  const deps: ReplayDeps = { ...options, workspaceId }
  const past = await options.db.tenant({ workspaceId, userId: null }, (tx) => readPast(tx, workspaceId, ids))
  const judged: store.Judged[] = []
  const until = options.now() + SLICE_MS
  for (const [at, execution_id] of ids.entries()) {
    if (judged.length > 0 && (options.now() > until || isStopped())) break
    await options.turns.next(workspaceId)
    const { difference, ...replayed } = await replayOne(deps, execution_id, past.get(execution_id), candidate)
    judged.push({ ...replayed, difference: difference as unknown as Json, position: done + at, execution_id })
  }
  return judged
}
