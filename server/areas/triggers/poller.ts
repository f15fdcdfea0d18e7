import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import { TRIGGER_HINTS } from './hook-store.ts'
import { serveHook } from './hooks.ts'
import { type PollParts, pollTrigger } from './poll.ts'
import type { HookParts } from './registering.ts'
import { removeHook } from './removals.ts'
import { type DueWork, listDueWork } from './store.ts'

// Processes the triggers that are due: polls services, registers at vendors, and starts executions for events. Each
// trigger is processed independently, so that a slow vendor delays nothing else. Every worker does this; one of them
// claims each trigger.

const POLL_EVERY = 2 * SECOND
/** The maximum number of concurrent tasks of each kind. */
const MAX_AT_ONCE = 64
const MAX_PER_WORKSPACE = 8
/** Limits one vendor, so that a vendor that does not answer leaves capacity for the other triggers of the workspace. */
const MAX_PER_SERVICE = 4

type Kind = { kind: 'polling' | 'webhook' | 'ending' | 'removal'; work(due: DueWork): Promise<void> }

export function makePoller({ log, ...parts }: PollParts & HookParts & { log: Logger }): Omit<PeriodicCheck, 'wake'> {
  const { db } = parts
  const stopping = new AbortController()
  const kinds: (Kind & { underWay: Map<DueWork, Promise<void>> })[] = [
    { kind: 'polling', work: (due) => pollTrigger(parts, triggerOf(due), stopping.signal), underWay: new Map() },
    { kind: 'webhook', work: (due) => serveHook(parts, triggerOf(due)), underWay: new Map() },
    { kind: 'ending', work: (due) => serveHook(parts, triggerOf(due)), underWay: new Map() },
    { kind: 'removal', work: (due) => removeHook(parts, removalOf(due)), underWay: new Map() },
  ]

  async function begin({ kind, work, underWay }: (typeof kinds)[number]): Promise<void> {
    const limit = MAX_AT_ONCE - underWay.size
    if (limit <= 0 || stopping.signal.aborted) return
    const shares = { limit, ofWorkspace: MAX_PER_WORKSPACE, ofService: MAX_PER_SERVICE }
    for (const due of await listDueWork(db, kind, shares, [...underWay.keys()])) {
      const over = work(due)
        .catch((error: unknown) => log.error({ err: error, due }, 'a trigger could not be polled'))
        .finally(() => {
          underWay.delete(due)
          looking.wake()
        })
      underWay.set(due, over)
    }
  }

  const looking = makePeriodicCheck({
    async check() {
      await Promise.all(kinds.map(begin))
      return POLL_EVERY
    },
    // Without notifications, the regular poll finds the work within seconds.
    listen: (wake) => db.listen(TRIGGER_HINTS, wake).catch(() => async () => {}),
    onError: (error) => log.warn({ err: error }, 'triggers could not be read'),
  })

  return {
    start: looking.start,
    /** Aborts polls, which another process repeats. Registrations and removals are finished. */
    async stop(): Promise<void> {
      stopping.abort()
      await looking.stop()
      await Promise.all(kinds.flatMap(({ underWay }) => [...underWay.values()]))
    },
  }
}

const triggerOf = ({ workspace_id, id }: DueWork) => ({ workspace_id, trigger_id: id })
const removalOf = ({ workspace_id, id }: DueWork) => ({ workspace_id, removal_id: id })
