import {
  type ArrowFunctionExpression,
  type Function as FunctionLike,
  type Node,
  type Program,
  parseSync,
} from 'oxc-parser'
import { pathOf } from '../imports.ts'

// The modules of the program as syntax trees in which names can be resolved to their declarations.

export type Module = { file: string; source: string; program: Program; parents: Map<Node, Node> }

/** The declaration of a name. */
export type Binding =
  | { kind: 'value'; node: Node; module: Module; path: string[] }
  /** One of the items of a list. */
  | { kind: 'item'; node: Node; module: Module; path: string[] }
  | { kind: 'function'; node: FunctionNode; module: Module }
  | { kind: 'parameter'; fn: FunctionNode; module: Module; index: number; path: string[]; fallback: Node | null }
  | { kind: 'type'; node: Node; module: Module }
  | { kind: 'namespace'; module: Module }

/** Values and types have separate name spaces, because a schema and its type have the same name. */
type Space = 'value' | 'type'

export type FunctionNode = ArrowFunctionExpression | FunctionLike

export const isFunction = (node: Node | null | undefined): node is FunctionNode =>
  node?.type === 'FunctionDeclaration' ||
  node?.type === 'FunctionExpression' ||
  node?.type === 'ArrowFunctionExpression'

export function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

export function* walk(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) yield* walk(child)
}

export class Modules {
  private readonly parsed = new Map<string, Module>()
  private readonly sources: Map<string, string>

  constructor(sources: Map<string, string>) {
    this.sources = sources
  }

  at(file: string): Module {
    let module = this.parsed.get(file)
    if (!module) {
      const source = this.sources.get(file) ?? ''
      const { program } = parseSync(file, source)
      const parents = new Map<Node, Node>()
      for (const node of walk(program)) for (const child of childrenOf(node)) parents.set(child, node)
      module = { file, source, program, parents }
      this.parsed.set(file, module)
    }
    return module
  }

  /** Returns the module that an import names. Undefined for a package. */
  imported(from: Module, specifier: string): Module | undefined {
    const path = pathOf(from.file, specifier)
    const file = path && ['', '.ts', '.tsx'].map((ending) => path + ending).find((each) => this.sources.has(each))
    return file === undefined ? undefined : this.at(file)
  }

  /** Returns the declaration of `name` that is visible from `node`. */
  find(module: Module, node: Node, name: string, space: Space = 'value'): Binding | undefined {
    for (let scope: Node | undefined = node; scope; scope = module.parents.get(scope)) {
      if (isFunction(scope)) {
        const found = parameterNamed(module, scope, name)
        if (found) return found
      }
      if (scope.type === 'ForOfStatement' && scope.left.type === 'VariableDeclaration') {
        const found = inPattern(scope.left.declarations[0]!.id, name, [])
        if (found) return { kind: 'item', node: scope.right, module, path: found.path }
      }
      if (scope.type === 'BlockStatement' || scope.type === 'Program') {
        const found = this.declared(module, scope.body as Node[], name, space)
        if (found) return found
      }
    }
    return undefined
  }

  exported(module: Module, name: string, space: Space = 'value'): Binding | undefined {
    return this.declared(module, module.program.body as Node[], name, space)
  }

  private declared(module: Module, body: Node[], name: string, space: Space): Binding | undefined {
    for (const statement of body) {
      const declaration: Node | null =
        statement.type === 'ExportNamedDeclaration' ? ((statement.declaration as Node | null) ?? null) : statement
      if (statement.type === 'ImportDeclaration') {
        const found = this.importedName(module, statement, name, space)
        if (found) return found
      }
      if (declaration === null) continue
      if (space === 'value' && declaration.type === 'VariableDeclaration') {
        for (const { id, init } of declaration.declarations) {
          const found = init && inPattern(id, name, [])
          if (!init || !found) continue
          return isFunction(init)
            ? { kind: 'function', node: init, module }
            : { kind: 'value', node: init, module, path: found.path }
        }
      }
      if (declaration.type === 'FunctionDeclaration' && declaration.id?.name === name)
        return { kind: 'function', node: declaration, module }
      if (space === 'type' && declaration.type === 'TSTypeAliasDeclaration' && declaration.id.name === name)
        return { kind: 'type', node: declaration.typeAnnotation, module }
    }
    return undefined
  }

  private importedName(
    module: Module,
    statement: Extract<Node, { type: 'ImportDeclaration' }>,
    name: string,
    space: Space,
  ): Binding | undefined {
    for (const specifier of statement.specifiers) {
      if (specifier.local.name !== name) continue
      const target = this.imported(module, statement.source.value)
      if (!target) return undefined
      if (specifier.type === 'ImportNamespaceSpecifier') return { kind: 'namespace', module: target }
      if (specifier.type !== 'ImportSpecifier') return undefined
      const { imported } = specifier
      return this.exported(target, imported.type === 'Identifier' ? imported.name : String(imported.value), space)
    }
    return undefined
  }
}

function parameterNamed(module: Module, fn: FunctionNode, name: string): Binding | undefined {
  const parameters = fn.params as Node[]
  for (const [index, parameter] of parameters.entries()) {
    const found = inPattern(parameter, name, [])
    if (found) return { kind: 'parameter', fn, module, index, ...found }
  }
  return undefined
}

/** Returns the properties that lead from the argument to the name. */
function inPattern(pattern: Node, name: string, path: string[]): { path: string[]; fallback: Node | null } | undefined {
  if (pattern.type === 'AssignmentPattern') {
    const found = inPattern(pattern.left, name, path)
    return found && { ...found, fallback: found.path.length === path.length ? pattern.right : found.fallback }
  }
  if (pattern.type === 'Identifier') return pattern.name === name ? { path, fallback: null } : undefined
  if (pattern.type === 'ArrayPattern') {
    for (const [index, element] of pattern.elements.entries()) {
      const found = element && inPattern(element as Node, name, [...path, String(index)])
      if (found) return found
    }
  }
  if (pattern.type !== 'ObjectPattern') return undefined
  for (const property of pattern.properties) {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') continue
    const found = inPattern(property.value, name, [...path, property.key.name])
    if (found) return found
  }
  return undefined
}
