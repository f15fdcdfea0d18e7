// Regular expressions written by tenants, run by RE2: time linear in the text whatever the pattern. No lookaround, no
// back-references. RegExp must never see a tenant's pattern (a 30-character one blocked the process for 22 s).

import { RE2JS } from 're2js'
import { makeLru } from './lru.ts'

export type Pattern = {
  /** True when any part of the text matches; undefined when text and pattern together are too large to try. */
  test(text: string): boolean | undefined
  /** What one test of `text` counts against a budget. */
  cost(text: string): number
}

const MAX_PATTERN_LENGTH = 512
const MAX_PROGRAM = 2_000
/** Characters × program size. At the slowest measured pace (60 ns each, cold) this is 30 ms. */
const MAX_WORK = 500_000

const cache = makeLru<Pattern>(500)

/** The compiled pattern, or a text saying why it is refused. */
export function compilePattern(source: string): Pattern | string {
  const known = cache.get(source)
  if (known) return known
  if (source.length > MAX_PATTERN_LENGTH) return `a pattern has at most ${MAX_PATTERN_LENGTH} characters`
  let program: RE2JS
  try {
    program = RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : 'not understood'
    return `not a usable regular expression (RE2): ${reason}`
  }
  const size = program.programSize()
  if (size > MAX_PROGRAM) return 'the pattern is too large'
  const pattern: Pattern = {
    test: (text) => (text.length * size > MAX_WORK ? undefined : program.test(text)),
    cost: (text) => Math.ceil((text.length * size) / 2) + 10,
  }
  cache.set(source, pattern)
  return pattern
}
