import type { Node } from 'oxc-parser'
import { Calls } from './calls.ts'
import type { Binding, FunctionNode, Module, Modules } from './modules.ts'
import {
  type At,
  along,
  asArray,
  type Choices,
  type Closure,
  type Fields,
  type Frame,
  isUnknown,
  keysOf,
  propertyOf,
  separatorOf,
  textOf,
  Unresolved,
  type Value,
} from './values.ts'

// Determines the possible texts of an expression without running it. If the text depends on a condition, both branches
// are evaluated, and the same condition has the same value everywhere. If it depends on a parameter, every call of the
// function is evaluated.

class NeedsChoice extends Error {
  readonly key: string
  readonly options: number
  constructor(key: string, options: number) {
    super(key)
    this.key = key
    this.options = options
  }
}
class NeedsCall extends Error {
  readonly fn: FunctionNode
  readonly module: Module
  constructor(fn: FunctionNode, module: Module) {
    super('a parameter')
    this.fn = fn
    this.module = module
  }
}

const MAX_TEXTS = 512
const MAX_ATTEMPTS = 5_000
const MAX_CALLS = 6

export class Evaluator {
  private readonly modules: Modules
  private readonly calls: Calls

  constructor(modules: Modules, files: string[]) {
    this.modules = modules
    this.calls = new Calls(modules, files)
  }

  /** Returns every text that the expression can have, and the reasons why other texts are unknown. */
  textsOf(module: Module, node: Node): { texts: Set<string>; unresolved: Set<string> } {
    const texts = new Set<string>()
    const unresolved = new Set<string>()
    const waiting: { frames: Frame[]; choices: Choices }[] = [{ frames: [], choices: new Map() }]
    let attempts = 0
    for (let one = waiting.pop(); one; one = waiting.pop()) {
      attempts += 1
      if (texts.size + waiting.length > MAX_TEXTS || attempts > MAX_ATTEMPTS) {
        unresolved.add('too many variants')
        break
      }
      try {
        const value = this.value({ module, ...one }, node)
        if (value === undefined) continue
        texts.add(textOf(value))
      } catch (error) {
        if (error instanceof NeedsChoice) {
          for (let option = error.options - 1; option >= 0; option -= 1)
            waiting.push({ ...one, choices: new Map(one.choices).set(error.key, option) })
        } else if (error instanceof NeedsCall) {
          if (one.frames.length >= MAX_CALLS) unresolved.add('calls within calls')
          else
            for (const frame of this.framesOf(error.fn, error.module))
              waiting.push({ ...one, frames: [...one.frames, frame] })
        } else if (error instanceof Unresolved) unresolved.add(error.message)
        else throw error
      }
    }
    return { texts, unresolved }
  }

  private value(at: At, node: Node): Value {
    switch (node.type) {
      case 'Literal':
        return node.value as Value
      case 'TemplateLiteral':
        return node.quasis
          .map(({ value }, index) => {
            const inside = node.expressions[index]
            return (value.cooked ?? '') + (inside ? textOf(this.value(at, inside)) : '')
          })
          .join('')
      case 'BinaryExpression': {
        const [left, right] = [this.value(at, node.left), this.value(at, node.right)]
        if (node.operator === '+')
          return typeof left === 'number' && typeof right === 'number' ? left + right : textOf(left) + textOf(right)
        if (typeof left === 'number' && typeof right === 'number') {
          if (node.operator === '*') return left * right
          if (node.operator === '/') return left / right
          if (node.operator === '-') return left - right
        }
        if (node.operator === '===') return left === right
        if (node.operator === '!==') return left !== right
        throw new Unresolved(`operator ${node.operator}`)
      }
      case 'ConditionalExpression':
        return this.value(at, this.truth(at, node.test) ? node.consequent : node.alternate)
      case 'LogicalExpression': {
        if (node.operator === '??') {
          const left = this.chosen(at, node.left)
          return left.known ? (left.value ?? this.value(at, node.right)) : this.value(at, node.right)
        }
        const isTrue = this.truth(at, node.left)
        if (node.operator === '&&') return isTrue ? this.value(at, node.right) : false
        return isTrue ? this.value(at, node.left) : this.value(at, node.right)
      }
      case 'UnaryExpression':
        if (node.operator === '!') return !this.truth(at, node.argument)
        throw new Unresolved(`operator ${node.operator}`)
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'ParenthesizedExpression':
      case 'ChainExpression':
        return this.value(at, node.expression)
      case 'ArrayExpression':
        return node.elements.flatMap((element) => {
          if (!element) return [undefined]
          if (element.type !== 'SpreadElement') {
            const item = this.chosen(at, element)
            return [item.known ? item.value : { unknown: item.reason }]
          }
          return asArray(this.value(at, element.argument))
        })
      case 'ObjectExpression':
        return this.fieldsOf(at, node)
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
        return { fn: node, module: at.module, frames: at.frames }
      case 'Identifier':
        return node.name === 'undefined' ? undefined : this.bound(at, node, node.name)
      case 'MemberExpression':
        return this.member(at, node)
      case 'CallExpression':
        return this.call(at, node)
      default:
        throw new Unresolved(node.type)
    }
  }

