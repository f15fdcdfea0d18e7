// Undefined names that a program uses. The program would fail at the first of them with a ReferenceError, so a workflow
// whose code has an undefined name is refused when it is saved. Declarations follow the rules of a module, which is
// always strict.

import { parse } from 'acorn'

/** `isModule`: `name` is an imported module; no modules are available. */
export type UnknownName = { name: string; line: number; isModule: boolean }

/**
 * The names available to code besides its own declarations: the names of the language and those that the sandbox adds.
 */
export const CODE_GLOBALS: ReadonlySet<string> = new Set(
  `Object Function Error EvalError RangeError ReferenceError SyntaxError TypeError URIError InternalError AggregateError Array
   parseInt parseFloat isNaN isFinite Infinity NaN undefined Number Boolean String Math Reflect Symbol eval globalThis Date RegExp
   JSON Proxy Map Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator ArrayBuffer SharedArrayBuffer DataView Uint8ClampedArray
   Int8Array Uint8Array Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array
   Float64Array BigInt Promise decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape console crypto TextEncoder
   TextDecoder URL URLSearchParams atob btoa log`.split(/\s+/),
)

type Tree = { type: string; loc?: { start: { line: number } }; [key: string]: unknown }
type Scope = { names: Set<string>; outer: Scope | undefined; isFunction: boolean }
type Found = {
  used: { name: string; line: number; scope: Scope }[]
  modules: { name: string; line: number }[]
  /** Names that the program checks for before it uses them, or adds to the global object itself. */
  allowed: Set<string>
  /** The program may define names in ways that its text does not show. */
  isOpen: boolean
}

const lineOf = (tree: Tree): number => tree.loc?.start.line ?? 0

const inside = (outer: Scope | undefined, isFunction: boolean): Scope => ({ names: new Set(), outer, isFunction })
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && typeof (value as Tree).type === 'string'
const treesOf = (value: unknown): Tree[] => (Array.isArray(value) ? value.filter(isTree) : isTree(value) ? [value] : [])
const nameOf = (tree: unknown): string | undefined =>
  isTree(tree) && tree.type === 'Identifier' ? String(tree.name) : undefined

/** Returns the name in `globalThis.name` or `globalThis["name"]`. */
function globalMember({ object, property, computed }: Tree): string | undefined {
  if (nameOf(object) !== 'globalThis' || !isTree(property)) return undefined
  if (!computed) return nameOf(property)
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined
}

/** Declares the names that a pattern binds, and walks the expressions in it (defaults, keys). */
function declare(pattern: unknown, into: Scope, from: Scope, found: Found): void {
  if (!isTree(pattern)) return
  const name = nameOf(pattern)
  if (name !== undefined) into.names.add(name)
  else if (pattern.type === 'ObjectPattern') {
    for (const property of treesOf(pattern.properties)) {
      if (property.computed) walk(property.key, from, found)
      declare(property.type === 'RestElement' ? property.argument : property.value, into, from, found)
    }
  } else if (pattern.type === 'ArrayPattern')
    for (const element of treesOf(pattern.elements)) declare(element, into, from, found)
  else if (pattern.type === 'AssignmentPattern') {
    declare(pattern.left, into, from, found)
    walk(pattern.right, from, found)
  } else if (pattern.type === 'RestElement') declare(pattern.argument, into, from, found)
}

/** Records the module after `from`, or in `import(…)` if the argument is a text literal. */
function importModule(tree: Tree, found: Found): void {
  if (isTree(tree.source) && typeof tree.source.value === 'string')
    found.modules.push({ name: tree.source.value, line: lineOf(tree) })
}

function walkFunction(tree: Tree, scope: Scope, found: Found): void {
  const own = inside(scope, true)
  if (tree.type !== 'ArrowFunctionExpression') own.names.add('arguments')
  const name = nameOf(tree.id)
  if (name !== undefined) own.names.add(name)
  for (const parameter of treesOf(tree.params)) declare(parameter, own, own, found)
  walk(tree.body, own, found)
}

function walkClass(tree: Tree, scope: Scope, found: Found): void {
  const own = inside(scope, false)
  const name = nameOf(tree.id)
  if (name !== undefined) own.names.add(name)
  walk(tree.superClass, own, found)
  for (const member of treesOf((tree.body as Tree).body)) {
    if (member.computed) walk(member.key, own, found)
    if (member.type === 'StaticBlock') walkAll(member, inside(own, true), found)
    else {
      const value = inside(own, true)
      value.names.add('arguments')
      walk(member.value, value, found)
    }
  }
}

