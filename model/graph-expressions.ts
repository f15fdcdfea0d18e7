import { compileTree } from './cel.ts'
import type { Ast } from './cel-ast.ts'
import { parseCel } from './cel-parser.ts'
import { children, memberOf } from './cel-tree.ts'
import type { Json, JsonObject } from './definition.ts'
import { ExpressionFailure } from './expression-failure.ts'
import { isCel, isExpression, isReference, ROOT_NAMES } from './expressions.ts'
import type { Issue } from './issue.ts'
import { at, isObject } from './json.ts'
import { suggestion } from './nearest.ts'
import { parseReference } from './reference.ts'

/** The names that an expression at one place of the graph may read. */
export type Visible = {
  hasNode(id: string): boolean
  /** The ids of all nodes of the definition, whether or not they can have run. */
  ids?: ReadonlySet<string>
  /**
   * Checks whether a node of the same graph, in any position, waits for an event and therefore has a callback address.
   */
  awaits?(id: string): boolean
  inMap: boolean
  inLoop: boolean
  tally: Tally
  /** Replaces the names of an execution, for a quorum. */
  roots?: ReadonlySet<string>
}

/**
 * The number of expressions checked so far in the definition. The check runs on the main thread and takes a microsecond
 * per character.
 */
export type Tally = { expressions: number; celCharacters: number; exceeded: boolean }
export const newTally = (): Tally => ({ expressions: 0, celCharacters: 0, exceeded: false })
const MAX_EXPRESSIONS = 5_000
const MAX_CEL_CHARACTERS = 100_000
const MAX_SUGGESTIONS = 20

const OUTSIDE: ReadonlySet<string> = new Set(['input', 'nodes', 'execution', 'vars', 'callbacks'])
const IN_MAP: ReadonlySet<string> = new Set([...OUTSIDE, 'item', 'index'])
const IN_LOOP: ReadonlySet<string> = new Set([...OUTSIDE, 'state', 'turn'])
const IN_BOTH: ReadonlySet<string> = new Set([...IN_MAP, ...IN_LOOP])

const rootsOf = ({ roots, inMap, inLoop }: Visible): ReadonlySet<string> => {
  if (roots) return roots
  if (inLoop) return inMap ? IN_BOTH : IN_LOOP
  return inMap ? IN_MAP : OUTSIDE
}

/**
 * Checks every expression in `value`, at any depth: whether it compiles, and whether the nodes it names can have run
 * before.
 */
export function checkValue(value: Json, path: string, visible: Visible, errors: Issue[]): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkValue(item, at(path, index), visible, errors)
    return
  }
  const marker = isReference(value) ? '$ref' : isCel(value) ? '$cel' : undefined
  if (marker && Object.keys(value).length > 1) {
    errors.push({ path, message: `an object with ${marker} has no other field` })
  } else if (marker && !counts(value[marker] as string, path, visible.tally, errors)) {
    return
  } else if (isReference(value)) {
    checkReference(value.$ref, path, visible, errors)
  } else if (isCel(value)) {
    checkCel(value.$cel, path, visible, errors)
  } else if (isObject(value) && Object.hasOwn(value, '$cel')) {
    errors.push({ path, message: '$cel must be a text' })
  } else {
    for (const [key, item] of Object.entries(value)) checkValue(item, at(path, key), visible, errors)
  }
}

function counts(text: string, path: string, tally: Tally, errors: Issue[]): boolean {
  tally.expressions += 1
  tally.celCharacters += text.length
  if (tally.expressions <= MAX_EXPRESSIONS && tally.celCharacters <= MAX_CEL_CHARACTERS) return true
  if (!tally.exceeded) {
    const message = `a workflow may contain at most ${MAX_EXPRESSIONS} expressions with ${MAX_CEL_CHARACTERS} characters in total`
    errors.push({ path, message })
  }
  tally.exceeded = true
  return false
}

