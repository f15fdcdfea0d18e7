import type { Ast } from './cel-ast.ts'

// Facts about an expression that its tree shows without evaluation.

/** Returns the parts of `target.key`, `target?.key`, and `target["key"]` with a literal key. */
export function memberOf(node: Ast): { target: Ast; key: string } | undefined {
  if (node.op === '.' || node.op === '.?') return { target: node.args[0], key: node.args[1] }
  if ((node.op === '[]' || node.op === '[?]') && node.args[1].op === 'value' && typeof node.args[1].args === 'string') {
    return { target: node.args[0], key: node.args[1].args }
  }
  return undefined
}

/** Returns the child nodes. Arguments contain nodes, lists of nodes and pairs of nodes, besides names and literals. */
export function children(node: Ast): Ast[] {
  const isNode = (value: unknown): value is Ast => typeof value === 'object' && value !== null && 'op' in value
  const found: Ast[] = []
  const collect = (value: unknown): void => {
    if (isNode(value)) found.push(value)
    else if (Array.isArray(value)) for (const item of value) collect(item)
  }
  if (node.op !== 'value') collect(node.args)
  return found
}
