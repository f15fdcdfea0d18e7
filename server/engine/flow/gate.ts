import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '#model/definition'
import { ExpressionFailure } from '#model/expression-failure'
import { resolveValue } from '#model/expressions'
import { toWire } from '#platform/ids'
import type { TriggerKind, WaitingFor } from '../ports.ts'
import type { Flow, KeyExpression } from './rules.ts'

// Computes how the rules of a workflow apply to a new execution: which groups it counts in, and which rule decides
// first.

export type GateRow = {
  /** The group whose places the execution takes. */
  place: string
  stage: 'enter' | 'place'
  gate: string
  /** The groups of the other rules. */
  flow: { rate?: string; debounce?: string; dedupe?: string }
  waiting_for: WaitingFor[]
}

export type Asked = {
  workflowId: string
  input: Json
  trigger: { kind: TriggerKind; id: string | null }
  startedBy: string | null
  /** Replaces the key of the concurrency setting. */
  concurrencyKey?: string | undefined
  /** A user deliberately retries the execution, so dedupe and debounce do not apply. */
  isRetry?: boolean
}

const NOWHERE = '00000000-0000-0000-0000-000000000000'
const MAX_KEY = 1000

/** Returns the group of a key, as a UUID. Keys of different workflows or rules never have the same group. */
export function groupOf(workflowId: string, rule: string, key: string): string {
  const hash = createHash('sha256').update(`${workflowId} ${rule} ${key}`).digest('hex')
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/**
 * Returns undefined if the expression fails or if its result is not a string, number or boolean. The execution then
 * has no key.
 */
export function keyOf(expression: KeyExpression, asked: Omit<Asked, 'workflowId'>): string | undefined {
  const execution: JsonObject = {
    trigger: { kind: asked.trigger.kind, id: asked.trigger.id },
    started_by: asked.startedBy && toWire('usr', asked.startedBy),
  }
  try {
    const value = resolveValue({ $cel: expression.$cel }, { input: asked.input, nodes: {}, execution })
    if (value === null || typeof value === 'object') return undefined
    return `${typeof value} ${String(value)}`.slice(0, MAX_KEY)
  } catch (error) {
    if (error instanceof ExpressionFailure) return undefined
    throw error
  }
}

/** Executions without a key share one group and are limited together. */
const sharedGroup = (asked: Asked, rule: string, key: string | undefined): string =>
  key === undefined ? groupOf(asked.workflowId, rule, '') : groupOf(asked.workflowId, rule, `= ${key}`)

/** An execution without a key is never a repetition. */
const ownGroup = (asked: Asked, rule: string, expression: KeyExpression): string | undefined => {
  const key = keyOf(expression, asked)
  return key === undefined ? undefined : groupOf(asked.workflowId, rule, `= ${key}`)
}

const placeOf = (flow: Flow, asked: Asked): string => {
  const key = asked.concurrencyKey === undefined ? undefined : `given ${asked.concurrencyKey}`
  const expression = flow.concurrency?.key
  const found = key ?? (expression && keyOf(expression, asked))
  // An older release groups executions by their workflow alone. This must give the same group.
  return found === undefined && !expression ? asked.workflowId : sharedGroup(asked, 'concurrency', found)
}

const reasonOf = (flow: Flow): string => {
  if (flow.paused) return 'paused'
  return flow.concurrency ? 'concurrency' : flow.debounce ? 'debounce' : 'rate'
}

export function gateOf(flow: Flow, asked: Asked): GateRow {
  const { concurrency, debounce, rate, dedupe } = flow
  const place = placeOf(flow, asked)
  const debounced = debounce && !asked.isRetry
  const group =
    debounced && (debounce.key ? ownGroup(asked, 'debounce', debounce.key) : groupOf(asked.workflowId, 'debounce', ''))
  const repeated = dedupe && !asked.isRetry ? ownGroup(asked, 'dedupe', dedupe.key) : undefined
  const isPlain = !group && !repeated && (concurrency?.when_full ?? 'queue') === 'queue'
  return {
    place,
    stage: isPlain ? 'place' : 'enter',
    gate: isPlain ? place : NOWHERE,
    flow: {
      ...(rate && { rate: sharedGroup(asked, 'rate', rate.key && keyOf(rate.key, asked)) }),
      ...(group && { debounce: group }),
      ...(repeated && { dedupe: repeated }),
    },
    waiting_for: [{ kind: 'slot', reason: reasonOf(flow), since: new Date().toISOString() }],
  }
}
