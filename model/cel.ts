// CEL, the language of conditions and computed values.
//
// The text is parsed by a library; the tree is compiled here into closures over a closed table of functions, with a
// budget on every step. The library's own evaluator is not used: it has no bound on work, calls RegExp with the
// tenant's pattern, keeps every type it has seen for ever, and does not add an integer to a JSON number.
//
// Differences from the standard, on purpose: all numbers are doubles, as in JSON (`7 / 2` is 3.5, `int()` truncates);
// no bytes, no messages; times are read in UTC.

import type { ASTNode } from '@marcbachmann/cel-js'
import { type CelFunction, FUNCTIONS, MATH, METHODS } from './cel-functions.ts'
import { MACROS, type Macro, truth } from './cel-macros.ts'
import { OPERATIONS, type Operation } from './cel-operators.ts'
import { invalid, parseCel, place } from './cel-parser.ts'
import {
  type Budget,
  BudgetExceeded,
  type CelValue,
  Duration,
  failure,
  isMap,
  mapKey,
  Run,
  readKey,
  toJson,
  typeOf,
} from './cel-runtime.ts'
import type { Json } from './definition.ts'
import { ExpressionFailure } from './expression-failure.ts'
import { isForbiddenKey } from './json.ts'

type Step = (run: Run) => CelValue
type Names = { roots: ReadonlySet<string>; locals: ReadonlyMap<string, number>; depth: number }

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
])

/** Throws an ExpressionFailure that says where the text is wrong. */
export const compileCel = (text: string, roots: ReadonlySet<string>): CelProgram => compileTree(parseCel(text), roots)

export const compileTree = (tree: ASTNode, roots: ReadonlySet<string>): CelProgram => ({
  step: compile(tree, { roots, locals: new Map(), depth: 0 }),
})

export function evaluateCel(program: CelProgram, variables: object, budget: Budget): Json {
  const run = new Run(variables, budget)
  return toJson(run, program.step(run))
}

function compile(node: ASTNode, outer: Names): Step {
  if (outer.depth > MAX_TREE_DEPTH) throw invalid('the expression is nested too deeply')
  const names = { ...outer, depth: outer.depth + 1 }
  switch (node.op) {
    case 'value':
      return literal(node.args)
    case 'id':
      return variable(node.args, names, node.start)
    case '.':
      return access(compile(node.args[0], names), literal(fieldName(node.args[1])))
    case '[]':
      return access(compile(node.args[0], names), compile(node.args[1], names))
    case 'call':
      return call(node.args[0], node.args[1], names, node.start)
    case 'rcall':
      return method(node.args[0], node.args[1], node.args[2], names, node.start)
    case 'list':
      return listOf(node.args.map((item) => compile(item, names)))
    case 'map':
      return mapOf(node.args.map(([key, value]) => [compile(key, names), compile(value, names)]))
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
      if (!OPERATIONS.has(node.op)) throw invalid(`"${node.op}" is not supported`)
      const [left, right] = node.args as [ASTNode, ASTNode]
      return binary(node.op, compile(left, names), compile(right, names))
    }
  }
}

function literal(value: unknown): Step {
  if (typeof value === 'bigint' || (typeof value === 'object' && value !== null && 'value' in value)) {
    const number = Number(typeof value === 'bigint' ? value : (value as { value: bigint }).value)
    if (!Number.isSafeInteger(number)) throw invalid(`${number} is larger than a JSON number can hold exactly`)
    return () => number
  }
  if (value !== null && typeof value === 'object') throw invalid('bytes are not supported')
  const constant = value as CelValue
  return () => constant
}

/** A forbidden key written out is refused when saved; one that is computed is refused when it is used. */
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
  throw invalid(`unknown name "${name}"${place(start)}; known are ${[...names.roots].join(', ')}`)
}

function access(target: Step, key: Step): Step {
  return (run) => {
    run.spend(1)
    const name = key(run)
    const value = readKey(target(run), name)
    if (value === undefined) throw failure(`no such key: ${String(name).slice(0, 60)}; ask with has() first`)
    return value
  }
}

function listOf(items: Step[]): Step {
  return (run) => {
    run.spend(items.length + 1)
    return items.map((item) => item(run))
  }
}

function mapOf(entries: [Step, Step][]): Step {
  return (run) => {
    run.spend(entries.length + 1)
    const result: { [key: string]: CelValue } = {}
    for (const [key, value] of entries) result[mapKey(key(run))] = value(run)
    return result
  }
}

