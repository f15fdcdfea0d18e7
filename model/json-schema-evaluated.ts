// Finds the fields and items of a value that the keywords of a schema have evaluated: `unevaluatedProperties` and
// `unevaluatedItems` apply to the rest. Subschemas are evaluated again for this, within the budget of the walk.

import type { Json, JsonObject } from './definition.ts'
import { isObject, own } from './json.ts'
import { REFERENCES, type SchemaIndex } from './json-schema-index.ts'

type Walk = {
  readonly index: SchemaIndex
  readonly scope: readonly string[]
  spend(steps: number): void
  /** Counts a step, and refuses a step that is too deep. */
  deepen(depth: number): void
  within(schema: JsonObject, work: () => void): void
  passes(schema: Json, value: Json, depth: number, judged?: boolean): boolean
  matches(pattern: string, text: string): boolean
}

/**
 * Adds the names or positions that a schema has evaluated, given that the value matches it. `outermost`: ignores the
 * schema's own `unevaluated…` keywords.
 */
export function collectEvaluated(
  walk: Walk,
  schema: Json,
  value: JsonObject | Json[],
  seen: Set<string>,
  depth: number,
  outermost = false,
): void {
  walk.deepen(depth)
  if (!isObject(schema)) return
  walk.within(schema, () => {
    const own = Array.isArray(value)
      ? itemsOf(walk, schema, value, depth, outermost)
      : fieldsOf(walk, schema, value, outermost)
    for (const key of own) seen.add(key)
    for (const inner of appliedOf(walk, schema, value, depth)) collectEvaluated(walk, inner, value, seen, depth + 1)
  })
}

function* fieldsOf(walk: Walk, schema: JsonObject, value: JsonObject, outermost: boolean): Generator<string> {
  const properties = own(schema, 'properties')
  const patterns = own(schema, 'patternProperties')
  const all =
    Object.hasOwn(schema, 'additionalProperties') || (!outermost && Object.hasOwn(schema, 'unevaluatedProperties'))
  for (const key of Object.keys(value)) {
    walk.spend(1)
    const known =
      all ||
      (isObject(properties) && Object.hasOwn(properties, key)) ||
      (isObject(patterns) && Object.keys(patterns).some((source) => walk.matches(source, key)))
    if (known) yield key
  }
}

function* itemsOf(walk: Walk, schema: JsonObject, value: Json[], depth: number, outermost: boolean): Generator<string> {
  const prefix = own(schema, 'prefixItems')
  const contains = own(schema, 'contains')
  const all = Object.hasOwn(schema, 'items') || (!outermost && Object.hasOwn(schema, 'unevaluatedItems'))
  const known = all ? value.length : Array.isArray(prefix) ? prefix.length : 0
  for (const [index, item] of value.entries()) {
    walk.spend(1)
    if (index < known || (contains !== undefined && walk.passes(contains, item, depth + 1))) yield String(index)
  }
}

/** Yields the subschemas that apply to the same value and that it matches. */
function* appliedOf(walk: Walk, schema: JsonObject, value: Json, depth: number): Generator<Json> {
  for (const keyword of REFERENCES) {
    const target = walk.index.find(schema, keyword, walk.scope)
    if (target !== undefined) yield target
  }
  const all = own(schema, 'allOf')
  if (Array.isArray(all)) yield* all
  for (const keyword of ['anyOf', 'oneOf']) {
    const forms = own(schema, keyword)
    if (!Array.isArray(forms)) continue
    for (const form of forms) if (walk.passes(form, value, depth + 1, true)) yield form
  }
  const dependent = own(schema, 'dependentSchemas')
  if (isObject(dependent) && isObject(value))
    for (const [key, inner] of Object.entries(dependent)) if (Object.hasOwn(value, key)) yield inner
  const condition = own(schema, 'if')
  if (condition === undefined) return
  const holds = walk.passes(condition, value, depth + 1, true)
  if (holds) yield condition
  const branch = own(schema, holds ? 'then' : 'else')
  if (branch !== undefined) yield branch
}
