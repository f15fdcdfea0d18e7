import { expect, test } from 'vitest'
import { printed, tableOf } from '../bench/table.ts'

test('the table holds each figure against its limit, its baseline and its target', () => {
  const measured = {
    engine: { ratio: 0.75, plain_runs_s: 5000, idle_p50_ms: 3.1, idle_p99_ms: 8, rss_mb: 200 },
    jobs: { ratio: 0.8 },
  }
  const rows = tableOf(measured, { engine: { ratio: 0.56 }, jobs: { ratio: 0.79, gone: 1 } })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['engine', 'ratio', '0.75', '5000', '0.56', '≥ 0.75', 'yes'],
    ['engine', 'idle_p50_ms', '3.1', '', '', '≤ 3', 'no'],
    ['engine', 'idle_p99_ms', '8', '', '', '≤ 8', 'yes'],
    ['jobs', 'ratio', '0.8', '', '0.79', '', ''],
  ])
  expect(printed(rows.slice(3))).toBe(
    'bench  figure  now  limit  baseline  target  met\n─────  ──────  ───  ─────  ────────  ──────  ───\njobs   ratio   0.8         0.79',
  )
})
