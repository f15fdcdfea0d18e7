import { asTime, NOW, TODAY, timeMember } from './dates.ts'
import { functionCall, libraryCall } from './functions.ts'
import { type Js, NotConvertible } from './js-ast.ts'
import { parseJs } from './js-parser.ts'
import { type Convert, methodOf } from './methods.ts'
import { binaryOf, unaryOf } from './operators.ts'
import {
  asItem,
  asItems,
  celOut,
  fieldsOut,
  member,
  NULL,
  type Out,
  pathOut,
  quote,
  textOf,
  textOut,
  truth,
  type View,
} from './out.ts'
import type { Scope } from './scope.ts'

type Locals = ReadonlyMap<string, Out>

const TAKEN = new Set([
  'input',
  'item',
  'index',
  'nodes',
  'execution',
  'vars',
  'state',
  'turn',
  'callbacks',
  'x',
  'v',
  'k',
  'type',
  'size',
  'string',
  'int',
  'double',
  'list',
  'map',
  'math',
  'json',
  'url',
  'in',
  'as',
  'for',
  'if',
  'let',
  'var',
  'now',
  'has',
  'all',
  'cel',
])

class Translator {
  private readonly scope: Scope
  private readonly locals: Locals

  constructor(scope: Scope, locals: Locals) {
    this.scope = scope
    this.locals = locals
  }

  private readonly convert: Convert = Object.assign((js: Js): Out => this.translate(js), {
    inside: (list: Out, js: Js | undefined) => this.inside(list, js),
  })

  private inside(list: Out, js: Js | undefined): { names: string[]; body: Out } {
    if (js?.kind !== 'function' || js.params.length === 0 || js.params.length > 2)
      throw new NotConvertible('a function is passed by name instead of inline')
    const names = js.params.map((name) =>
      TAKEN.has(name) || !/^[A-Za-z_]\w*$/.test(name) ? `${name.replaceAll(/\W/g, '')}_` : name,
    )
    const element: Out = { cel: names[0]!, type: 'any', ...(list.holds === 'items' && { holds: 'item' as const }) }
    const locals = new Map([...this.locals, [js.params[0]!, element]])
    if (names[1] !== undefined) locals.set(js.params[1]!, celOut(names[1], 'number'))
    return { names, body: new Translator(this.scope, locals).translate(js.body) }
  }

  translate(js: Js): Out {
    switch (js.kind) {
      case 'literal':
        return literalOut(js.value)
      case 'template':
        return celOut(
          joined(
            js.texts.flatMap((text, at) =>
              [text === '' ? [] : [quote(text)], js.parts[at] ? [textOf(this.translate(js.parts[at]))] : []].flat(),
            ),
          ),
          'text',
        )
      case 'name':
        return this.named(js.name)
      case 'member':
        return this.member(js.object, js.key)
      case 'index':
        return this.indexed(js.object, js.index)
      case 'call':
        return this.call(js.callee, js.args)
      case 'new':
        return this.made(js.callee, js.args)
      case 'unary':
        return unaryOf(js.operator, js.operand, this.convert)
      case 'binary':
        return binaryOf(js.operator, js.left, js.right, this.convert)
      case 'choice': {
        const [yes, no] = [this.translate(js.yes), this.translate(js.no)]
        return celOut(
          `(${truth(this.translate(js.test))} ? ${yes.cel} : ${no.cel})`,
          yes.type === no.type ? yes.type : 'any',
        )
      }
      case 'list':
        return celOut(`[${js.items.map((item) => this.translate(item).cel).join(', ')}]`, 'list')
      case 'object':
        return fieldsOut(Object.fromEntries(js.entries.map(({ key, value }) => [key, this.translate(value)])))
      case 'regex':
        throw new NotConvertible('a regular expression is used as a value')
      case 'function':
        throw new NotConvertible('a function is used as a value')
    }
  }

  private named(name: string): Out {
    const local = this.locals.get(name)
    if (local) return local
    switch (name) {
      case '$json':
        return this.scope.input.paired()
      case '$data':
        return this.scope.input.paired()
      case '$input':
        return { ...NULL, view: this.scope.input }
      case '$binary':
        return member(this.scope.input.paired(), 'binary')
      case '$now':
        return NOW
      case '$today':
        return TODAY
      case '$itemIndex':
        return this.scope.index
      case '$runIndex':
        return celOut('0', 'number')
      case '$node':
      case '$items':
      case '$workflow':
      case '$execution':
      case '$vars':
      case '$env':
      case 'JSON':
      case 'Math':
      case 'Object':
      case 'Number':
      case 'Array':
      case 'Date':
      case 'DateTime':
        throw new NotConvertible(`${name} is used as a value`)
      default:
        throw new NotConvertible(
          name.startsWith('$')
            ? `${name.slice(0, 40)} has no counterpart`
            : `the name "${name.slice(0, 40)}" is not known`,
        )
    }
  }

