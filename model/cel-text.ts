// The functions on texts. Positions count characters (code points), as size() does.

import { formatText } from './cel-format.ts'
import { type CelFunction, list, table, text, whole } from './cel-function.ts'
import { BudgetExceeded, type CelValue, failure, NONE, Optional, type Run } from './cel-runtime.ts'
import { compilePattern, type Match, type Pattern } from './pattern.ts'

const SURROGATE = /[\ud800-\udfff]/

/**
 * Searching for a long text in a long text is quadratic in the worst case (the engine's tables cover 250 characters).
 */
const searchCost = (source: string, search: string): number =>
  (source.length >> 3) + Math.ceil((source.length * search.length) / 4096)

const searching = (run: Run, args: CelValue[], find: (source: string, search: string) => CelValue): CelValue => {
  const source = text(args[0])
  const search = text(args[1])
  run.spend(searchCost(source, search))
  return find(source, search)
}

/** Returns the characters of a text; null if each character is one code unit, which is nearly always true. */
function pointsOf(run: Run, source: string): string[] | null {
  run.spend(source.length >> 5)
  if (!SURROGATE.test(source)) return null
  run.spend(source.length)
  return Array.from(source)
}

function position(value: CelValue | undefined, length: number): number {
  const index = whole(value)
  if (index >= 0 && index <= length) return index
  throw failure(`position ${index} is outside the text`)
}

function substring(run: Run, args: CelValue[]): string {
  const source = text(args[0])
  const points = pointsOf(run, source)
  const length = points?.length ?? source.length
  const start = position(args[1], length)
  const end = args.length > 2 ? position(args[2], length) : length
  if (start > end) throw failure(`position ${start} is behind position ${end}`)
  return run.text(points ? points.slice(start, end).join('') : source.slice(start, end))
}

function charAt(run: Run, args: CelValue[]): string {
  const source = text(args[0])
  const points = pointsOf(run, source)
  const at = position(args[1], points?.length ?? source.length)
  return (points ? points[at] : source[at]) ?? ''
}

function indexOf(run: Run, args: CelValue[], last: boolean): number {
  return searching(run, args, (source, search) => {
    const points = pointsOf(run, source)
    const length = points?.length ?? source.length
    const offset = args.length > 2 ? position(args[2], length) : last ? length : 0
    const units = points ? points.slice(0, offset).join('').length : offset
    const found = last ? source.lastIndexOf(search, units) : source.indexOf(search, units)
    return found < 0 || !points ? found : Array.from(source.slice(0, found)).length
  }) as number
}

function join(run: Run, items: CelValue[], separator: string): string {
  let length = 0
  for (const item of items) length += text(item).length + separator.length
  run.spend(items.length + (length >> 3))
  return run.text(items.join(separator))
}

function replace(run: Run, args: CelValue[]): string {
  const [source, search, by] = [text(args[0]), text(args[1]), text(args[2])]
  const limit = args.length > 3 ? whole(args[3]) : -1
  if (search === '') throw failure('replace() needs a text to look for')
  run.spend(searchCost(source, search))
  const pieces = source.split(search)
  const times = limit < 0 ? pieces.length - 1 : Math.min(limit, pieces.length - 1)
  run.spend((times * by.length) >> 3)
  return run.text([pieces.slice(0, times + 1).join(by), ...pieces.slice(times + 1)].join(search))
}

function split(run: Run, args: CelValue[]): string[] {
  const [source, separator] = [text(args[0]), text(args[1])]
  const limit = args.length > 2 ? whole(args[2]) : -1
  run.spend(source.length + searchCost(source, separator))
  if (limit === 0) return []
  const pieces = separator === '' ? Array.from(source) : source.split(separator)
  if (limit < 0 || pieces.length <= limit) return pieces
  return [...pieces.slice(0, limit - 1), pieces.slice(limit - 1).join(separator)]
}

/**
 * Removes Unicode white space at both ends. Uses a loop, because a pattern anchored at the end is tried at every
 * position of the text.
 */
function trimmed(source: string): string {
  const isSpace = (at: number): boolean =>
    /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(source[at] ?? '')
  let [start, end] = [0, source.length]
  while (start < end && isSpace(start)) start += 1
  while (end > start && isSpace(end - 1)) end -= 1
  return source.slice(start, end)
}

function reverse(run: Run, value: CelValue | undefined): CelValue {
  if (Array.isArray(value)) {
    run.spend(value.length)
    return value.toReversed()
  }
  const source = text(value)
  run.spend(source.length)
  return run.text(Array.from(source).reverse().join(''))
}

