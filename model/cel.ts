// CEL, the language of conditions and computed values.
//
// The tree is compiled into closures over a closed table of functions, with a budget on every step. CEL libraries do
// not limit the work, call RegExp with the tenant's pattern, and cannot add an integer to a JSON number.
//
// Intended differences from the standard: all numbers are doubles, as in JSON (`7 / 2` is 3.5, `int()` truncates);
// there are no bytes and no messages; times have milliseconds.

import type { Ast } from './cel-ast.ts'
import { FUNCTIONS, METHODS, NAMESPACES } from './cel-functions.ts'
import { invalid, place } from './cel-lexer.ts'
import { type Macro, macroFor, type Turn, truth } from './cel-macros.ts'
import { optionalOf, readOptional } from './cel-optional.ts'
import { parseCel } from './cel-parser.ts'
import {
  type Budget,
  type CelValue,
  failure,
  isMap,
  type Moment,
  NONE,
  Optional,
  Run,
  readKey,
  toJson,
  typeOf,
} from './cel-runtime.ts'
import {
  access,
  binary,
  choose,
  invoke,
  listOf,
  literal,
  logical,
  mapOf,
  negate,
  not,
  optionalAccess,
  type Step,
} from './cel-steps.ts'
import type { Json } from './definition.ts'
import { isForbiddenKey } from './json.ts'
import { suggestion } from './nearest.ts'

type Names = {
  roots: ReadonlySet<string>
  /** Names that a macro may not bind, because they have another meaning in some expressions. */
  taken: ReadonlySet<string>
  locals: ReadonlyMap<string, number>
  /** The number of variables bound here. A variable that shadows another one with the same name has its own slot. */
  slots: number
  depth: number
}

export type CelProgram = { step: Step }

const MAX_TREE_DEPTH = 200

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'string'],
  ['bool', 'bool'],
  ['int', 'double'],
  ['uint', 'double'],
  ['double', 'double'],
  ['list', 'list'],
  ['map', 'map'],
  ['null_type', 'null_type'],
  ['optional_type', 'optional_type'],
])

/**
 * Compiles an expression. Throws an ExpressionFailure with the position of the error. `taken`: names that no macro may
 * bind; by default the roots.
 */
export const compileCel = (text: string, roots: ReadonlySet<string>, taken?: ReadonlySet<string>): CelProgram =>
  compileTree(parseCel(text), roots, taken)

export const compileTree = (tree: Ast, roots: ReadonlySet<string>, taken: ReadonlySet<string> = roots): CelProgram => ({
  step: compile(tree, { roots, taken, locals: new Map(), slots: 0, depth: 0 }),
})

export function evaluateCel(program: CelProgram, variables: object, budget: Budget, moment?: Moment): Json {
  const run = new Run(variables, budget, moment)
  return toJson(run, program.step(run))
}

function compile(node: Ast, outer: Names): Step {
  if (outer.depth > MAX_TREE_DEPTH) throw invalid('the expression is nested too deeply')
  const names = { ...outer, depth: outer.depth + 1 }
  switch (node.op) {
    case 'value':
      return literal(node.args)
    case 'id':
      return variable(node.args, names, node.start)
    case '.':
      return access(compile(node.args[0], names), literal(fieldName(node.args[1])))
    case '.?':
      return optionalAccess(compile(node.args[0], names), literal(fieldName(node.args[1])))
    case '[]':
      return access(compile(node.args[0], names), compile(node.args[1], names))
    case '[?]':
      return optionalAccess(compile(node.args[0], names), compile(node.args[1], names))
    case 'call':
      return call(node.args[0], node.args[1], names, node.start)
    case 'rcall':
      return method(node.args[0], node.args[1], node.args[2], names, node.start)
    case 'list':
      return listOf(
        node.args.map((item) => compile(item, names)),
        node.optional,
      )
    case 'map':
      return mapOf(
        node.args.map(([key, value]) => [compile(key, names), compile(value, names)]),
        node.optional,
      )
    case '?:':
      return choose(compile(node.args[0], names), compile(node.args[1], names), compile(node.args[2], names))
    case '||':
      return logical(true, compile(node.args[0], names), compile(node.args[1], names))
    case '&&':
      return logical(false, compile(node.args[0], names), compile(node.args[1], names))
    case '!_':
      return not(compile(node.args, names))
    case '-_':
      return negate(compile(node.args, names))
    default: {
      const [left, right] = node.args
      return binary(node.op, compile(left, names), compile(right, names))
    }
  }
}

/** Refuses a forbidden literal key when the expression is saved; a computed key is checked when it is used. */
function fieldName(name: string): string {
  if (isForbiddenKey(name)) throw invalid(`"${name}" is not allowed as a key`)
  return name
}

function variable(name: string, names: Names, start: number): Step {
  const slot = names.locals.get(name)
  if (slot !== undefined) {
    return (run) => {
      run.spend(1)
      return run.slots[slot] as CelValue
    }
  }
  if (names.roots.has(name)) {
    return (run) => {
      run.spend(1)
      const variables = run.variables as Record<string, CelValue | undefined>
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined
      if (value === undefined) throw failure(`"${name}" is not available here`)
      return value
    }
  }
  const type = TYPE_NAMES.get(name)
  if (type !== undefined) return () => type
  const meant = suggestion(name, [...names.locals.keys(), ...names.roots])
  throw invalid(`unknown name "${name}"${place(start)}${meant || `; known are ${[...names.roots].join(', ')}`}`)
}

