import { SECOND } from '#platform/clock'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import { type MessageDependencies, sendMessage, takeMessages } from './messages.ts'
import { checkRule, findDueRules } from './watch.ts'

const POLL_EVERY = 2 * SECOND
const AT_ONCE = 50

/** Checks the rules that are due and sends their messages. Several processes may do this at the same time. */
export function makeAlertWatcher(deps: MessageDependencies): Omit<PeriodicCheck, 'wake'> {
  const { db, log } = deps
  let isStopped = false

  /** A failure does not stop the rest. The failed rule or message stays due. */
  const each = async <T>(what: string, all: T[], work: (one: T) => Promise<unknown>): Promise<void> => {
    for (const one of all) {
      if (isStopped) return
      await work(one).catch((error: unknown) => log.warn({ err: error }, `${what} failed and is tried again`))
    }
  }

  const check = async (): Promise<number> => {
    await each('an alert rule', await findDueRules(db, AT_ONCE), ({ workspace_id, rule_id }) =>
      checkRule(db, workspace_id, rule_id),
    )
    await each('a message of an alert', await takeMessages(db, AT_ONCE), (taken) => sendMessage(deps, taken))
    return POLL_EVERY
  }

  const { start, stop } = makePeriodicCheck({
    check,
    onError: (error) => log.debug({ err: error }, 'alerts could not be checked; trying again'),
  })
  return {
    start,
    async stop() {
      isStopped = true
      await stop()
    },
  }
}
