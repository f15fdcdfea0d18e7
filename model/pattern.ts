// Regular expressions written by tenants, run by RE2: time linear in the text whatever the pattern. No lookaround, no
// back-references. RegExp must never see a tenant's pattern (a 30-character one blocked the process for 22 s).

import { RE2JS } from 're2js'
import { makeLru } from './lru.ts'

export type Pattern = {
  /** True when any part of the text matches; undefined when text and pattern together are too large to try. */
  test(text: string): boolean | undefined
  /** What one test of `text` counts against a budget. */
  cost(text: string): number
  /**
   * The matches one after the other, each as its groups with their positions. `spend` is told before each search what it may
   * take. Undefined when text and pattern together are too large to try.
   */
  matches(text: string, spend: (steps: number) => void): Generator<Match> | undefined
}

export type Match = { start: number; end: number; groups: readonly (string | null)[] }

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
      text.length * size > MAX_WORK ? undefined : matchesOf(program, { text, size, near: looksNear(source) }, spend),
  }
  cache.set(source, pattern)
  return pattern
}

/** `\p{Letter}`, `\p{gc=Lu}` and `\p{Script=Greek}` as RE2 writes them. */
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
 * Whether a search ends close behind the match it finds: there is no repetition without a bound, or only one, of a single
 * character, at the very end. `a(.*b)?` looks at the whole rest of the text for each match, so that all matches together
 * are quadratic; such a pattern pays for that.
 */
export const looksNear = (source: string): boolean => {
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
  // The first search may look at all of the text; later ones too, unless the pattern cannot look far behind a match.
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
