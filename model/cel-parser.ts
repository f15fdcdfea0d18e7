import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import { ExpressionFailure } from './expression-failure.ts'

const MAX_EXPRESSION_LENGTH = 4_096

const parser = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: false,
  limits: { maxAstNodes: 2_000, maxDepth: 60, maxListElements: 1_000, maxMapEntries: 500, maxCallArguments: 8 },
})

export const invalid = (message: string): ExpressionFailure => new ExpressionFailure('expression_invalid', message)

export function parseCel(text: string): ASTNode {
  if (text.length > MAX_EXPRESSION_LENGTH) {
    throw invalid(`an expression has at most ${MAX_EXPRESSION_LENGTH} characters`)
  }
  // The parser recurses once per unary operator without counting it.
  if (/[!-](\s*[!-]){50}/.test(text)) throw invalid('too many unary operators in a row')
  try {
    return parser.parse(text).ast
  } catch (error) {
    if (error instanceof ParseError) throw invalid(`${error.summary}${place(error.range?.start)}`)
    if (error instanceof RangeError) throw invalid('the expression is nested too deeply')
    throw invalid(error instanceof Error ? error.message : 'not understood')
  }
}

export const place = (start: number | undefined): string => (start === undefined ? '' : ` (at character ${start + 1})`)
