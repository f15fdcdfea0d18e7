import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld } from '#test/harness/world'

const service = useSharedService()
afterEach(() => void vi.restoreAllMocks())

test('next to another tenant, 20 requests of a burst start at once and the others at the rate of the limit', async () => {
  const [{ owner }, { owner: neighbour }] = [await makeWorld(service()), await makeWorld(service())]
  const limited = await startService({ database: service().database, env: { HEDDLE_RATE_LIMITS: 'on' } })
  const ask = async ({ key }: { key: string }): Promise<number> =>
    (await limited.call('GET', '/api/teams', { token: key })).status
  try {
    expect([await ask(owner), await ask(neighbour)]).toEqual([200, 200])
    const time = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    const answers: number[] = []
    const asked = Array.from({ length: 60 }, async () => answers.push(await ask(owner)))
    // The first request may have taken one of the 20.
    await until(async () => answers.length >= 19, 'the requests that start at once')
    for (let n = 0; n < 10; n++) expect(await ask(neighbour)).toBe(200)
    expect(answers.length).toBeLessThanOrEqual(20)
    time.mockRestore()
    await Promise.all(asked)
    expect(answers.length).toBe(60)
    expect(new Set(answers)).toEqual(new Set([200]))
  } finally {
    await limited.stop()
  }
})

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
    vi.restoreAllMocks()
    await Promise.all(asked)
    const count = (wanted: number): number => answers.filter((status) => status === wanted).length
    expect([199, 200]).toContain(count(200))
    expect(count(429)).toBe(300 - count(200))
  } finally {
    await lock.end()
    await limited.stop()
  }
})
