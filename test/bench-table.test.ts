import { expect, test } from 'vitest'
import { printed, tableOf } from '../bench/table.ts'

test('the table compares each figure with its limit, its baseline and its target', () => {
  const measured = {
    engine: { ratio: 0.75, engine_runs_s: 3740, plain_runs_s: 5000, idle_p50_ms: 3.1, idle_p99_ms: 8, rss_mb: 200 },
    overload: { neighbour: { limits_on: { alone_p99_ms: 6, beside_flood_p99_ms: 15 } } },
    chat: { ratio: 0.8 },
  }
  const rows = tableOf(measured, { engine: { ratio: 0.56 }, chat: { ratio: 0.79, gone: 1 } })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['engine', 'engine_runs_s', '3740', '5000', '0.75', '0.56', 'ratio ≥ 0.75', 'yes'],
    ['engine', 'idle_p50_ms', '3.1', '', '', '', '≤ 3', 'no'],
    ['engine', 'idle_p99_ms', '8', '', '', '', '≤ 8', 'yes'],
    ['overload', 'neighbour.limits_on.beside_flood_p99_ms', '15', '6', '2.5', '', 'ratio ≤ 2', 'no'],
    ['chat', 'ratio', '', '', '0.8', '0.79', '', ''],
  ])
  expect(printed(rows.slice(4))).toBe(
    'bench  figure  now  limit  ratio  baseline  target  met\n─────  ──────  ───  ─────  ─────  ────────  ──────  ───\nchat   ratio               0.8    0.79',
  )
})
