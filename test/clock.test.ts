import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { HOUR, MINUTE, SECOND } from '#platform/clock'
import { useService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

// The clock of the machine that runs the program is one hour wrong, and jumps. The clock of the database decides.

const service = useService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})
afterEach(() => {
  vi.useRealTimers()
})

const jump = (by: number): void => {
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(now + by)
}
const databaseNow = async (): Promise<number> =>
  (await service().sql<{ now: Date }>('select clock_timestamp() as now'))[0]!.now.getTime()

const make = async (args: unknown): Promise<string> => {
  const { body } = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Waits', definition: { nodes: [{ id: 'w', type: 'wait', args }], edges: [] } },
  })
  return body.workflow_id
}

describe.each([
  ['ahead', HOUR],
  ['behind', -HOUR],
])('a machine whose clock is an hour %s', (_, by) => {
  test('waits exactly as long as the workflow says', async () => {
    const id = await make({ for_s: 1 })
    jump(by)
    const { body } = await world.owner.call('POST', `/api/workflows/${id}/run?wait_s=60`, { body: {} })
    expect(body.status).toBe('succeeded')
    const waited = new Date(body.finished_at).getTime() - new Date(body.started_at).getTime()
    expect(waited).toBeGreaterThanOrEqual(SECOND)
    expect(waited).toBeLessThan(30 * MINUTE)
  })

  test('plans a schedule for the next minute', async () => {
    const id = await make({ for_s: 1 })
    jump(by)
    const { body } = await world.owner.call('PUT', `/api/workflows/${id}/schedule`, {
      body: { cron: '* * * * *', timezone: 'UTC' },
    })
    const ahead = new Date(body.next_run_at).getTime() - (await databaseNow())
    expect(ahead).toBeGreaterThan(-MINUTE)
    expect(ahead).toBeLessThanOrEqual(MINUTE)
    await world.owner.call('DELETE', `/api/workflows/${id}/schedule`)
  })

  test('gives tickets a lifetime of 30 seconds', async () => {
    const id = await make({ for_s: 600 })
    const started = await world.owner.call('POST', `/api/workflows/${id}/run`, { body: {} })
    jump(by)
    const ticket = await world.owner.call('POST', `/auth/workflow-ticket/${started.body.execution_id}`)
    const left = new Date(ticket.body.expires_at).getTime() - (await databaseNow())
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(30 * SECOND)
    expect((await world.owner.call('GET', '/auth/me')).status).toBe(200)
  })
})

describe("the database's clock was an hour ahead and is put back", () => {
  // Recreates what that hour left: the latest time the planner has seen.
  const putBack = async (planner: string): Promise<void> => {
    await service().sql(
      `insert into clock_marks values ($1, now() + interval '1 hour') on conflict (name) do update set latest = excluded.latest`,
      [planner],
    )
  }

  test('a schedule runs at its next minute; a schedule that is due later anyway does not change', async () => {
    const [soon, later, another] = [await make({ for_s: 1 }), await make({ for_s: 1 }), await make({ for_s: 1 })]
    const put = (id: string, cron: string) =>
      world.owner.call('PUT', `/api/workflows/${id}/schedule`, { body: { cron, timezone: 'UTC' } })
    const next = async (id: string): Promise<number> =>
      new Date((await world.owner.call('GET', `/api/workflows/${id}/schedule`)).body.next_run_at).getTime()
    await put(soon, '* * * * *')
    await put(later, '0 6 1 1 *')
    const january = await next(later)
    await service().sql(`update schedules set next_run_at = next_run_at + interval '1 hour' where cron = '* * * * *'`)
    await putBack('schedules')
    await put(another, '0 6 1 1 *')
    await expect.poll(() => next(soon)).toBeLessThanOrEqual((await databaseNow()) + MINUTE)
    expect(await next(later)).toBe(january)
    for (const id of [soon, later, another]) await world.owner.call('DELETE', `/api/workflows/${id}/schedule`)
  })

  test('the schedule of a job runs at its next minute', async () => {
    const { body } = await world.owner.call('POST', '/api/enrichment-jobs', {
      body: { name: 'Job', workflow_id: await make({ for_s: 1 }), schedule: { cron: '* * * * *', timezone: 'UTC' } },
    })
    await service().sql(`update enrichment_jobs set due_at = due_at + interval '1 hour' where cron is not null`)
    await putBack('jobs')
    const next = async (): Promise<number> => {
      const [job] = await service().sql<{ due_at: Date }>('select due_at from enrichment_jobs where cron is not null')
      return job!.due_at.getTime()
    }
    await world.owner.call('POST', `/api/enrichment-jobs/${body.job_id}/resume`)
    await expect.poll(next).toBeLessThanOrEqual((await databaseNow()) + MINUTE)
  })
})
