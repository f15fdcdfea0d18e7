import { NotConvertible } from './js-ast.ts'

export type Token =
  | { kind: 'number'; value: number }
  | { kind: 'string'; value: string }
  | { kind: 'template'; texts: string[]; sources: string[] }
  | { kind: 'regex'; pattern: string; flags: string }
  | { kind: 'name'; value: string }
  | { kind: 'sign'; value: string }
  | { kind: 'end' }

const SIGNS = [
  ...['===', '!==', '...', '**=', '>>>', '&&=', '||=', '??='],
  ...['=>', '==', '!=', '<=', '>=', '&&', '||', '??', '?.', '++', '--', '+=', '-=', '*=', '/=', '**', '<<', '>>'],
  ...[
    '+',
    '-',
    '*',
    '/',
    '%',
    '<',
    '>',
    '!',
    '?',
    ':',
    '.',
    ',',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '=',
    '&',
    '|',
    '^',
    '~',
    ';',
  ],
]
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', '0': '\0' }
const NAME = /[A-Za-z_$\u00aa-\uffff][\w$\u00aa-\uffff]*/y
const NUMBER = /0[xX][\da-fA-F]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const SPACE = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y

const matchAt = (pattern: RegExp, text: string, at: number): string => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

/** Checks whether a token ends a value. A slash after a value divides; elsewhere a slash starts a pattern. */
const endsValue = (token: Token | undefined): boolean =>
  token !== undefined &&
  (token.kind === 'sign'
    ? [')', ']', '}'].includes(token.value)
    : token.kind !== 'name' || !['return', 'typeof', 'in', 'of', 'new'].includes(token.value))

export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (true) {
    at += matchAt(SPACE, source, at).length
    if (at >= source.length) break
    const [token, next] = tokenAt(source, at, tokens.at(-1))
    tokens.push(token)
    at = next
  }
  tokens.push({ kind: 'end' })
  return tokens
}

function tokenAt(source: string, at: number, before: Token | undefined): [Token, number] {
  const character = source[at]!
  if (character === '"' || character === "'") {
    const { text, end } = quoted(source, at + 1, character)
    return [{ kind: 'string', value: text }, end]
  }
  if (character === '`') return templateAt(source, at + 1)
  if (character === '/' && !endsValue(before)) return regexAt(source, at + 1)
  const isNumber = /[0-9]/.test(character) || (character === '.' && /[0-9]/.test(source[at + 1] ?? ''))
  if (isNumber) {
    const text = matchAt(NUMBER, source, at)
    return [{ kind: 'number', value: Number(text.replaceAll('_', '')) }, at + text.length]
  }
  const name = matchAt(NAME, source, at)
  if (name !== '') return [{ kind: 'name', value: name }, at + name.length]
  // In `a?.5:b`, the `?` is the conditional operator.
  const sign = SIGNS.find((one) => source.startsWith(one, at) && !(one === '?.' && /[0-9]/.test(source[at + 2] ?? '')))
  if (sign === undefined) throw new NotConvertible(`the character "${character}" is not understood`)
  return [{ kind: 'sign', value: sign }, at + sign.length]
}

function escapeAt(source: string, at: number): { text: string; end: number } {
  const character = source[at] ?? ''
  const long = /^u\{([\da-fA-F]{1,6})\}|^u([\da-fA-F]{4})|^x([\da-fA-F]{2})/.exec(source.slice(at, at + 10))
  if (long) {
    const code = Number.parseInt((long[1] ?? long[2] ?? long[3])!, 16)
    if (code > 0x10ffff) throw new NotConvertible('an escape sequence is not valid')
    return { text: String.fromCodePoint(code), end: at + long[0].length }
  }
  if (character === '\n') return { text: '', end: at + 1 }
  return { text: ESCAPES[character] ?? character, end: at + 1 }
}

function quoted(source: string, from: number, quote: string): { text: string; end: number } {
  let text = ''
  let at = from
  while (at < source.length) {
    if (source[at] === quote) return { text, end: at + 1 }
    if (source[at] === '\\') {
      const escaped = escapeAt(source, at + 1)
      text += escaped.text
      at = escaped.end
    } else {
      text += source[at]
      at += 1
    }
  }
  throw new NotConvertible('a text is not closed')
}

function templateAt(source: string, from: number): [Token, number] {
  const texts: string[] = []
  const sources: string[] = []
  let text = ''
  let at = from
  while (at < source.length) {
    if (source[at] === '`') return [{ kind: 'template', texts: [...texts, text], sources }, at + 1]
    if (source[at] === '\\') {
      const escaped = escapeAt(source, at + 1)
      text += escaped.text
      at = escaped.end
    } else if (source.startsWith('${', at)) {
      const end = closingBrace(source, at + 2)
      texts.push(text)
      sources.push(source.slice(at + 2, end))
      text = ''
      at = end + 1
    } else {
      text += source[at]
      at += 1
    }
  }
  throw new NotConvertible('a template text is not closed')
}

/** Returns the position of the closing brace for the brace that is open at `from`; braces inside texts do not count. */
function closingBrace(source: string, from: number): number {
  let depth = 0
  let at = from
  let before: Token | undefined
  while (at < source.length) {
    at += matchAt(SPACE, source, at).length
    if (at >= source.length) break
    if (source[at] === '}' && depth === 0) return at
    const [token, next] = tokenAt(source, at, before)
    if (token.kind === 'sign' && token.value === '{') depth += 1
    if (token.kind === 'sign' && token.value === '}') depth -= 1
    before = token
    at = next
  }
  throw new NotConvertible('a template text is not closed')
}

function regexAt(source: string, from: number): [Token, number] {
  let inClass = false
  for (let at = from; at < source.length && source[at] !== '\n'; at += 1) {
    const character = source[at]
    if (character === '\\') at += 1
    else if (character === '[') inClass = true
    else if (character === ']') inClass = false
    else if (character === '/' && !inClass) {
      const flags = matchAt(/[a-z]*/y, source, at + 1)
      return [{ kind: 'regex', pattern: source.slice(from, at), flags }, at + 1 + flags.length]
    }
  }
  throw new NotConvertible('a regular expression is not closed')
}
