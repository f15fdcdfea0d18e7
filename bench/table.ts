import { type Target, targets } from './targets.ts'

export type Figures = { [name: string]: number | string | Figures }

/** Returns every number by its path. */
export function numbersIn(figures: Figures, path = ''): Record<string, number> {
  return Object.assign(
    {},
    ...Object.entries(figures).map(([key, value]) => {
      const at = path ? `${path}.${key}` : key
      if (typeof value === 'object') return numbersIn(value, at)
      return typeof value === 'number' ? { [at]: value } : {}
    }),
  )
}

type Judged = { wanted: string; isMet: boolean }

function judge(target: Target, now: number, ratio: number | undefined): Judged {
  if ('least' in target) return { wanted: `≥ ${target.least}`, isMet: now >= target.least }
  if ('most' in target) return { wanted: `≤ ${target.most}`, isMet: now <= target.most }
  if ('leastRatio' in target)
    return { wanted: `ratio ≥ ${target.leastRatio}`, isMet: ratio !== undefined && ratio >= target.leastRatio }
  return { wanted: `ratio ≤ ${target.mostRatio}`, isMet: ratio !== undefined && ratio <= target.mostRatio }
}

const shown = (value: number | undefined): string => (value === undefined ? '' : String(value))

/** Returns one row for each figure with a target, and for each ratio that has only a baseline. */
export function tableOf(
  measured: Record<string, Figures>,
  baseline: Record<string, Record<string, number>>,
): Record<string, string>[] {
  return Object.entries(measured).flatMap(([bench, figures]) => {
    const numbers = numbersIn(figures)
    const before = baseline[bench] ?? {}
    const ofBench = targets[bench] ?? []
    const withTarget = ofBench.flatMap((target) => {
      const now = numbers[target.figure]
      if (now === undefined) return []
      const limit = target.limit === undefined ? undefined : numbers[target.limit]
      const ratio = target.ratio === undefined ? dividedBy(now, limit) : numbers[target.ratio]
      const { wanted, isMet } = judge(target, now, ratio)
      return [
        {
          bench,
          figure: target.figure,
          now: shown(now),
          limit: shown(limit),
          ratio: shown(ratio),
          baseline: shown(before[target.ratio ?? target.figure]),
          target: wanted,
          met: isMet ? 'yes' : 'no',
        },
      ]
    })
    const others = Object.keys(before).filter(
      (path) => numbers[path] !== undefined && !ofBench.some(({ figure, ratio }) => (ratio ?? figure) === path),
    )
    const withBaseline = others.map((path) => ({
      bench,
      figure: path,
      now: '',
      limit: '',
      ratio: shown(numbers[path]),
      baseline: shown(before[path]),
      target: '',
      met: '',
    }))
    return [...withTarget, ...withBaseline]
  })
}

const dividedBy = (now: number, limit: number | undefined): number | undefined =>
  limit ? Number((now / limit).toFixed(2)) : undefined

/** Prints columns as wide as their widest cell. */
export function printed(rows: Record<string, string>[]): string {
  const columns = Object.keys(rows[0] ?? {})
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()
  return [
    line(columns),
    line(widths.map((width) => '─'.repeat(width))),
    ...rows.map((row) => line(Object.values(row))),
  ].join('\n')
}
