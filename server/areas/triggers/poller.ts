import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { type Looking, makeLooking } from '#platform/looks'
import { TRIGGER_HINTS } from './hook-store.ts'
import { serveHook } from './hooks.ts'
import { type PollParts, pollTrigger } from './poll.ts'
import type { HookParts } from './registering.ts'
import { removeHook } from './removals.ts'
import type { Due } from './starts.ts'

// Looks at the triggers that are due, some at once: asks services what is new, registers at vendors, and starts what vendors sent.
// Every worker does it; a trigger is taken by one of them.

const LOOK_EVERY = 2 * SECOND
const AT_ONCE = 8

type DueRemoval = { workspace_id: string; removal_id: string }

export function makePoller({ log, ...parts }: PollParts & HookParts & { log: Logger }): Omit<Looking, 'wake'> {
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

  async function look(): Promise<number> {
    const full = await Promise.all([
      serve<Due>('select * from due_service_triggers($1)', (due) => pollTrigger(parts, due)),
      serve<Due>('select * from due_webhook_triggers($1)', (due) => serveHook(parts, due)),
      serve<DueRemoval>('select * from due_trigger_removals($1)', (due) => removeHook(parts, due)),
    ])
    return full.includes(true) ? 0 : LOOK_EVERY
  }

  return makeLooking({
    look,
    // Where it cannot listen, what came is seen within seconds all the same.
    listen: (wake) => parts.db.listen(TRIGGER_HINTS, wake).catch(() => async () => {}),
    onError: (error) => log.warn({ err: error }, 'triggers could not be read'),
  })
}
