import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { EngineFigures } from '#engine/health'
import { SECOND } from '#platform/clock'
import { addEngineFigures } from './figures.ts'

const worker = { worker_id: '1', running: 0, started_at: new Date() }
const figures: EngineFigures = {
  queued: 3,
  running: 2,
  waiting: 1,
  poison: 0,
  oldest_queued_s: 1.5,
  workers: [
    { ...worker, alive: true },
    { ...worker, alive: false },
  ],
}

test('the engine is queried at most once in ten seconds, and unknown figures are left out', async () => {
  const registry = new Registry()
  let asked = 0
  let answers = true
  let at = 0
  const ask = async (): Promise<EngineFigures> => {
    asked += 1
    if (!answers) throw new Error('the database is away')
    return figures
  }
  addEngineFigures(
    registry,
    {
      figures: ask,
      counts: () => ({
        mended: 4,
        platform_errors: { database: 1, storage: 2, load: 0 },
        ended: { succeeded: 7, failed: 1, cancelled: 0, timed_out: 0 },
      }),
    },
    pino({ level: 'silent' }),
    () => at,
  )
  const samples = async () => (await registry.metrics()).split('\n').filter((line) => /^heddle/.test(line))
  const whole = [
    'heddle_engine_queued 3',
    'heddle_engine_oldest_queued_seconds 1.5',
    'heddle_engine_running 2',
    'heddle_engine_waiting 1',
    'heddle_engine_poison 0',
    'heddle_engine_workers 1',
  ]
  const counted = [
    'heddle_engine_mended_total 4',
    'heddle_engine_platform_errors_total{kind="database"} 1',
    'heddle_engine_platform_errors_total{kind="storage"} 2',
    'heddle_engine_platform_errors_total{kind="load"} 0',
    'heddle_engine_ended_total{status="succeeded"} 7',
    'heddle_engine_ended_total{status="failed"} 1',
    'heddle_engine_ended_total{status="cancelled"} 0',
    'heddle_engine_ended_total{status="timed_out"} 0',
  ]
  expect(await Promise.all([samples(), samples()])).toEqual([
    [...whole, ...counted],
    [...whole, ...counted],
  ])
  at = 9 * SECOND
  expect(await samples()).toEqual([...whole, ...counted])
  expect(asked).toBe(1)
  answers = false
  at = 10 * SECOND
  expect(await samples()).toEqual(counted)
  expect(asked).toBe(2)
  answers = true
  at = 20 * SECOND
  expect(await samples()).toEqual([...whole, ...counted])
})
