import type { Ast } from '#model/cel-ast'
import { parseCel } from '#model/cel-parser'
import { ExpressionFailure } from '#model/expression-failure'
import type { Conditions, Literal, Operator, Row } from '../fields/conditions.ts'

/** Converts an expression to rows; returns null if rows cannot express it. */
export function readConditions(cel: string): Conditions | null {
  if (cel.trim() === 'true') return { join: '&&', rows: [] }
  let tree: Ast
  try {
    tree = parseCel(cel)
  } catch (error) {
    if (error instanceof ExpressionFailure) return null
    throw error
  }
  const join = tree.op === '||' ? '||' : '&&'
  const rows = split(tree, join).map(readRow)
  return rows.every((row) => row !== null) ? { join, rows: rows as Row[] } : null
}

const split = (node: Ast, join: '&&' | '||'): Ast[] =>
  node.op === join ? [...split(node.args[0], join), ...split(node.args[1], join)] : [node]

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '>', '>=', '<', '<='])
const methods: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith'])

function readRow(node: Ast): Row | null {
  if (node.op === '!_') {
    const inner = readRow(node.args)
    return inner?.operator === 'has' ? { ...inner, operator: '!has' } : null
  }
  if (node.op === 'call' && node.args[0] === 'has') return rowOf(node.args[1][0], 'has', null)
  if (node.op === 'rcall' && methods.has(node.args[0])) {
    const [name, receiver, [given]] = node.args
    const value = given && literalOf(given)
    return typeof value === 'string' ? rowOf(receiver, name as Operator, value) : null
  }
  if (!comparisons.has(node.op)) return null
  const [left, right] = node.args as [Ast, Ast]
  const value = literalOf(right)
  return value === undefined ? null : rowOf(left, node.op as Operator, value)
}

const rowOf = (target: Ast | undefined, operator: Operator, value: Literal): Row | null => {
  const field = target && fieldOf(target)
  return field === undefined ? null : { field, operator, value }
}

const literalOf = (node: Ast): Literal | undefined => {
  if (node.op === 'value') return node.args
  return node.op === '-_' && node.args.op === 'value' && typeof node.args.args === 'number'
    ? -node.args.args
    : undefined
}

function fieldOf(node: Ast): string | undefined {
  if (node.op === 'id') return node.args
  if (node.op === '.') {
    const target = fieldOf(node.args[0])
    return target === undefined ? undefined : `${target}.${node.args[1]}`
  }
  if (node.op !== '[]' || node.args[1].op !== 'value') return undefined
  const target = fieldOf(node.args[0])
  const key = node.args[1].args
  return target === undefined || typeof key === 'boolean' || key === null
    ? undefined
    : `${target}[${JSON.stringify(key)}]`
}
