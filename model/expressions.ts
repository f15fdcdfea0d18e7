// Values of a definition: literals, `{"$ref": path}` and `{"$cel": expression}`.
//
// A plain string is never code, and the result of an expression is never evaluated again: external text stays text,
// with any content. A `$ref` that starts with `#` is a JSON Schema pointer and therefore a literal.
//
// Missing data: a `$ref` to something absent is null (a skipped node, an optional input); a `$ref` that goes *through*
// a text, number or boolean is a failure. In CEL an absent key is a failure, as CEL specifies; check for it with
// `has()`.

import { type CelProgram, compileCel, evaluateCel } from './cel.ts'
import { type Budget, conditionBudget, type Moment, valuesBudget } from './cel-runtime.ts'
import type { Json, JsonObject, Node } from './definition.ts'
import { ExpressionFailure } from './expression-failure.ts'
import { isObject, own } from './json.ts'
import { makeLru } from './lru.ts'
import { parseReference, type Segment } from './reference.ts'
import { jsonSize } from './size.ts'

/**
 * The data that expressions of one execution can read. `nodes` has an entry for every settled node; a skipped node has
 * the output null. `item` and `index` exist inside a `map`, `state` and `turn` inside a `loop`, `record` in the mapping
 * of an enrichment job.
 */
export type Scope = {
  input: Json
  nodes: Record<string, { output: Json }>
  execution: JsonObject
  /** The variables of the workspace when the execution started. */
  vars?: JsonObject
  callbacks?: Record<string, { url: string }>
  item?: Json
  index?: number
  state?: Json
  turn?: number
  record?: Json
  /** The source of the values of `now()` and `uuid()`; both fail without it. */
  moment?: Moment
}

const ROOTS = ['input', 'nodes', 'execution', 'vars', 'callbacks', 'item', 'index', 'state', 'turn', 'record'] as const
/**
 * All names that expressions of an execution may read in some place; a macro in a saved expression may not bind any of
 * them.
 */
export const ROOT_NAMES: ReadonlySet<string> = new Set(ROOTS)
/**
 * A macro that was saved before loops existed may bind `state` and `turn`; inside the macro they mean its own
 * variables.
 */
const RESERVED: ReadonlySet<string> = new Set(ROOTS.filter((name) => name !== 'state' && name !== 'turn'))

/** Arguments that the interpreter evaluates later or in another scope; `resolveArgs` leaves them unchanged. */
const DEFERRED_ARGS: Readonly<Record<string, readonly string[]>> = {
  branch: ['/cases'],
  map: ['/body'],
  loop: ['/body', '/while', '/until', '/collect', '/delay_s'],
  approval: ['/policy/quorum'],
  'http.request': ['/paginate/next', '/paginate/items'],
}

const programs = makeLru<CelProgram>(2_000)
const references = makeLru<readonly Segment[]>(4_000)

export const isReference = (value: Json): value is { $ref: string } =>
  isObject(value) && typeof own(value, '$ref') === 'string' && !String(value.$ref).startsWith('#')

export const isCel = (value: Json): value is { $cel: string } =>
  isObject(value) && typeof own(value, '$cel') === 'string'

export const isExpression = (value: Json): boolean => isReference(value) || isCel(value)

/** Returns null if the expression compiles, otherwise the error message. Unknown names are errors. */
export function checkExpression(cel: string, roots: ReadonlySet<string> = ROOT_NAMES): string | null {
  try {
    compileCel(cel, roots, new Set([...roots, ...ROOT_NAMES]))
    return null
  } catch (error) {
    if (error instanceof ExpressionFailure) return error.message
    throw error
  }
}

/**
 * Replaces every expression in `value` with its result. The result shares structure with the scope: treat it as
 * read-only.
 */
export function resolveValue(value: Json, scope: Scope, budget = valuesBudget()): Json {
  return resolve(value, { scope, deferred: [], replaced: 0, budget }, '')
}

/** Resolves the arguments of a node for its `run`; the `DEFERRED_ARGS` of its type stay unchanged. */
export function resolveArgs(
  node: Pick<Node, 'type' | 'args'>,
  scope: Scope,
  budget: Budget = valuesBudget(),
): JsonObject {
  const deferred = DEFERRED_ARGS[node.type] ?? []
  return resolve(node.args ?? {}, { scope, deferred, replaced: 0, budget }, '') as JsonObject
}

/** Returns the arguments that `resolveArgs` evaluates, without the arguments that contain a deferred part. */
export function withoutDeferred({ type, args }: Pick<Node, 'type' | 'args'>): JsonObject {
  const left = new Set((DEFERRED_ARGS[type] ?? []).map((path) => path.split('/')[1]))
  return Object.fromEntries(Object.entries(args ?? {}).filter(([name]) => !left.has(name)))
}

export function evaluateCondition(cel: string, scope: Scope, budget: Budget = conditionBudget()): boolean {
  return toBoolean(evaluateProgram(cel, ROOT_NAMES, scope, budget, scope.moment))
}

