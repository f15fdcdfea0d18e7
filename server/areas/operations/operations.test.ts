import { beforeAll, expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useService({ env: { HEDDLE_OPERATORS: 'op@example.com' } })
let world: World
let operator: TestPerson
beforeAll(async () => {
  world = await makeWorld(service())
  operator = await makePerson(service(), { email: 'op@example.com' })
})

test('an operator sees the queue, the workers and that every live execution is accounted for', async () => {
  const definition = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 3600 } }], edges: [] }
  const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Waits', definition } })
  await world.owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { body: {} })
  const health = await until(async () => {
    const { body: seen } = await operator.call('GET', '/api/operations/engine')
    return seen.waiting === 1 ? seen : undefined
  }, 'the parked execution')
  expect(health).toMatchObject({ queued: 0, poison: 0, unaccounted: [] })
  expect(health.workers.some(({ alive }: { alive: boolean }) => alive)).toBe(true)
  expect((await world.owner.call('GET', '/api/operations/engine')).status).toBe(403)
})

test('mail that could not be sent is in the outbox, and the look is audited', async () => {
  const invited = await world.owner.call('POST', `/api/workspaces/${world.workspace.id}/members/invite`, {
    body: { email: 'new@example.com' },
  })
  const { body } = await operator.call('GET', '/api/operations/outbox')
  expect(body.items).toMatchObject([{ recipient: ['new@example.com'] }])
  // An operator who reads the link could come in with it.
  expect(body.items[0].body_text).toContain('/invitations/…')
  expect(JSON.stringify(body)).not.toContain(invited.body.link.split('/').at(-1))
  const [row] = await service().sql<{ n: number }>(
    `select count(*)::int as n from audit_log where action = 'operator.listed' and subject = 'outbox'`,
  )
  expect(row!.n).toBe(1)
})
