/**
 * Whether a text can stand in brackets without leaving them: its own brackets are closed, and outside of texts, names and comments
 * it has no semicolon. SQL Server runs several statements in one request, so this decides that there is one.
 */
export function isClosed(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + 2)
    const char = rest[0]!
    if (rest === '--') {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end + 1
    } else if (rest === '/*') {
      const end = commentEnd(text, at)
      if (end === -1) return false
      at = end
    } else if (char === "'" || char === '"' || char === '[') {
      const end = quoteEnd(text, at, char === '[' ? ']' : char)
      if (end === -1) return false
      at = end
    } else {
      if (char === ';') return false
      if (char === '(') depth += 1
      if (char === ')') depth -= 1
      if (depth < 0) return false
      at += 1
    }
  }
  return depth === 0
}

/** Comments stand inside comments. */
function commentEnd(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; ) {
    const two = text.slice(at, at + 2)
    if (two === '/*') depth += 1
    if (two === '*/') depth -= 1
    at += two === '/*' || two === '*/' ? 2 : 1
    if (depth === 0) return at
  }
  return -1
}

/** A quote that is doubled is part of what is quoted. */
function quoteEnd(text: string, from: number, close: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== close) continue
    if (text[at + 1] !== close) return at + 1
    at += 1
  }
  return -1
}
