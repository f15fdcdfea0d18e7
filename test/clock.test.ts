import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { HOUR, MINUTE, SECOND } from '#platform/clock'
import { useService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

// The clock of the machine that runs the program is an hour off, and jumps. The database's clock rules.

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
  test('waits as long as it is told to, neither less nor an hour more', async () => {
    const id = await make({ for_s: 1 })
    jump(by)
    const { body } = await world.owner.call('POST', `/api/workflows/${id}/run?wait_s=60`, { body: {} })
    expect(body.status).toBe('succeeded')
    const waited = new Date(body.finished_at).getTime() - new Date(body.started_at).getTime()
    expect(waited).toBeGreaterThanOrEqual(SECOND)
    expect(waited).toBeLessThan(30 * MINUTE)
  })

  test('gives a schedule its next minute, not one in an hour or in the past', async () => {
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

  test('gives tickets their half minute', async () => {
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