function checkReference(text: string, path: string, visible: Visible, errors: Issue[]): void {
  const parsed = parseReference(text)
  if (!parsed.ok) {
    errors.push({ path, message: parsed.message })
    return
  }
  const [root, node, field] = parsed.segments
  if (!rootsOf(visible).has(String(root))) {
    errors.push({ path, message: unknownRoot(String(root), visible) })
  } else if (root === 'nodes') {
    checkNodeName(node === undefined ? undefined : String(node), field, path, visible, errors)
  } else if (root === 'vars' && node === undefined) {
    errors.push({ path, message: NAME_A_VARIABLE })
  } else if (root === 'callbacks') {
    const waits = node !== undefined && visible.awaits?.(String(node)) === true
    if (!waits || field !== 'url')
      errors.push({ path, message: 'name a wait.event node of the same graph: callbacks.<id>.url' })
  }
}

const NAME_A_VARIABLE = 'name a variable: vars.<name>'

function unknownRoot(root: string, visible: Visible): string {
  if (root === 'item' || root === 'index') return `"${root}" exists only inside the body of a map`
  if (root === 'state' || root === 'turn') return `"${root}" exists only inside a loop`
  const known = rootsOf(visible)
  const meant = suggestion(root, known)
  return `unknown name "${root.slice(0, 64)}"${meant || `; known are ${[...known].join(', ')}`}`
}

function checkNodeName(
  node: string | undefined,
  field: unknown,
  path: string,
  visible: Visible,
  errors: Issue[],
): void {
  if (node === undefined) errors.push({ path, message: 'name a node: nodes.<id>.output' })
  else if (visible.ids && !visible.ids.has(node)) {
    // Comparing one name with 500 others takes milliseconds; thousands of wrong names must not take seconds.
    const meant = errors.length < MAX_SUGGESTIONS ? suggestion(node, visible.ids) : ''
    errors.push({ path, message: `there is no node "${node.slice(0, 64)}"${meant}` })
  } else if (!visible.hasNode(node)) {
    errors.push({
      path,
      message: `node "${node.slice(0, 64)}" cannot have run before; it is not on a path that leads here`,
    })
  } else if (field !== 'output') errors.push({ path, message: `only nodes.${node}.output can be read` })
}

function checkCel(text: string, path: string, visible: Visible, errors: Issue[]): void {
  try {
    const tree = parseCel(text)
    const taken = visible.roots ? new Set([...visible.roots, ...ROOT_NAMES]) : ROOT_NAMES
    compileTree(tree, rootsOf(visible), taken)
    if (!visible.roots) checkNodesNamed(tree, path, visible, errors)
  } catch (error) {
    if (!(error instanceof ExpressionFailure)) throw error
    errors.push({ path, message: error.message })
  }
}

/**
 * Allows `nodes` only as `nodes.id.output` and `vars` only as `vars.name`, so that the text of an expression shows its
 * dependencies.
 */
function checkNodesNamed(node: Ast, path: string, visible: Visible, errors: Issue[]): void {
  const name = nodeName(node)
  if (name) {
    checkNodeName(name.id, name.field, path, visible, errors)
    return
  }
  if (node.op === 'id' && node.args === 'nodes') {
    errors.push({ path, message: 'name a node: nodes.<id>.output' })
    return
  }
  if (isVariable(node)) return
  if (node.op === 'id' && node.args === 'vars') {
    errors.push({ path, message: NAME_A_VARIABLE })
    return
  }
  for (const child of children(node)) checkNodesNamed(child, path, visible, errors)
}

function isVariable(node: Ast): boolean {
  const target = memberOf(node)?.target
  return target?.op === 'id' && target.args === 'vars'
}

function nodeName(node: Ast): { id: string; field: string | undefined } | undefined {
  const inner = memberOf(node)
  if (!inner) return undefined
  if (inner.target.op === 'id' && inner.target.args === 'nodes') return { id: inner.key, field: undefined }
  const outer = memberOf(inner.target)
  if (outer?.target.op === 'id' && outer.target.args === 'nodes') return { id: outer.key, field: inner.key }
  return undefined
}

/**
 * Checks whether an expression may replace a value. Where a schema has `x-value: "literal"`, no expression is allowed:
 * code must not be computed from data.
 */
export const replacesValue = (value: Json, schema: JsonObject): boolean =>
  schema['x-value'] === undefined ? isExpression(value) : schema['x-value'] === 'graph'