function choose(condition: Step, yes: Step, no: Step): Step {
  return (run) => {
    run.spend(1)
    return truth(condition(run)) ? yes(run) : no(run)
  }
}

/** As CEL says: a side that decides wins over a failure of the other side. A spent budget is never swallowed. */
function logical(deciding: boolean, left: Step, right: Step): Step {
  return (run) => {
    run.spend(1)
    let first: ExpressionFailure | undefined
    try {
      if (truth(left(run)) === deciding) return deciding
    } catch (error) {
      if (!(error instanceof ExpressionFailure) || error instanceof BudgetExceeded) throw error
      first = error
    }
    if (truth(right(run)) === deciding) return deciding
    if (first) throw first
    return !deciding
  }
}

const not =
  (value: Step): Step =>
  (run) => {
    run.spend(1)
    return !truth(value(run))
  }

const negate =
  (value: Step): Step =>
  (run) => {
    run.spend(1)
    const operand = value(run)
    if (typeof operand === 'number') return -operand
    if (operand instanceof Duration) return new Duration(-operand.ms)
    throw failure(`a ${typeOf(operand)} has no negative`)
  }

function binary(op: string, left: Step, right: Step): Step {
  const operate = OPERATIONS.get(op) as Operation
  return (run) => {
    run.spend(1)
    return operate(run, left(run), right(run))
  }
}

function invoke(target: CelFunction, name: string, args: Step[], start: number): Step {
  if (!target.arity.includes(args.length)) throw invalid(`${name}() has the wrong number of arguments${place(start)}`)
  return (run) => {
    run.spend(1)
    return target.call(
      run,
      args.map((arg) => arg(run)),
    )
  }
}

function call(name: string, args: ASTNode[], names: Names, start: number): Step {
  if (name === 'has') return has(args, names)
  const target = FUNCTIONS.get(name)
  if (!target) throw invalid(`unknown function ${name}()${place(start)}`)
  return invoke(
    target,
    name,
    args.map((arg) => compile(arg, names)),
    start,
  )
}

function has(args: ASTNode[], names: Names): Step {
  const field = args[0]
  if (args.length !== 1 || field?.op !== '.') throw invalid('has() takes a path, such as has(input.name)')
  const target = compile(field.args[0], names)
  const key = fieldName(field.args[1])
  return (run) => {
    run.spend(1)
    const value = target(run)
    return value !== null && readKey(value, key) !== undefined
  }
}

function method(name: string, receiver: ASTNode, args: ASTNode[], names: Names, start: number): Step {
  if (receiver.op === 'id' && receiver.args === 'cel' && name === 'bind') return bind(args, names)
  if (receiver.op === 'id' && receiver.args === 'math' && MATH.has(name)) {
    const steps = args.map((arg) => compile(arg, names))
    return invoke(MATH.get(name) as CelFunction, `math.${name}`, steps, start)
  }
  const macro = MACROS.get(name)
  if (macro?.arity.includes(args.length)) return comprehension(macro, receiver, args, names)
  const target = METHODS.get(name)
  if (!target) throw invalid(`unknown function .${name}()${place(start)}`)
  const steps = [receiver, ...args].map((arg) => compile(arg, names))
  return invoke(target, `.${name}`, steps, start)
}

function withLocal(names: Names, node: ASTNode | undefined): { names: Names; slot: number } {
  if (node?.op !== 'id') throw invalid('the first argument must be the name of a variable')
  if (names.roots.has(node.args)) throw invalid(`"${node.args}" is taken; use another name for the variable`)
  const slot = names.locals.size
  return { slot, names: { ...names, locals: new Map([...names.locals, [node.args, slot]]) } }
}

function bind(args: ASTNode[], names: Names): Step {
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

function comprehension(macro: Macro, receiver: ASTNode, args: ASTNode[], names: Names): Step {
  const range = compile(receiver, names)
  const local = withLocal(names, args[0])
  const body = compile(args.at(-1) as ASTNode, local.names)
  const condition = args.length === 3 ? compile(args[1] as ASTNode, local.names) : undefined
  return (run) => {
    const collection = range(run)
    const items = Array.isArray(collection) ? collection : isMap(collection) ? Object.keys(collection) : undefined
    if (!items) throw failure(`a list or a map is expected, not a ${typeOf(collection)}`)
    run.spend(items.length)
    const within = (step: Step) => (item: CelValue) => {
      run.slots[local.slot] = item
      return step(run)
    }
    return macro.each(within(body), items, condition ? (item) => truth(within(condition)(item)) : () => true)
  }
}
