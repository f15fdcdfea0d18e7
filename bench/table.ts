import { type Target, targets } from './targets.ts'

export type Figures = { [name: string]: number | string | Figures }

/** Every number there is, by its path. */
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

const isMet = (target: Target, now: number): boolean => ('least' in target ? now >= target.least : now <= target.most)

const wanted = (target: Target): string => ('least' in target ? `≥ ${target.least}` : `≤ ${target.most}`)

/** One row for each figure that has a target or a baseline. */
export function tableOf(
  measured: Record<string, Figures>,
  baseline: Record<string, Record<string, number>>,
): Record<string, string>[] {
  return Object.entries(measured).flatMap(([bench, figures]) => {
    const numbers = numbersIn(figures)
    const ofBench = targets[bench] ?? []
    const others = Object.keys(baseline[bench] ?? {}).filter((path) => !ofBench.some(({ figure }) => figure === path))
    const rows: { figure: string; limit?: string; target?: Target }[] = [
      ...ofBench.map((target) => ({ ...target, target })),
      ...others.map((figure) => ({ figure })),
    ]
    return rows.flatMap(({ figure, limit, target }) => {
      const now = numbers[figure]
      if (now === undefined) return []
      const before = baseline[bench]?.[figure]
      const against = limit === undefined ? undefined : numbers[limit]
      return [
        {
          bench,
          figure,
          now: String(now),
          limit: against === undefined ? '' : String(against),
          baseline: before === undefined ? '' : String(before),
          target: target ? wanted(target) : '',
          met: target ? (isMet(target, now) ? 'yes' : 'no') : '',
        },
      ]
    })
  })
}

/** Columns as wide as their widest cell. */
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