function call(name: string, args: Ast[], names: Names, start: number): Step {
  if (name === 'has') return has(args, names)
  const target = FUNCTIONS.get(name)
  if (!target) throw invalid(`unknown function ${name}()${place(start)}${suggestion(name, FUNCTIONS.keys())}`)
  if (target.moment && !names.roots.has('execution')) throw invalid(`${name}() is not available here${place(start)}`)
  return invoke(
    target,
    name,
    args.map((arg) => compile(arg, names)),
    start,
  )
}

function has(args: Ast[], names: Names): Step {
  const field = args[0]
  if (args.length !== 1 || (field?.op !== '.' && field?.op !== '.?'))
    throw invalid('has() takes a path, such as has(input.name)')
  const target = compile(field.args[0], names)
  const key = fieldName(field.args[1])
  return (run) => {
    run.spend(1)
    const value = target(run)
    if (value instanceof Optional) return readOptional(value, key).value !== undefined
    return value !== null && readKey(value, key) !== undefined
  }
}

function method(name: string, receiver: Ast, args: Ast[], names: Names, start: number): Step {
  if (receiver.op === 'id' && !names.roots.has(receiver.args) && !names.locals.has(receiver.args)) {
    if (receiver.args === 'cel' && name === 'bind') return bind(args, names)
    const target = NAMESPACES.get(receiver.args)?.get(name)
    if (target) {
      const steps = args.map((arg) => compile(arg, names))
      return invoke(target, `${receiver.args}.${name}`, steps, start)
    }
  }
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2) {
    return optionalMap(name === 'optFlatMap', receiver, args as [Ast, Ast], names)
  }
  const macro = macroFor(name, args.length)
  if (macro) return comprehension(macro, receiver, args, names)
  const target = METHODS.get(name)
  if (!target) throw invalid(`unknown function .${name}()${place(start)}`)
  const steps = [receiver, ...args].map((arg) => compile(arg, names))
  return invoke(target, `.${name}`, steps, start)
}

function withLocal(names: Names, node: Ast | undefined): { names: Names; slot: number } {
  if (node?.op !== 'id') throw invalid('the first argument must be the name of a variable')
  if (names.taken.has(node.args)) {
    throw invalid(`"${node.args}" is taken; use another name for the variable`)
  }
  const slot = names.slots
  return { slot, names: { ...names, slots: slot + 1, locals: new Map([...names.locals, [node.args, slot]]) } }
}

function bind(args: Ast[], names: Names): Step {
  const [name, value, body] = args
  if (!value || !body || args.length !== 3) throw invalid('cel.bind() takes a name, a value and an expression')
  const local = withLocal(names, name)
  const evaluate = compile(value, names)
  const use = compile(body, local.names)
  return (run) => {
    run.spend(1)
    run.slots[local.slot] = evaluate(run)
    return use(run)
  }
}

function optionalMap(flat: boolean, receiver: Ast, [name, body]: [Ast, Ast], names: Names): Step {
  const given = compile(receiver, names)
  const local = withLocal(names, name)
  const use = compile(body, local.names)
  return (run) => {
    run.spend(1)
    const { value } = optionalOf(given(run))
    if (value === undefined) return NONE
    run.slots[local.slot] = value
    return flat ? optionalOf(use(run)) : new Optional(use(run))
  }
}

/**
 * Returns the iterations of a macro. A macro with one variable binds the items of a list or the keys of a map; a macro
 * with two variables binds the key and the value.
 */
function turnsOf(collection: CelValue, names: 1 | 2): Turn[] {
  if (Array.isArray(collection)) return collection.map((item, index) => [index, item])
  if (!isMap(collection)) throw failure(`a list or a map is expected, not a ${typeOf(collection)}`)
  if (names === 2) return Object.entries(collection)
  return Object.keys(collection).map((key) => [key, key])
}

function comprehension(macro: Macro, receiver: Ast, args: Ast[], names: Names): Step {
  const range = compile(receiver, names)
  const first = withLocal(names, args[0])
  const last = macro.names === 2 ? withLocal(first.names, args[1]) : first
  if (macro.names === 2 && (args[0] as Ast).args === (args[1] as Ast).args) {
    throw invalid('the two variables need two names')
  }
  const body = compile(args.at(-1) as Ast, last.names)
  const condition = args.length === macro.names + 2 ? compile(args.at(-2) as Ast, last.names) : undefined
  return (run) => {
    const turns = turnsOf(range(run), macro.names)
    run.spend(turns.length)
    const within = (step: Step) => (turn: Turn) => {
      if (macro.names === 2) run.slots[first.slot] = turn[0]
      run.slots[last.slot] = turn[1]
      return step(run)
    }
    const test = condition ? (turn: Turn) => truth(within(condition)(turn)) : () => true
    return macro.each(run, turns, within(body), test)
  }
}