const WITH_SCOPE = new Set(['BlockStatement', 'ForStatement', 'ForInStatement', 'ForOfStatement', 'SwitchStatement'])

const byType: Record<string, (tree: Tree, scope: Scope, found: Found) => void> = {
  Identifier: (tree, scope, found) => {
    const name = String(tree.name)
    // `eval` and `Function` can define globals in a text that is known only when it runs.
    if (name === 'globalThis' || name === 'eval' || name === 'Function') found.isOpen = true
    found.used.push({ name, line: lineOf(tree), scope })
  },
  VariableDeclaration: (tree, scope, found) => {
    let into = scope
    while (tree.kind === 'var' && !into.isFunction && into.outer) into = into.outer
    for (const { id, init } of treesOf(tree.declarations)) {
      declare(id, into, scope, found)
      walk(init, scope, found)
    }
  },
  FunctionDeclaration: (tree, scope, found) => {
    declare(tree.id, scope, scope, found)
    walkFunction(tree, scope, found)
  },
  FunctionExpression: walkFunction,
  ArrowFunctionExpression: walkFunction,
  ClassDeclaration: (tree, scope, found) => {
    declare(tree.id, scope, scope, found)
    walkClass(tree, scope, found)
  },
  ClassExpression: walkClass,
  CatchClause: (tree, scope, found) => {
    const own = inside(scope, false)
    declare(tree.param, own, own, found)
    walk(tree.body, own, found)
  },
  MemberExpression: (tree, scope, found) => {
    const name = globalMember(tree)
    if (name !== undefined) {
      found.allowed.add(name)
      return
    }
    walk(tree.object, scope, found)
    if (tree.computed) walk(tree.property, scope, found)
  },
  Property: (tree, scope, found) => {
    if (tree.computed) walk(tree.key, scope, found)
    walk(tree.value, scope, found)
  },
  UnaryExpression: (tree, scope, found) => {
    const name = tree.operator === 'typeof' ? nameOf(tree.argument) : undefined
    if (name === undefined) walk(tree.argument, scope, found)
    else found.allowed.add(name)
  },
  LabeledStatement: (tree, scope, found) => walk(tree.body, scope, found),
  BreakStatement: () => {},
  ContinueStatement: () => {},
  MetaProperty: () => {},
  ImportDeclaration: (tree, scope, found) => {
    importModule(tree, found)
    for (const { local } of treesOf(tree.specifiers)) declare(local, scope, scope, found)
  },
  ImportExpression: (tree, scope, found) => {
    importModule(tree, found)
    walk(tree.source, scope, found)
  },
  ExportAllDeclaration: (tree, _scope, found) => importModule(tree, found),
  ExportNamedDeclaration: (tree, scope, found) => {
    walk(tree.declaration, scope, found)
    if (tree.source) importModule(tree, found)
    else for (const { local } of treesOf(tree.specifiers)) walk(local, scope, found)
  },
}

function walkAll(tree: Tree, scope: Scope, found: Found): void {
  for (const [key, value] of Object.entries(tree))
    if (key !== 'loc') for (const child of treesOf(value)) walk(child, scope, found)
}

function walk(tree: unknown, scope: Scope, found: Found): void {
  if (!isTree(tree)) return
  const own = byType[tree.type]
  if (own) own(tree, scope, found)
  else walkAll(tree, WITH_SCOPE.has(tree.type) ? inside(scope, false) : scope, found)
}

function isDeclared(name: string, scope: Scope | undefined): boolean {
  for (let at = scope; at; at = at.outer) if (at.names.has(name)) return true
  return false
}

/** Returns each unknown name with the line of its first use; undefined if the text cannot be parsed as a module. */
export function unknownNames(source: string): UnknownName[] | undefined {
  const found: Found = { used: [], modules: [], allowed: new Set(), isOpen: false }
  try {
    const options = { ecmaVersion: 'latest', sourceType: 'module', locations: true } as const
    walk(parse(source, options) as unknown as Tree, inside(undefined, true), found)
  } catch (error) {
    // Deep nesting exhausts the stack.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined
    throw error
  }
  const modules = found.modules.map((module) => ({ ...module, isModule: true }))
  if (found.isOpen) return modules
  const unknown = new Map<string, UnknownName>()
  for (const { name, line, scope } of found.used)
    if (!unknown.has(name) && !CODE_GLOBALS.has(name) && !found.allowed.has(name) && !isDeclared(name, scope))
      unknown.set(name, { name, line, isModule: false })
  return [...modules, ...unknown.values()]
}