  private member(object: Js, key: string | number): Out {
    if (object.kind === 'name' && !this.locals.has(object.name)) {
      const special = this.special(object.name, String(key))
      if (special) return special
    }
    const of = this.translate(object)
    if (of.view) return viewMember(of.view, String(key))
    if (key === 'length') return celOut(`size(${of.type === 'text' ? of.cel : of.path ? of.cel : of.cel})`, 'number')
    if (of.type === 'time' && typeof key === 'string') return timeMember(of, key)
    return member(of, key)
  }

  private special(name: string, key: string): Out | undefined {
    if (name === '$node') return { ...NULL, view: this.scope.node(key) }
    if (name === '$vars') return pathOut(['vars', key])
    if (name === '$env') {
      this.scope.remark(`$env.${key.slice(0, 60)} is read from the variable ${key.slice(0, 60)} of the workspace`)
      return pathOut(['vars', key])
    }
    if (name === '$execution' && key === 'id') return pathOut(['execution', 'execution_id'], 'text')
    if (name === '$workflow' && key === 'name') return textOut(this.scope.workflowName)
    if (name === '$workflow' && key === 'id') return pathOut(['execution', 'workflow_id'], 'text')
    if (['$execution', '$workflow', '$prevNode', '$parameter', '$secrets', '$nodeVersion'].includes(name))
      throw new NotConvertible(`${name}.${key.slice(0, 40)} has no counterpart`)
    return undefined
  }

  private indexed(object: Js, index: Js): Out {
    if (object.kind === 'name' && object.name === '$node') throw new NotConvertible('the name of a node is computed')
    const of = this.translate(object)
    const at = this.translate(index)
    const found = celOut(`${of.cel}[?${at.cel}].orValue(null)`)
    return of.holds === 'items' ? asItem(found) : found
  }

  private call(callee: Js, args: Js[]): Out {
    if (callee.kind === 'name') return functionCall(callee.name, args, this.scope, this.convert)
    if (callee.kind !== 'member' || typeof callee.key !== 'string') throw new NotConvertible('a function is computed')
    const { object, key } = callee
    if (object.kind === 'regex' && key === 'test' && args[0])
      return methodOf(this.translate(args[0]), 'test', [object], this.convert)
    if (object.kind === 'name' && !this.locals.has(object.name)) {
      const found = libraryCall(object.name, key, args, this.convert)
      if (found) return found
    }
    const of = this.translate(object)
    if (of.view) return viewCall(of.view, key, args)
    return methodOf(of, key, args, this.convert)
  }

  private made(callee: Js, args: Js[]): Out {
    const isSet = callee.kind === 'name' && callee.name === 'Set' && args[0]
    if (isSet) return celOut(`${this.translate(args[0]!).cel}.distinct()`, 'list')
    if (callee.kind !== 'name' || callee.name !== 'Date' || args.length > 1)
      throw new NotConvertible('"new" has no counterpart')
    return args[0] ? asTime(this.translate(args[0])) : NOW
  }
}

const literalOut = (value: string | number | boolean | null): Out => {
  if (typeof value === 'string') return textOut(value)
  if (typeof value === 'number') return celOut(String(value), 'number')
  return celOut(String(value), typeof value === 'boolean' ? 'bool' : 'any')
}

const joined = (parts: string[]): string => (parts.length === 0 ? '""' : parts.join(' + '))

function viewMember(view: View, key: string): Out {
  if (key === 'item') return asItem(view.paired())
  if (key === 'json') return view.paired()
  if (key === 'binary') return member(view.paired(), 'binary')
  if (key === 'isExecuted' && view.ran) return view.ran
  throw new NotConvertible(`it reads "${key.slice(0, 40)}" of a node`)
}

function viewCall(view: View, key: string, args: Js[]): Out {
  const plain = args.length === 0 || args.every((js) => js.kind === 'literal' && (js.value === 0 || js.value === null))
  if (key === 'first' && plain) return asItem(view.one ?? member(view.list, 0))
  if (key === 'last' && plain) return asItem(view.one ?? celOut(`${view.list.cel}.last().orValue(null)`))
  if (key === 'all' && plain) return asItems(view.list)
  if (key === 'itemMatching' && args[0]?.kind === 'literal' && args[0].value === 0) return asItem(member(view.list, 0))
  if (key === 'itemMatching' && args[0]?.kind === 'name' && args[0].name === '$itemIndex') return asItem(view.paired())
  throw new NotConvertible(`${key.slice(0, 40)}() of a node has no counterpart`)
}

/**
 * A value that a model fills in. Its description may contain quotes that end the text too early; n8n reads only the
 * name.
 */
const FILLED = /^(?:\/\*[^*]*\*\/)?\s*\$fromAI\(\s*(['"`])([^'"`]+)\1[\s\S]*\)$/

export function translate(source: string, scope: Scope): Out {
  const [, , name] = FILLED.exec(source.trim()) ?? []
  if (name !== undefined && scope.filledByModel && !/\)\s*[.+?&|]/.test(source)) return scope.filledByModel(name)
  return new Translator(scope, new Map()).translate(parseJs(source))
}
