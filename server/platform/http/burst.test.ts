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
    const time = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    expect([await ask(owner), await ask(neighbour)]).toEqual([200, 200])
    const answers: number[] = []
    const asked = Array.from({ length: 60 }, async () => answers.push(await ask(owner)))
    // The first request has taken one of the 20.
    await until(async () => answers.length >= 19, 'the requests that start at once')
    for (let n = 0; n < 10; n++) expect(await ask(neighbour)).toBe(200)
    expect(answers.length).toBe(19)
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
  const env = { HEDDLE_RATE_LIMITS: 'on', HEDDLE_MAX_AT_WORK: '4' }
  const limited = await startService({ database: service().database, env })
  const lock = new pg.Client({ connectionString: service().database.superuserUrl })
  await lock.connect()
  try {
    const answers: number[] = []
    const ask = (times: number): Promise<unknown> =>
      Promise.all(
        Array.from({ length: times }, async () => {
          answers.push((await limited.call('GET', '/api/teams', { token: owner.key })).status)
        }),
      )
    // The limit does not refill while the clock is stopped. Two seconds after its first request, the tenant is alone.
    const time = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    await ask(1)
    time.mockReturnValue(performance.now() + 2_000)
    // Only a few requests are left for the time of the lock, because a request waits for a lock for at most ten seconds.
    for (let n = 0; n < 9; n++) await ask(20)
    expect(answers.splice(0)).toEqual(Array(181).fill(200))
    await lock.query('begin')
    await lock.query('lock table teams in access exclusive mode')
    const asked = ask(30)
    await until(async () => answers.length >= 10, 'the refusals')
    await lock.query('rollback')
    vi.restoreAllMocks()
    await asked
    expect(answers).toEqual([...Array<number>(10).fill(429), ...Array<number>(20).fill(200)])
  } finally {
    await lock.end()
    await limited.stop()
  }
})
