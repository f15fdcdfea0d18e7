import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { type Looking, makeLooking } from '#platform/looks'
import { TRIGGER_HINTS } from './hook-store.ts'
import { serveHook } from './hooks.ts'
import { type PollParts, pollTrigger } from './poll.ts'
import type { HookParts } from './registering.ts'
import { removeHook } from './removals.ts'
import { type DueWork, listDueWork } from './store.ts'

// Works on the triggers that are due: asks services what is new, registers at vendors, and starts what vendors sent. Each trigger is worked on
// by itself, so that a vendor that takes its time keeps nothing else waiting. Every worker does it; a trigger is taken by one of them.

const LOOK_EVERY = 2 * SECOND
/** Of each kind. */
const MAX_AT_ONCE = 64
const MAX_PER_WORKSPACE = 8
/** One vendor that does not answer leaves room for the other triggers of the workspace. */
const MAX_PER_SERVICE = 4

type Kind = { kind: 'polling' | 'webhook' | 'ending' | 'removal'; work(due: DueWork): Promise<void> }

export function makePoller({ log, ...parts }: PollParts & HookParts & { log: Logger }): Omit<Looking, 'wake'> {
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
        .catch((error: unknown) => log.error({ err: error, due }, 'a trigger could not be looked at'))
        .finally(() => {
          underWay.delete(due)
          looking.wake()
        })
      underWay.set(due, over)
    }
  }

  const looking = makeLooking({
    async look() {
      await Promise.all(kinds.map(begin))
      return LOOK_EVERY
    },
    // Where it cannot listen, what came is seen within seconds all the same.
    listen: (wake) => db.listen(TRIGGER_HINTS, wake).catch(() => async () => {}),
    onError: (error) => log.warn({ err: error }, 'triggers could not be read'),
  })

  return {
    start: looking.start,
    /** Services that are being asked what is new are asked again by another process. What vendors are told is told to the end. */
    async stop(): Promise<void> {
      stopping.abort()
      await looking.stop()
      await Promise.all(kinds.flatMap(({ underWay }) => [...underWay.values()]))
    },
  }
}

const triggerOf = ({ workspace_id, id }: DueWork) => ({ workspace_id, trigger_id: id })
const removalOf = ({ workspace_id, id }: DueWork) => ({ workspace_id, removal_id: id })