  private chosen(at: At, node: Node): { known: true; value: Value } | { known: false; reason: string } {
    try {
      return { known: true, value: this.value(at, node) }
    } catch (error) {
      if (error instanceof Unresolved) return { known: false, reason: error.message }
      throw error
    }
  }

  /**
   * Returns the value of a condition if it is known. Otherwise chooses one of the two values, the same for every
   * occurrence of the condition.
   */
  private truth(at: At, test: Node): boolean {
    if (test.type === 'UnaryExpression' && test.operator === '!') return !this.truth(at, test.argument)
    const known = this.chosen(at, test)
    if (known.known && !isUnknown(known.value)) return Boolean(known.value)
    return this.choose(at, `${at.module.file} ${at.module.source.slice(test.start, test.end)}`, 2) === 1
  }

  private choose(at: At, key: string, options: number): number {
    const chosen = at.choices.get(key)
    if (chosen === undefined) throw new NeedsChoice(key, options)
    return chosen
  }

  private bound(at: At, node: Node, name: string): Value {
    const binding = this.modules.find(at.module, node, name)
    if (!binding) throw new Unresolved(name)
    return this.valueOf(at, binding, name)
  }

  private valueOf(at: At, binding: Binding, name: string): Value {
    const inside = { ...at, module: binding.module }
    if (binding.kind === 'value') return along(this.value(inside, binding.node), binding.path)
    if (binding.kind === 'item') {
      const list = asArray(this.value(inside, binding.node))
      const key = `${binding.module.file} ${binding.node.start}`
      return along(list[this.choose(at, key, list.length)], binding.path)
    }
    if (binding.kind === 'function') return { fn: binding.node, module: binding.module, frames: at.frames }
    if (binding.kind !== 'parameter') throw new Unresolved(name)
    const frame = at.frames.findLast(({ fn }) => fn === binding.fn)
    if (!frame && this.calls.of(binding.fn, binding.module).length === 0) throw new Unresolved(`the parameter ${name}`)
    if (!frame) throw new NeedsCall(binding.fn, binding.module)
    // The parameters of a caller come from the calls of that caller.
    const given = frame.args[binding.index]?.({ ...at, frames: at.frames.filter((each) => each !== frame) })
    const value = along(given, binding.path)
    if (value === undefined && binding.fallback) return this.value(inside, binding.fallback)
    return value
  }

  private fieldsOf(at: At, node: Extract<Node, { type: 'ObjectExpression' }>): Fields {
    const fields = new Map<string, () => Value>()
    for (const property of node.properties) {
      if (property.type === 'SpreadElement') {
        const spread = this.value(at, property.argument)
        if (typeof spread === 'object' && spread !== null && 'fields' in spread)
          for (const [key, value] of spread.fields) fields.set(key, value)
        else if (spread) throw new Unresolved('a spread')
        continue
      }
      const key =
        property.key.type === 'Identifier' ? property.key.name : String((property.key as { value?: unknown }).value)
      fields.set(key, () => this.value(at, property.value))
    }
    return { fields }
  }

  private member(at: At, node: Extract<Node, { type: 'MemberExpression' }>): Value {
    if (node.object.type === 'Identifier') {
      const binding = this.modules.find(at.module, node.object, node.object.name)
      if (binding?.kind === 'namespace' && node.property.type === 'Identifier') {
        const target = this.modules.exported(binding.module, node.property.name)
        if (target) return this.valueOf(at, target, node.property.name)
      }
    }
    const object = this.value(at, node.object)
    if (object === undefined || object === null) return undefined
    if (!node.computed && node.property.type === 'Identifier') return propertyOf(object, node.property.name)
    const key = this.chosen(at, node.property)
    if (key.known) return propertyOf(object, String(key.value))
    const keys = keysOf(object)
    const text = `${at.module.file} ${at.module.source.slice(node.property.start, node.property.end)} of ${keys.join()}`
    return propertyOf(object, keys[this.choose(at, text, keys.length)]!)
  }

