import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { untilNextLook } from '#platform/looks'
import { type Due, type PollParts, pollTrigger } from './poll.ts'

// Looks at the triggers that are due, some at once. Every worker does it; a trigger is taken by one of them.

const LOOK_EVERY = 2 * SECOND
const AT_ONCE = 8

export function makePoller({ log, ...parts }: PollParts & { log: Logger }) {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let running: Promise<void> = Promise.resolve()

  async function look(): Promise<void> {
    const { rows } = await parts.db.appPool.query<Due>('select * from due_service_triggers($1)', [AT_ONCE])
    await Promise.all(
      rows.map((due) =>
        pollTrigger(parts, due).catch((error: unknown) => {
          log.error({ err: error, trigger_id: due.trigger_id }, 'a trigger could not be looked at')
        }),
      ),
    )
    if (!stopped) timer = setTimeout(wake, rows.length === AT_ONCE ? 0 : untilNextLook(LOOK_EVERY))
  }

  function wake(): void {
    clearTimeout(timer)
    running = running.then(look).catch((error: unknown) => {
      log.warn({ err: error }, 'triggers could not be read')
      if (!stopped) timer = setTimeout(wake, LOOK_EVERY)
    })
  }

  return {
    start: wake,
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
