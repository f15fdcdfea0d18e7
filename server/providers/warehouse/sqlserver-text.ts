/**
 * Checks whether a text can be enclosed in parentheses without escaping them: its own parentheses are balanced, and
 * outside of strings, names and comments it has no semicolon. SQL Server runs several statements in one request, so
 * this check ensures that there is only one.
 */
export function isSingleStatement(text: string): boolean {
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

/** Returns the end of a comment. Comments can be nested. */
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

/** Returns the end of a quotation. A doubled quote is part of the quoted text. */
function quoteEnd(text: string, from: number, close: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== close) continue
    if (text[at + 1] !== close) return at + 1
    at += 1
  }
  return -1
}