  private call(at: At, node: Extract<Node, { type: 'CallExpression' }>): Value {
    const args = node.arguments.map((argument) => () => {
      if (argument.type === 'SpreadElement') throw new Unresolved('a spread argument')
      return this.value(at, argument)
    })
    const { callee } = node
    if (callee.type === 'MemberExpression' && !callee.computed && callee.property.type === 'Identifier') {
      const method = callee.property.name
      if (callee.object.type === 'Identifier' && callee.object.name === 'Object') {
        const keys = keysOf(args[0]!())
        if (method === 'keys') return keys
        if (method === 'values') return keys.map((key) => propertyOf(args[0]!(), key))
        if (method === 'entries') return keys.map((key) => [key, propertyOf(args[0]!(), key)])
      }
      const builtin = this.method(at, method, callee.object, args)
      if (builtin) return builtin.value
    }
    const fn = this.value(at, callee)
    if (typeof fn !== 'object' || fn === null || !('fn' in fn)) throw new Unresolved('a call')
    return this.apply(at, fn, args)
  }

  private method(at: At, method: string, object: Node, args: (() => Value)[]): { value: Value } | undefined {
    const closure = (): Closure => {
      const fn = args[0]!()
      if (typeof fn !== 'object' || fn === null || !('fn' in fn)) throw new Unresolved(method)
      return fn
    }
    const each = (list: Value[]): Value[] =>
      list.map((item, index) => this.apply(at, closure(), [() => item, () => index]))
    switch (method) {
      case 'map':
        return { value: each(asArray(this.value(at, object))) }
      case 'flatMap':
        return { value: each(asArray(this.value(at, object))).flat() as Value[] }
      case 'filter': {
        const list = asArray(this.value(at, object))
        const kept = each(list)
        return { value: list.filter((_, index) => Boolean(kept[index])) }
      }
      case 'join':
        return {
          value: asArray(this.value(at, object))
            .map(textOf)
            .join(args[0] ? textOf(args[0]()) : ','),
        }
      case 'replace':
      case 'replaceAll': {
        const [text, from, to] = [this.value(at, object), args[0]!(), args[1]!()]
        if (typeof text !== 'string' || typeof from !== 'string' || typeof to !== 'string') throw new Unresolved(method)
        return { value: method === 'replace' ? text.replace(from, () => to) : text.replaceAll(from, () => to) }
      }
      case 'split':
        return { value: textOf(this.value(at, object)).split(separatorOf(args[0]!())) }
      case 'trim':
        return { value: textOf(this.value(at, object)).trim() }
      default:
        return undefined
    }
  }

  private apply(at: At, { fn, module, frames }: Closure, args: (() => Value)[]): Value {
    const inside: At = { module, frames: [...frames, { fn, args }], choices: at.choices }
    if (frames.length > 40) throw new Unresolved('calls within calls')
    const body = fn.body as Node
    if (body.type !== 'BlockStatement') return this.value(inside, body)
    return this.run(inside, body.body as Node[])
  }

  private run(at: At, statements: Node[]): Value {
    for (const statement of statements) {
      if (statement.type === 'ReturnStatement')
        return statement.argument ? this.value(at, statement.argument) : undefined
      if (statement.type === 'IfStatement') {
        const taken = this.truth(at, statement.test) ? statement.consequent : statement.alternate
        if (!taken) continue
        const value = this.run(at, taken.type === 'BlockStatement' ? (taken.body as Node[]) : [taken])
        if (value !== undefined) return value
        continue
      }
      if (statement.type !== 'VariableDeclaration') throw new Unresolved(statement.type)
    }
    return undefined
  }

  /** Returns every call of the function that can be found by its name. */
  private framesOf(fn: FunctionNode, module: Module): Frame[] {
    return this.calls.of(fn, module).map(({ module: from, node }) => ({
      fn,
      args: node.arguments.map((argument) => (at: At) => {
        if (argument.type === 'SpreadElement') throw new Unresolved('a spread argument')
        return this.value({ ...at, module: from }, argument)
      }),
    }))
  }
}