/**
 * Evaluates a condition over other names than those of a scope: for example the quorum of a gate, over `approvals` and
 * `rejections`.
 */
export function evaluateConditionOver(cel: string, variables: JsonObject, budget = conditionBudget()): boolean {
  return toBoolean(evaluateProgram(cel, new Set(Object.keys(variables)), variables, budget))
}

/**
 * Evaluates a value over other names than those of a scope: for example the next page of a response, over `response`
 * and `page`.
 */
export function evaluateOver(cel: string, variables: JsonObject, budget: Budget = valuesBudget()): Json {
  return evaluateProgram(cel, new Set(Object.keys(variables)), variables, budget)
}

function toBoolean(result: Json): boolean {
  if (typeof result === 'boolean') return result
  throw new ExpressionFailure('condition_not_boolean', 'the condition must be true or false')
}

function evaluateProgram(
  cel: string,
  roots: ReadonlySet<string>,
  variables: object,
  budget: Budget,
  moment?: Moment,
): Json {
  const key = roots === ROOT_NAMES ? cel : `${[...roots].sort().join()}|${cel}`
  let program = programs.get(key)
  if (!program) {
    program = compileCel(cel, roots, roots === ROOT_NAMES ? RESERVED : new Set([...roots, ...RESERVED]))
    programs.set(key, program)
  }
  return evaluateCel(program, variables, budget, moment)
}

type Resolving = {
  scope: Scope
  deferred: readonly string[]
  replaced: number
  budget: Budget
  texts?: Map<string, number>
}

function resolve(value: Json, context: Resolving, path: string): Json {
  if (typeof value !== 'object' || value === null) return value
  if (context.deferred.includes(path)) return value
  if (isReference(value)) return counted(followReference(value.$ref, context.scope), context)
  if (isCel(value))
    return counted(
      evaluateProgram(value.$cel, ROOT_NAMES, context.scope, context.budget, context.scope.moment),
      context,
    )
  const tracked = context.deferred.length > 0
  if (Array.isArray(value)) return value.map((item, index) => resolve(item, context, tracked ? `${path}/${index}` : ''))
  const result: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    setOwn(result, key, resolve(item, context, tracked ? `${path}/${key}` : ''))
  }
  return result
}

/** Sets an own property. A literal may contain any key, and assigning `__proto__` would replace the prototype. */
function setOwn(target: JsonObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
  else target[key] = value
}

const MAX_EXPRESSIONS_IN_VALUE = 1_000

/** Charges the size of each result, because many references to one large value multiply it when it is serialized. */
function counted(value: Json, context: Resolving): Json {
  const { budget } = context
  context.replaced += 1
  budget.size -= typeof value === 'string' ? textSizeOnce(value, context) : jsonSize(value, budget.size)
  if (budget.size < 0) throw tooLarge()
  if (context.replaced > MAX_EXPRESSIONS_IN_VALUE) {
    throw new ExpressionFailure(
      'expression_too_large',
      `a value may contain at most ${MAX_EXPRESSIONS_IN_VALUE} expressions`,
    )
  }
  return value
}

/** Measures a long text once per value, even if the value names it many times: 3 ms per million characters. */
function textSizeOnce(text: string, context: Resolving): number {
  if (text.length < LONG_TEXT) return jsonSize(text, context.budget.size)
  context.texts ??= new Map()
  const size = context.texts.get(text) ?? jsonSize(text, Number.POSITIVE_INFINITY)
  context.texts.set(text, size)
  return size
}

const LONG_TEXT = 4_096

const tooLarge = (): ExpressionFailure => new ExpressionFailure('result_too_large', 'the values are too large as JSON')

function followReference(text: string, scope: Scope): Json {
  let segments = references.get(text)
  if (!segments) {
    const parsed = parseReference(text)
    if (!parsed.ok) throw new ExpressionFailure('reference_invalid', `$ref "${clip(text)}": ${parsed.message}`)
    segments = parsed.segments
    references.set(text, segments)
  }
  const root = String(segments[0])
  if (!ROOT_NAMES.has(root)) {
    throw new ExpressionFailure('reference_invalid', `$ref "${clip(text)}": unknown root "${root}"`)
  }
  let current: Json | undefined = own(scope as unknown as JsonObject, root)
  for (let depth = 1; depth < segments.length; depth += 1) {
    const segment = segments[depth] as Segment
    if (current === null || current === undefined) return null
    if (typeof current !== 'object') {
      throw new ExpressionFailure(
        'reference_failed',
        `$ref "${clip(text)}": "${segment}" cannot be read from a ${typeof current}`,
      )
    }
    if (Array.isArray(current)) {
      const index = typeof segment === 'number' ? segment : Number.NaN
      current = Number.isInteger(index) && index < current.length ? current[index] : undefined
    } else {
      current = own(current, String(segment))
    }
  }
  return current ?? null
}

const clip = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)

export { ExpressionFailure }
