import type { Node } from 'oxc-parser'
import { type Binding, type FunctionNode, isFunction, type Module, type Modules } from './modules.ts'

type Call = { module: Module; node: Extract<Node, { type: 'CallExpression' }> }

/** Finds the calls of a function by its name, in all files. */
export class Calls {
  private readonly modules: Modules
  private readonly files: string[]
  private readonly calls = new Map<FunctionNode, Call[]>()
  private byName: Map<string, Call[]> | undefined

  constructor(modules: Modules, files: string[]) {
    this.modules = modules
    this.files = files
  }

  of(fn: FunctionNode, module: Module): Call[] {
    let found = this.calls.get(fn)
    if (found === undefined) {
      const parent = module.parents.get(fn)
      const id = fn.type === 'FunctionDeclaration' ? fn.id : parent?.type === 'VariableDeclarator' ? parent.id : null
      const named = id?.type === 'Identifier' ? (this.all().get(id.name) ?? []) : []
      found = named.filter((call) => this.calleeOf(call.module, call.node) === fn)
      this.calls.set(fn, found)
    }
    return found
  }

  private all(): Map<string, Call[]> {
    if (this.byName === undefined) {
      const calls = this.files.flatMap((file) => {
        const module = this.modules.at(file)
        return [...module.parents.keys()].flatMap((node) => (node.type === 'CallExpression' ? [{ module, node }] : []))
      })
      this.byName = Map.groupBy(calls, ({ node: { callee } }) => nameOf(callee))
    }
    return this.byName
  }

  private calleeOf(module: Module, { callee }: Extract<Node, { type: 'CallExpression' }>): FunctionNode | undefined {
    let binding: Binding | undefined
    if (callee.type === 'Identifier') binding = this.modules.find(module, callee, callee.name)
    else if (
      callee.type === 'MemberExpression' &&
      callee.object.type === 'Identifier' &&
      callee.property.type === 'Identifier'
    ) {
      const space = this.modules.find(module, callee.object, callee.object.name)
      if (space?.kind === 'namespace') binding = this.modules.exported(space.module, callee.property.name)
    }
    return binding?.kind === 'function' && isFunction(binding.node) ? binding.node : undefined
  }
}

const nameOf = (callee: Node): string => {
  if (callee.type === 'Identifier') return callee.name
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier' ? callee.property.name : ''
}
