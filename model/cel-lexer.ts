// The tokens of a CEL expression. The time is linear in the length of the text; positions are kept for messages.

import { ExpressionFailure } from './expression-failure.ts'

export type Token =
  | { kind: 'value'; value: null | boolean | number | string; start: number }
  | { kind: 'name'; value: string; start: number; quoted?: true }
  | { kind: 'sign'; value: string; start: number }
  | { kind: 'end'; value: ''; start: number }

export const invalid = (message: string): ExpressionFailure => new ExpressionFailure('expression_invalid', message)

export const place = (start: number | undefined): string => (start === undefined ? '' : ` (at character ${start + 1})`)

const SPACE = /(?:[ \t\n\r\f]|\/\/[^\n]*)+/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const QUOTED_NAME = /`([A-Za-z0-9_.\-/ ]{1,256})`/y
const HEX = /0[xX]([0-9a-fA-F]+)[uU]?/y
const DOUBLE = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y
const WHOLE = /(\d+)[uU]?/y
/** `?.` before a name reads a field that may be absent; `?` alone is the conditional operator. */
const SIGNS = /\?\.(?=[A-Za-z_`])|==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y

/** The start of a text literal: its prefix (raw or bytes) and its quotes. */
const TEXT_START = /([bBrR]{0,2})("""|'''|"|')/y

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const HEX_DIGITS: Readonly<Record<string, number>> = { u: 4, U: 8, x: 2, X: 2 }

const WORDS: ReadonlyMap<string, null | boolean> = new Map<string, null | boolean>([
  ['true', true],
  ['false', false],
  ['null', null],
])

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  for (;;) {
    take(SPACE)
    const start = at
    if (at >= text.length) {
      tokens.push({ kind: 'end', value: '', start })
      return tokens
    }
    const opening = take(TEXT_START)
    if (opening) {
      const [, prefix = '', quote = '"'] = opening
      if (/b/i.test(prefix)) throw invalid('bytes are not supported')
      const read = readText(text, at, quote, /r/i.test(prefix))
      at = read.end
      tokens.push({ kind: 'value', value: read.value, start })
      continue
    }
    const name = take(NAME)
    if (name) {
      const word = WORDS.get(name[0])
      if (word !== undefined) tokens.push({ kind: 'value', value: word, start })
      else if (name[0] === 'in') tokens.push({ kind: 'sign', value: 'in', start })
      else tokens.push({ kind: 'name', value: name[0], start })
      continue
    }
    const quoted = take(QUOTED_NAME)
    if (quoted) {
      tokens.push({ kind: 'name', value: quoted[1] as string, start, quoted: true })
      continue
    }
    const double = take(DOUBLE)
    if (double) {
      const value = Number(double[0])
      if (!Number.isFinite(value)) throw invalid(`${double[0].slice(0, 40)} is too large for a number${place(start)}`)
      tokens.push({ kind: 'value', value, start })
      continue
    }
    const whole = take(HEX) ?? take(WHOLE)
    if (whole) {
      tokens.push({ kind: 'value', value: wholeNumber(whole[0].replace(/[uU]$/, ''), start), start })
      continue
    }
    const sign = take(SIGNS)
    if (!sign)
      throw invalid(
        `unexpected character ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))}${place(at)}`,
      )
    tokens.push({ kind: 'sign', value: sign[0], start })
  }
}

function wholeNumber(digits: string, start: number): number {
  const number = Number(digits)
  if (Number.isSafeInteger(number)) return number
  throw invalid(`${digits.slice(0, 40)} is larger than a JSON number can hold exactly${place(start)}`)
}

function readText(text: string, from: number, quote: string, raw: boolean): { value: string; end: number } {
  const isLong = quote.length === 3
  let value = ''
  let at = from
  for (;;) {
    if (at >= text.length) throw invalid(`the text has no end${place(from - quote.length)}`)
    if (text.startsWith(quote, at)) return { value, end: at + quote.length }
    const char = text[at] as string
    if (!isLong && (char === '\n' || char === '\r')) {
      throw invalid(`a line ends within a text; use """ or \\n${place(at)}`)
    }
    if (char !== '\\') {
      value += char
      at += 1
    } else if (raw) {
      value += text.slice(at, at + 2)
      at += 2
    } else {
      const escaped = readEscape(text, at)
      value += escaped.value
      at += escaped.length
    }
  }
}

function readEscape(text: string, at: number): { value: string; length: number } {
  const next = text[at + 1] ?? ''
  const simple = ESCAPES[next]
  if (simple !== undefined) return { value: simple, length: 2 }
  const digits = HEX_DIGITS[next]
  const source = digits === undefined ? text.slice(at + 1, at + 4) : text.slice(at + 2, at + 2 + digits)
  const code =
    digits === undefined
      ? /^[0-3][0-7]{2}$/.test(source)
        ? Number.parseInt(source, 8)
        : Number.NaN
      : source.length === digits && /^[0-9a-fA-F]+$/.test(source)
        ? Number.parseInt(source, 16)
        : Number.NaN
  if (Number.isNaN(code) || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw invalid(`unknown escape sequence in a text${place(at)}`)
  }
  return { value: String.fromCodePoint(code), length: digits === undefined ? 4 : 2 + digits }
}
