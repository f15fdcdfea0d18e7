import { momentOf } from '#model/cel-runtime'
import type { ExecutionError, Json, JsonObject } from '#model/definition'
import { ExpressionFailure, resolveValue } from '#model/expressions'
import { isObject } from '#model/json'
import { MAX_VALUE_SIZE } from '#model/size'
import { NodeFailure } from '../node.ts'
import { type Ending, nextAttemptIn } from './backoff.ts'
import { closingOf } from './commands.ts'
import { compute, type Pass, record, settle } from './pass.ts'
import { scopeAt } from './scope.ts'

const isPlainFailure = (error: unknown): error is { code: string; message: string; details?: Json } =>
  typeof error === 'object' && error !== null && 'code' in error && 'message' in error

const storable = (text: string): string => text.toWellFormed().replaceAll('\u0000', '')

/** What failed may be quoted as it came, and PostgreSQL stores neither NUL nor half a surrogate pair. */
const storableJson = (value: Json): Json => {
  if (typeof value === 'string') return storable(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storable(key), storableJson(inner)]))
}

/** Only errors made to be shown are shown; anything else is ours, and a tenant learns no more than that. */
export const errorOf = (error: unknown, id?: string, attempt?: number): ExecutionError => {
  const known =
    error instanceof NodeFailure ||
    error instanceof ExpressionFailure ||
    (isPlainFailure(error) && !(error instanceof Error))
  const { code, message } = known
    ? (error as { code: string; message: string })
    : { code: 'internal', message: 'the node failed for a reason on our side' }
  const details = known && isPlainFailure(error) ? error.details : undefined
  return {
    code: storable(code),
    message: storable(message),
    ...(id !== undefined && { node_id: id }),
    ...(attempt !== undefined && { attempt }),
    ...(details !== undefined && { details: storableJson(details) }),
  }
}

/**
 * A failed attempt: another one if the node's policy allows, else what `on_error` says. `continue` leaves by `out` with
 * the output null, `route` by `error` with the error as output (without such an edge it fails the execution), `fail` ends
 * the execution.
 */
export const failed = (
  pass: Pass,
  id: string,
  attempt: number,
  cause: unknown,
  retryable: boolean,
  more: Pick<Ending, 'nothingDone' | 'retryAfterS' | 'isFinal'> = {},
) => {
  const node = pass.compiled.nodes.get(id)
  if (!node) return
  const error = errorOf(cause, id, attempt)
  pass.commands.push(...closingOf(node, attempt))
  const isAtMostOnce = pass.context.effectOf(node.type) === 'at_most_once'
  const ending = { code: error.code, retryable, ...more }
  const delay = nextAttemptIn(node.retry, attempt, ending, { isAtMostOnce, seed: `${pass.context.seed}:${id}` })
  if (delay !== undefined) {
    const next = new Date(pass.at + delay).toISOString()
    return record(pass, 'node.retrying', { node_id: id, attempt, error, next_attempt_at: next })
  }
  const facts: JsonObject = { node_id: id, attempt, error }
  const routed = node.on_error === 'route' && pass.compiled.outgoing.get(id)?.some((edge) => edge.from.port === 'error')
  if (routed) {
    record(pass, 'node.failed', { ...facts, handled: 'route', port: 'error', output: error })
    return settle(pass, id)
  }
  if (node.on_error === 'continue') {
    record(pass, 'node.failed', { ...facts, handled: 'continue', output: null })
    return settle(pass, id)
  }
  record(pass, 'node.failed', facts)
  record(pass, 'execution.failed', { error })
}

/** Nothing is active and nothing can become so. */
export const finish = (pass: Pass): void => {
  for (const id of pass.compiled.nodes.keys()) {
    if (!pass.state.nodes[id]) record(pass, 'node.skipped', { node_id: id })
  }
  try {
    const { output } = pass.compiled.graph
    const moment = momentOf(pass.at, `${pass.context.seed}:output`)
    const scope = scopeAt(pass.context, pass.state, pass.state.seq, moment)
    const results =
      output === undefined ? null : compute(pass, MAX_VALUE_SIZE, (budget) => resolveValue(output, scope, budget))
    record(pass, 'execution.succeeded', { results })
  } catch (error) {
    record(pass, 'execution.failed', { error: errorOf(error) })
  }
}
