import type { Json } from '../definition.ts'
import { type Scope, translate } from './expressions.ts'
import { celOut, type Out, quote, textOf, textOut, toValue } from './out.ts'

// Parameters of n8n: a text, or `=` and a text with {{ expressions }}.

type Piece = { text: string } | { source: string }

/** The texts and expressions of `=… {{ … }} …`, without the first sign. */
export function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  while (at < template.length) {
    const begin = template.indexOf('{{', at)
    const close = begin < 0 ? -1 : closing(template, begin + 2)
    if (begin < 0 || close < 0) {
      pieces.push({ text: template.slice(at) })
      break
    }
    if (begin > at) pieces.push({ text: template.slice(at, begin) })
    pieces.push({ source: template.slice(begin + 2, close).trim() })
    at = close + 2
  }
  return pieces
}

/** `}}` that is not the end of an object inside the expression. */
function closing(template: string, from: number): number {
  let at = template.indexOf('}}', from)
  while (at >= 0 && template[at + 2] === '}') at += 1
  return at
}

export const isExpressionText = (value: unknown): value is string => typeof value === 'string' && value.startsWith('=')

/** What a parameter of n8n holds, as one value. */
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
