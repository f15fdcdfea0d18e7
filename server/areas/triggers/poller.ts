import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { untilNextLook } from '#platform/looks'
import { TRIGGER_HINTS } from './hook-store.ts'
import { type HookParts, serveHook } from './hooks.ts'
import { type PollParts, pollTrigger } from './poll.ts'
import { removeHook } from './removals.ts'
import type { Due } from './starts.ts'

// Looks at the triggers that are due, some at once: asks services what is new, registers at vendors, and starts what vendors sent.
// Every worker does it; a trigger is taken by one of them.

const LOOK_EVERY = 2 * SECOND
const AT_ONCE = 8

type DueRemoval = { workspace_id: string; removal_id: string }

export function makePoller({ log, ...parts }: PollParts & HookParts & { log: Logger }) {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let listening: Promise<void> = Promise.resolve()
  let isLooking = false
  let again = false

  /** True where there may be more. */
  async function serve<D extends object>(due: string, work: (due: D) => Promise<void>): Promise<boolean> {
    const { rows } = await parts.db.appPool.query<D>(due, [AT_ONCE])
    await Promise.all(
      rows.map((one) =>
        work(one).catch((error: unknown) => {
          log.error({ err: error, due: one }, 'a trigger could not be looked at')
        }),
      ),
    )
    return rows.length === AT_ONCE
  }

  async function look(): Promise<void> {
    again = false
    const full = await Promise.all([
      serve<Due>('select * from due_service_triggers($1)', (due) => pollTrigger(parts, due)),
      serve<Due>('select * from due_webhook_triggers($1)', (due) => serveHook(parts, due)),
      serve<DueRemoval>('select * from due_trigger_removals($1)', (due) => removeHook(parts, due)),
    ])
    if (!stopped) timer = setTimeout(wake, again || full.includes(true) ? 0 : untilNextLook(LOOK_EVERY))
  }

  /** Something came; a look that is under way may have missed it. */
  function nudge(): void {
    if (isLooking) again = true
    else if (!stopped) wake()
  }

  function wake(): void {
    clearTimeout(timer)
    isLooking = true
    running = running
      .then(look)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'triggers could not be read')
        if (!stopped) timer = setTimeout(wake, LOOK_EVERY)
      })
      .finally(() => {
        isLooking = false
      })
  }

  let unlisten = async (): Promise<void> => {}

  return {
    start(): void {
      wake()
      // Where it cannot listen, what came is seen within seconds all the same.
      listening = parts.db.listen(TRIGGER_HINTS, nudge).then(
        (end) => {
          unlisten = end
        },
        () => undefined,
      )
    },
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await listening
      await unlisten()
      await running
    },
  }
}
