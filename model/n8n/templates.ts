import type { Json } from '../definition.ts'
import { translate } from './expressions.ts'
import { celOut, type Out, quote, textOf, textOut, toValue } from './out.ts'
import { piecesOf } from './pieces.ts'
import type { Scope } from './scope.ts'

export const isExpressionText = (value: unknown): value is string => typeof value === 'string' && value.startsWith('=')

/** Converts a parameter of n8n to one value. */
export function outOf(value: string, scope: Scope): Out {
  if (!isExpressionText(value)) return textOut(value)
  const pieces = piecesOf(value.slice(1))
  const expressions = pieces.flatMap((piece) => ('source' in piece && piece.source !== '' ? [piece.source] : []))
  const isAlone = expressions.length === 1 && pieces.every((piece) => 'source' in piece || piece.text.trim() === '')
  if (isAlone) return translate(expressions[0]!, scope)
  const parts = pieces.flatMap((piece) =>
    'text' in piece ? [quote(piece.text)] : piece.source === '' ? [] : [textOf(translate(piece.source, scope))],
  )
  return celOut(parts.length === 0 ? '""' : parts.join(' + '), 'text')
}

export function parameterValue(value: string, scope: Scope): Json {
  if (!isExpressionText(value)) return value
  const pieces = piecesOf(value.slice(1))
  if (pieces.every((piece) => 'text' in piece || piece.source === ''))
    return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('')
  return toValue(outOf(value, scope))
}
