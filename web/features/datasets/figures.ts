import { language, t } from '#web/words/language.ts'

// The figures of a column, from a sample of records. Pure, so that it can be tested without a page.

export type Bar = { label: string; count: number }
export type Figures =
  | { kind: 'number'; distinct: number; min: number; max: number; mean: number; median: number; bars: Bar[] }
  | { kind: 'boolean'; bars: Bar[] }
  | { kind: 'text'; distinct: number; shortest: number; longest: number; bars: Bar[] }
  | { kind: 'other' }
  | { kind: 'empty' }

const BINS = 12
const TOP = 8
const MAX_LABEL_LENGTH = 28

const isPresent = (value: unknown): boolean => value !== null && value !== undefined

export function figuresOf(records: readonly Record<string, unknown>[], column: string): Figures {
  const values = records.map((record) => record[column]).filter(isPresent)
  if (values.length === 0) return { kind: 'empty' }
  if (values.every((value) => typeof value === 'number')) return ofNumbers(values)
  if (values.every((value) => typeof value === 'boolean')) {
    const yes = values.filter(Boolean).length
    return {
      kind: 'boolean',
      bars: [
        { label: 'true', count: yes },
        { label: 'false', count: values.length - yes },
      ],
    }
  }
  if (values.every((value) => typeof value !== 'object')) return ofTexts(values.map(String))
  return { kind: 'other' }
}

function ofNumbers(values: number[]): Figures {
  const sorted = [...values].sort((a, b) => a - b)
  const min = sorted[0]!
  const max = sorted.at(-1)!
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  const distinct = new Set(values)
  const bars =
    distinct.size <= BINS
      ? [...distinct]
          .sort((a, b) => a - b)
          .map((value) => ({ label: shortNumber(value), count: values.filter((other) => other === value).length }))
      : histogram(sorted, min, max)
  return {
    kind: 'number',
    distinct: distinct.size,
    min,
    max,
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    median,
    bars,
  }
}

function histogram(sorted: number[], min: number, max: number): Bar[] {
  const width = (max - min) / BINS
  const counts = new Array<number>(BINS).fill(0)
  for (const value of sorted) counts[Math.min(BINS - 1, Math.floor((value - min) / width))]! += 1
  return counts.map((count, bin) => ({
    label: `${shortNumber(min + bin * width)} to ${shortNumber(min + (bin + 1) * width)}`,
    count,
  }))
}

function ofTexts(values: string[]): Figures {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const top = [...counts].sort(([, a], [, b]) => b - a).slice(0, TOP)
  // If hardly any value repeats, the most frequent values are meaningless.
  const telling = counts.size <= TOP || top[0]![1] > 1
  return {
    kind: 'text',
    distinct: counts.size,
    shortest: Math.min(...values.map((value) => value.length)),
    longest: Math.max(...values.map((value) => value.length)),
    bars: telling ? top.map(([value, count]) => ({ label: shortText(value), count })) : [],
  }
}

const shortText = (text: string): string =>
  text === '' ? t('(empty)') : text.length > MAX_LABEL_LENGTH ? `${text.slice(0, MAX_LABEL_LENGTH)}…` : text
const plain = new Intl.NumberFormat(language, { maximumSignificantDigits: 4 })
const large = new Intl.NumberFormat(language, { maximumSignificantDigits: 4, notation: 'compact' })
/** Formats a number: 2,668 and 618.5 unchanged; only millions are shortened. */
export const shortNumber = (value: number): string => (Math.abs(value) < 1e6 ? plain : large).format(value)
