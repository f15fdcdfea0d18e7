import type { JsonObject } from '#model/definition'
import { type AttemptEnd, nextAttemptIn } from './backoff.ts'
import { closingOf } from './commands.ts'
import { conclude } from './ending.ts'
import { errorOf } from './errors.ts'
import { type Pass, record, settle } from './pass.ts'

/**
 * Handles a failed attempt: schedules another attempt if the policy of the node allows it, and otherwise applies
 * `on_error`. `continue` leaves by `out` with the output null. `route` leaves by `error` with the error as output;
 * without such an edge it fails the execution. `fail` ends the execution.
 */
export const failed = (
  pass: Pass,
  id: string,
  attempt: number,
  cause: unknown,
  retryable: boolean,
  more: Pick<AttemptEnd, 'nothingDone' | 'retryAfterS' | 'isFinal' | 'isPermanent'> = {},
) => {
  const node = pass.compiled.nodes.get(id)
  if (!node) return
  const error = errorOf(cause, id, attempt)
  pass.commands.push(...closingOf(node, attempt))
  const isAtMostOnce = pass.context.effectOf(node.type, node.args) === 'at_most_once'
  const ending = { code: error.code, retryable, ...more }
  const delay = nextAttemptIn(node.retry, attempt, ending, { isAtMostOnce, seed: `${pass.context.seed}:${id}` })
  if (delay !== undefined) {
    const next = new Date(pass.at + delay).toISOString()
    return record(pass, 'node.retrying', { node_id: id, attempt, error, next_attempt_at: next })
  }
  const data: JsonObject = { node_id: id, attempt, error }
  const routed = node.on_error === 'route' && pass.compiled.outgoing.get(id)?.some((edge) => edge.from.port === 'error')
  if (routed) {
    record(pass, 'node.failed', { ...data, handled: 'route', port: 'error', output: error })
    return settle(pass, id)
  }
  if (node.on_error === 'continue') {
    record(pass, 'node.failed', { ...data, handled: 'continue', output: null })
    return settle(pass, id)
  }
  if (pass.state.ending) {
    // The other `finally` nodes still run.
    record(pass, 'node.failed', { ...data, handled: 'finally', output: null })
    return settle(pass, id)
  }
  record(pass, 'node.failed', data)
  // Tells people who could retry the execution that it would fail in the same way.
  conclude(pass, 'failed', { error, ...((!retryable || more.isPermanent) && { permanent: true }) })
}
