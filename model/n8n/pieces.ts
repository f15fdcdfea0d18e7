// Parameters of n8n: a plain text, or `=` and a text with {{ expressions }}.

type Piece = { text: string } | { source: string }

/** Returns the texts and expressions of `=… {{ … }} …`, without the leading `=`. */
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

/** Returns the position of the `}}` that is not the end of an object inside the expression. */
function closing(template: string, from: number): number {
  let at = template.indexOf('}}', from)
  while (at >= 0 && template[at + 2] === '}') at += 1
  return at
}
