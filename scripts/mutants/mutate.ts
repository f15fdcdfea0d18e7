import { parseSync } from 'oxc-parser'

// Lists the possible small mistakes in a file, and applies one of them.

export type Mutant = { start: number; end: number; text: string; what: string; line: number }

type AstNode = { type: string; start: number; end: number; [field: string]: unknown }

const BINARY: Record<string, string[]> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<'],
  '>': ['>=', '<='],
  '>=': ['>'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
}

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string'

const childrenOf = (node: AstNode): AstNode[] =>
  Object.entries(node).flatMap(([field, value]) => {
    // The compiler checks types, not the tests.
    if (field === 'typeAnnotation' || field === 'returnType' || field === 'typeParameters' || field === 'typeArguments')
      return []
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []
  })

const SKIPPED = /^(TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|Import)/

const isEquality = (operator: string): boolean => operator === '===' || operator === '!=='
const isDecision = (node: AstNode | undefined): boolean =>
  node?.type === 'IfStatement' || node?.type === 'ConditionalExpression'

/** Numbers of at least this value count as sizes and times. */
const MIN_MEASURE = 100

/** Detects constants that are limits of time or size, whose exact value is not a rule. */
const isLimit = (parent: AstNode | undefined): boolean =>
  parent?.type === 'VariableDeclarator' && /^[A-Z_]+$/.test(String((parent.id as { name?: string }).name))

export function mutantsOf(path: string, source: string): Mutant[] {
  const found: Mutant[] = []
  const add = (node: AstNode, text: string, what: string): void => {
    const before = source.slice(node.start, node.end)
    if (before === text) return
    found.push({ start: node.start, end: node.end, text, what, line: source.slice(0, node.start).split('\n').length })
  }
  const textOf = (node: unknown): string => (isNode(node) ? source.slice(node.start, node.end) : '')
  const visit = (node: AstNode, parent: AstNode | undefined, inText = false): void => {
    if (SKIPPED.test(node.type)) return
    switch (node.type) {
      case 'BinaryExpression': {
        const operator = String(node.operator)
        // If the comparison is the whole condition, the mutants `true` and `false` already cover it.
        if (isEquality(operator) && isDecision(parent) && parent?.test === node) break
        for (const other of BINARY[operator] ?? []) {
          add(node, `${textOf(node.left)} ${other} ${textOf(node.right)}`, `${operator} becomes ${other}`)
        }
        break
      }
      case 'LogicalExpression':
        add(node, textOf(node.left), `without "${String(node.operator)} ${textOf(node.right).slice(0, 60)}"`)
        add(node, textOf(node.right), `without "${textOf(node.left).slice(0, 60)} ${String(node.operator)}"`)
        break
      case 'ConditionalExpression':
        add(node, textOf(node.consequent), 'always the first choice')
        add(node, textOf(node.alternate), 'always the second choice')
        break
      case 'IfStatement': {
        const test = node.test as AstNode
        add(test, 'true', `if (${textOf(test).slice(0, 60)}) becomes if (true)`)
        add(test, 'false', `if (${textOf(test).slice(0, 60)}) becomes if (false)`)
        break
      }
      case 'UnaryExpression':
        if (node.operator === '!')
          add(node, textOf(node.argument), `without "!" before ${textOf(node.argument).slice(0, 60)}`)
        break
      case 'Literal':
        if (typeof node.value === 'boolean')
          add(node, String(!node.value), `${String(node.value)} becomes ${String(!node.value)}`)
        if (typeof node.value === 'number' && node.value < MIN_MEASURE && !isLimit(parent) && !inText)
          add(node, String(node.value + 1), `${node.value} becomes ${node.value + 1}`)
        break
      case 'ExpressionStatement':
        if (
          (node.expression as AstNode).type === 'CallExpression' ||
          (node.expression as AstNode).type === 'AssignmentExpression'
        )
          add(node, ';', `without ${textOf(node).slice(0, 60)}`)
        break
    }
    for (const child of childrenOf(node)) visit(child, node, inText || node.type === 'TemplateLiteral')
  }
  visit(parseSync(path, source).program as unknown as AstNode, undefined)
  return found
}

export const mutated = (source: string, { start, end, text }: Mutant): string =>
  source.slice(0, start) + text + source.slice(end)