function quote(run: Run, source: string): string {
  const short: Record<string, string> = {
    '\x07': 'a',
    '\b': 'b',
    '\f': 'f',
    '\n': 'n',
    '\r': 'r',
    '\t': 't',
    '\v': 'v',
  }
  run.spend(source.length)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that CEL escapes
  const escaped = source.toWellFormed().replace(/[\x07\b\f\n\r\t\v"\\]/g, (char) => `\\${short[char] ?? char}`)
  return run.text(`"${escaped}"`)
}

export function patternOf(source: string): Pattern {
  const pattern = compilePattern(source)
  if (typeof pattern === 'string') throw failure(pattern)
  return pattern
}

const tooLong = () => new BudgetExceeded('expression_too_costly', 'the text is too long for this pattern')

function matches(run: Run, subject: string, source: string): boolean {
  const pattern = patternOf(source)
  run.spend(pattern.cost(subject))
  const result = pattern.test(subject)
  if (result === undefined) throw tooLong()
  return result
}

function matchesIn(run: Run, subject: string, source: string): Generator<Match> {
  const found = patternOf(source).matches(subject, (steps) => run.spend(steps))
  if (!found) throw tooLong()
  return found
}

/** `\1` in the replacement is the first group, `\0` the whole match, `\\` a backslash. */
function replaceMatches(run: Run, args: CelValue[]): string {
  const [subject, source, by] = [text(args[0]), text(args[1]), text(args[2])]
  const limit = args.length > 3 ? whole(args[3]) : -1
  const pieces: string[] = []
  let [at, length, times] = [0, 0, 0]
  const add = (piece: string): void => {
    length += piece.length
    run.spend(1 + (piece.length >> 3))
    if (length > 1024 * 1024)
      throw new BudgetExceeded('expression_too_large', 'the expression creates a text that is too long')
    pieces.push(piece)
  }
  if (limit !== 0) {
    for (const { start, end, groups } of matchesIn(run, subject, source)) {
      add(subject.slice(at, start))
      run.spend(by.length >> 2)
      add(by.replace(/\\(\d|\\|.|$)/gs, (_, sign: string) => replacement(sign, groups)))
      at = end
      times += 1
      if (times === limit) break
    }
  }
  add(subject.slice(at))
  return pieces.join('')
}

function replacement(sign: string, groups: readonly (string | null)[]): string {
  if (sign === '\\') return '\\'
  if (!/^\d$/.test(sign) || Number(sign) >= groups.length) {
    throw failure(`the replacement names a group that the pattern does not have: \\${sign}`)
  }
  return groups[Number(sign)] ?? ''
}

function captured({ groups }: Match): string | null {
  if (groups.length > 2) throw failure('the pattern has more than one group')
  return (groups.length === 2 ? groups[1] : groups[0]) ?? null
}

function extract(run: Run, subject: string, source: string): Optional {
  for (const match of matchesIn(run, subject, source)) {
    const value = captured(match)
    return value === null ? NONE : new Optional(run.text(value))
  }
  return NONE
}

function extractAll(run: Run, subject: string, source: string): CelValue {
  const found: string[] = []
  for (const match of matchesIn(run, subject, source)) {
    const value = captured(match)
    if (value !== null) found.push(run.text(value))
  }
  return found
}

const one = (compute: (run: Run, source: string) => CelValue): CelFunction => ({
  arity: [1],
  call: (run, args) => compute(run, text(args[0])),
})

export const TEXT_METHODS = table({
  contains: { arity: [2], call: (run, args) => searching(run, args, (source, search) => source.includes(search)) },
  startsWith: { arity: [2], call: (run, args) => searching(run, args, (source, search) => source.startsWith(search)) },
  endsWith: { arity: [2], call: (run, args) => searching(run, args, (source, search) => source.endsWith(search)) },
  indexOf: { arity: [2, 3], call: (run, args) => indexOf(run, args, false) },
  lastIndexOf: { arity: [2, 3], call: (run, args) => indexOf(run, args, true) },
  matches: { arity: [2], call: (run, args) => matches(run, text(args[0]), text(args[1])) },
  charAt: { arity: [2], call: charAt },
  lowerAscii: one((run, source) => run.text(source.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()))),
  upperAscii: one((run, source) => run.text(source.replace(/[a-z]+/g, (letters) => letters.toUpperCase()))),
  lower: one((run, source) => run.text(source.toLowerCase())),
  upper: one((run, source) => run.text(source.toUpperCase())),
  trim: one((run, source) => run.text(trimmed(source))),
  substring: { arity: [2, 3], call: substring },
  replace: { arity: [3, 4], call: replace },
  split: { arity: [2, 3], call: split },
  join: { arity: [1, 2], call: (run, args) => join(run, list(args[0]), args.length > 1 ? text(args[1]) : '') },
  reverse: { arity: [1], call: (run, args) => reverse(run, args[0]) },
})

/** The functions called as `strings.quote(x)` and `regex.replace(x, pattern, by)`. */
export const STRINGS = table({ quote: one(quote) })
export const REGEX = table({
  replace: { arity: [3, 4], call: replaceMatches },
  extract: { arity: [2], call: (run, args) => extract(run, text(args[0]), text(args[1])) },
  extractAll: { arity: [2], call: (run, args) => extractAll(run, text(args[0]), text(args[1])) },
})

export const formatMethod = (run: Run, source: string, args: CelValue | undefined): string =>
  run.text(formatText(run, source, list(args)))
