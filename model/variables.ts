import type { Ast } from './cel-ast.ts'
import { parseCel } from './cel-parser.ts'
import { children, memberOf } from './cel-tree.ts'
import type { Definition, Json, JsonObject } from './definition.ts'
import { ExpressionFailure } from './expression-failure.ts'
import { isCel, isReference } from './expressions.ts'
import { allNodes } from './graph-ids.ts'
import { at, isForbiddenKey } from './json.ts'
import { parseReference } from './reference.ts'

// Variables of the workspace, read as `vars.NAME`. The text of a definition shows which variables it reads, so an
// execution stores only those, and an execution that reads none has no cost.

export const MAX_VARIABLES = 200
export const MAX_VARIABLE_BYTES = 16 * 1024
/**
 * The limit for all values of a workspace together: an execution that starts other workflows stores all of them in its
 * journal.
 */
export const MAX_VARIABLES_BYTES = 64 * 1024

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
export const isVariableName = (text: string): boolean => NAME.test(text) && !isForbiddenKey(text)

export type NamedVariable = { path: string; name: string }

/** Yields every variable that an expression of this value names, at any depth. */
export function* variablesIn(value: Json | undefined, path = ''): Generator<NamedVariable> {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* variablesIn(item, at(path, index))
  } else if (isReference(value)) {
    if (!value.$ref.startsWith('vars')) return
    const parsed = parseReference(value.$ref)
    if (parsed.ok && parsed.segments[0] === 'vars' && parsed.segments.length > 1)
      yield { path, name: String(parsed.segments[1]) }
  } else if (isCel(value)) {
    if (value.$cel.includes('vars')) for (const name of namesInCel(value.$cel)) yield { path, name }
  } else {
    for (const [key, item] of Object.entries(value)) yield* variablesIn(item, at(path, key))
  }
}

function* namesInCel(text: string): Generator<string> {
  try {
    yield* namesInTree(parseCel(text))
  } catch (error) {
    if (!(error instanceof ExpressionFailure)) throw error
  }
}

function* namesInTree(node: Ast): Generator<string> {
  const member = memberOf(node)
  if (member?.target.op === 'id' && member.target.args === 'vars') yield member.key
  for (const child of children(node)) yield* namesInTree(child)
}

/** `all`: the workflow starts other workflows, which read the values from the start of this execution. */
export type VariablesRead = 'all' | ReadonlySet<string>

const wanted = new WeakMap<Definition, VariablesRead>()

export function variablesRead(definition: Definition): VariablesRead {
  const known = wanted.get(definition)
  if (known !== undefined) return known
  const startsOthers = [...allNodes(definition)].some(({ type }) => type === 'subworkflow')
  const names = (): Set<string> =>
    new Set([...variablesIn(definition as unknown as JsonObject)].map(({ name }) => name))
  const found = startsOthers ? 'all' : names()
  wanted.set(definition, found)
  return found
}

export const readsVariables = (definition: Definition): boolean => {
  const found = variablesRead(definition)
  return found === 'all' || found.size > 0
}

/**
 * Returns the `values` that an execution of the definition stores; undefined if it stores none. An execution that
 * starts others stores an empty object too, to record that there were no variables.
 */
export function storedVariables(definition: Definition, values: JsonObject): JsonObject | undefined {
  const found = variablesRead(definition)
  const entries = Object.entries(values).filter(([name]) => found === 'all' || found.has(name))
  return entries.length === 0 && found !== 'all' ? undefined : Object.fromEntries(entries)
}
