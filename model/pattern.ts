// Regular expressions written by tenants, run by RE2: the time is linear in the text for any pattern. No lookaround, no
// back-references. RegExp must never run a tenant's pattern (a pattern of 30 characters blocked the process for 22 s).

import { RE2JS } from 're2js'
import { makeLru } from './lru.ts'

export type Pattern = {
  /** Returns true if any part of the text matches; undefined if text and pattern together are too large to try. */
  test(text: string): boolean | undefined
  /** Returns the cost of one test of `text` against a budget. */
  cost(text: string): number
  /**
   * Yields the matches in order, each as its groups with their positions. Calls `spend` with the maximum cost before
   * each search. Returns undefined if text and pattern together are too large to try.
   */
  matches(text: string, spend: (steps: number) => void): Generator<Match> | undefined
}

export type Match = { start: number; end: number; groups: readonly (string | null)[] }

const MAX_PATTERN_LENGTH = 512
const MAX_PROGRAM = 2_000
/** The maximum of characters × program size. At the slowest measured speed (60 ns each, cold) this is 30 ms. */
const MAX_WORK = 500_000

const cache = makeLru<Pattern>(500)

/** Returns the compiled pattern, or a text with the reason for refusing it. */
export function compilePattern(source: string): Pattern | string {
  const known = cache.get(source)
  if (known) return known
  if (source.length > MAX_PATTERN_LENGTH) return `a pattern has at most ${MAX_PATTERN_LENGTH} characters`
  let program: RE2JS
  try {
    program = RE2JS.compile(RE2JS.translateRegExp(shortClasses(source)))
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : 'not understood'
    return `not a usable regular expression (RE2): ${reason}`
  }
  const size = program.programSize()
  if (size > MAX_PROGRAM) return 'the pattern is too large'
  const pattern: Pattern = {
    test: (text) => (text.length * size > MAX_WORK ? undefined : program.test(text)),
    cost: (text) => Math.ceil((text.length * size) / 2) + 10,
    matches: (text, spend) =>
      text.length * size > MAX_WORK
        ? undefined
        : matchesOf(program, { text, size, near: endsNearMatch(source) }, spend),
  }
  cache.set(source, pattern)
  return pattern
}

/** Converts `\p{Letter}`, `\p{gc=Lu}` and `\p{Script=Greek}` to the notation of RE2. */
const shortClasses = (source: string): string =>
  source.replace(/\\(?:([pP])\{(?:(?:gc|General_Category|sc|Script)=)?(\w+)\}|[\s\S])/g, (whole, p, name: string) =>
    p === undefined ? whole : `\\${p}{${CATEGORIES.get(name) ?? name}}`,
  )

const CATEGORIES = new Map(
  Object.entries({
    Letter: 'L',
    Uppercase_Letter: 'Lu',
    Lowercase_Letter: 'Ll',
    Titlecase_Letter: 'Lt',
    Modifier_Letter: 'Lm',
    Other_Letter: 'Lo',
    Mark: 'M',
    Combining_Mark: 'M',
    Nonspacing_Mark: 'Mn',
    Spacing_Mark: 'Mc',
    Enclosing_Mark: 'Me',
    Number: 'N',
    Decimal_Number: 'Nd',
    digit: 'Nd',
    Letter_Number: 'Nl',
    Other_Number: 'No',
    Punctuation: 'P',
    punct: 'P',
    Connector_Punctuation: 'Pc',
    Dash_Punctuation: 'Pd',
    Open_Punctuation: 'Ps',
    Close_Punctuation: 'Pe',
    Initial_Punctuation: 'Pi',
    Final_Punctuation: 'Pf',
    Other_Punctuation: 'Po',
    Symbol: 'S',
    Math_Symbol: 'Sm',
    Currency_Symbol: 'Sc',
    Modifier_Symbol: 'Sk',
    Other_Symbol: 'So',
    Separator: 'Z',
    Space_Separator: 'Zs',
    Line_Separator: 'Zl',
    Paragraph_Separator: 'Zp',
    Other: 'C',
    Control: 'Cc',
    cntrl: 'Cc',
    Format: 'Cf',
    Private_Use: 'Co',
  }),
)

/**
 * Checks whether a search ends close after the match it finds: the pattern has no unbounded repetition, or only one, of
 * a single character, at its very end. `a(.*b)?` reads the whole rest of the text for each match, so the cost of all
 * matches together is quadratic; such a pattern is charged for that.
 */
export const endsNearMatch = (source: string): boolean => {
  const single = String.raw`(?:\\[^pPQE\d]|\[\^?(?:\\.|[^\]\\[])+\]|[^\\[\](){}*+?|])`
  return new RegExp(`^(?:${single}|\\{\\d{1,2}(?:,\\d{1,2})?\\})*?(?:${single}[*+]?)?$`, 's').test(source)
}

function* matchesOf(
  program: RE2JS,
  { text, size, near }: { text: string; size: number; near: boolean },
  spend: (steps: number) => void,
): Generator<Match> {
  const matcher = program.matcher(text)
  const groups = program.groupCount()
  let at = 0
  // The first search may read the whole text. Later searches may too, unless the pattern cannot read far past a match.
  let charged = 0
  for (;;) {
    spend(
      near ? Math.ceil((Math.max(0, at - charged) * size) / 2) + 40 : Math.ceil(((text.length - at) * size) / 2) + 40,
    )
    charged = at
    if (!matcher.find()) break
    at = matcher.end()
    yield {
      start: matcher.start(),
      end: at,
      groups: Array.from({ length: groups + 1 }, (_, group) => matcher.group(group) ?? null),
    }
  }
  if (near) spend(Math.ceil(((text.length - charged) * size) / 2))
}
