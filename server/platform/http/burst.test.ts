import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld } from '#test/harness/world'

const service = useSharedService()
afterEach(() => void vi.restoreAllMocks())

test('a burst beyond the limit is refused before it waits for a place, and all waiting requests are served', async () => {
  const { owner } = await makeWorld(service())
  const limited = await startService({ database: service().database, env: { HEDDLE_RATE_LIMITS: 'on' } })
  const lock = new pg.Client({ connectionString: service().database.superuserUrl })
  await lock.connect()
  try {
    const ask = async (): Promise<number> => (await limited.call('GET', '/api/teams', { token: owner.key })).status
    expect(await ask()).toBe(200)
    // The limit does not refill while the clock is stopped.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    await lock.query('begin')
    await lock.query('lock table teams in access exclusive mode')
    const answers: number[] = []
    const asked = Array.from({ length: 300 }, async () => answers.push(await ask()))
    await until(async () => answers.length >= 100, 'the refusals')
    expect(new Set(answers)).toEqual(new Set([429]))
    await lock.query('rollback')
    await Promise.all(asked)
    const count = (wanted: number): number => answers.filter((status) => status === wanted).length
    expect([199, 200]).toContain(count(200))
    expect(count(429)).toBe(300 - count(200))
  } finally {
    await lock.end()
    await limited.stop()
  }
})
