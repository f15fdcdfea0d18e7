import { beforeAll, expect, test } from 'vitest'
import { fromWire, newId, toWire } from '#platform/ids'
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

test('an operator finds an execution that is parked after crashes and releases it', async () => {
  const definition = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 3600 } }], edges: [] }
  const { body: workflow } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Crashes', definition } })
  const { body: started } = await world.owner.call('POST', `/api/workflows/${workflow.workflow_id}/run`, { body: {} })
  const address = `/api/workflows/executions/${started.execution_id}`
  const release = `/api/operations/executions/${started.execution_id}/release`
  const waitsFor = (kind: string) =>
    until(async () => {
      const { body } = await world.owner.call('GET', address)
      return body.waiting_for[0]?.kind === kind ? body : undefined
    }, `an execution that waits for a ${kind}`)
  await waitsFor('timer')
  expect(await operator.call('POST', release)).toMatchObject({ status: 409, body: { code: 'conflict' } })

  const since = '2026-01-31T12:00:00.000Z'
  const wait = JSON.stringify([{ kind: 'slot', reason: 'poison', since, crashes: 5 }])
  await service().sql(
    `update executions set crashes = 5, due_at = null, waiting_for = $2 where execution_id = $1 and status = 'waiting'`,
    [fromWire('exe', started.execution_id), wait],
  )
  const poisoned = {
    execution_id: started.execution_id,
    workspace_id: world.workspace.id,
    workspace_name: 'Home',
    since,
  }
  const { body: health } = await operator.call('GET', '/api/operations/engine')
  expect(health).toMatchObject({ poison: 1, poisoned: [poisoned], unaccounted: [] })

  expect((await world.owner.call('POST', release)).status).toBe(403)
  expect(await operator.call('POST', release)).toMatchObject({
    status: 202,
    body: { execution_id: started.execution_id, workspace_id: world.workspace.id },
  })
  await waitsFor('timer')
  const { body: after } = await operator.call('GET', '/api/operations/engine')
  expect(after).toMatchObject({ poison: 0, poisoned: [], unaccounted: [] })
  const { body: log } = await world.owner.call('GET', '/api/audit-log')
  expect(log.items[0]).toMatchObject({
    action: 'execution.released',
    actor_kind: 'operator',
    subject: started.execution_id,
  })
  const unknown = `/api/operations/executions/${toWire('exe', newId())}/release`
  expect((await operator.call('POST', unknown)).status).toBe(404)
  await world.owner.call('POST', `${address}/cancel`)
})

test('mail that could not be sent is in the outbox, and reading the outbox is audited', async () => {
  const invited = await world.owner.call('POST', `/api/workspaces/${world.workspace.id}/members/invite`, {
    body: { email: 'new@example.com' },
  })
  const { body } = await operator.call('GET', '/api/operations/outbox')
  expect(body.items).toMatchObject([{ recipient: ['new@example.com'] }])
  // An operator who reads the link could accept the invitation.
  expect(body.items[0].body_text).toContain('/invitations/…')
  expect(JSON.stringify(body)).not.toContain(invited.body.link.split('/').at(-1))
  const [row] = await service().sql<{ n: number }>(
    `select count(*)::int as n from audit_log where action = 'operator.listed' and subject = 'outbox'`,
  )
  expect(row!.n).toBe(1)
})

test('a server whose worker sends no heartbeats is not ready until heartbeats resume', async () => {
  const answersWith = (wanted: number) =>
    until(async () => {
      const { status } = await service().call('GET', '/readyz')
      return status === wanted ? status : undefined
    }, `an answer with ${wanted}`)
  await answersWith(200)
  await service().sql('revoke update on heartbeats from heddle_engine')
  try {
    await answersWith(503)
  } finally {
    await service().sql('grant update on heartbeats to heddle_engine')
  }
  await answersWith(200)
})

test('a scrape does not count its own query as a caller that waits for a connection', async () => {
  // The engine itself may wait for a connection at the moment of a scrape, but not at each one.
  const text = await until(async () => {
    const scraped = await service().call('GET', '/metrics')
    return /^heddle_database_connections{pool="engine",state="awaited"} 0$/m.test(scraped.text) && scraped.text
  }, 'a scrape without waiting callers')
  // The figures of the engine were read for this scrape.
  expect(text).toMatch(/^heddle_engine_workers \d/m)
})

test('the metrics show how many executions are queued, running, waiting and parked, and how many workers are alive', async () => {
  const { text } = await service().call('GET', '/metrics')
  for (const name of ['queued', 'oldest_queued_seconds', 'running', 'waiting', 'poison'])
    expect(text).toMatch(new RegExp(`^heddle_engine_${name} \\d\\S*$`, 'm'))
  expect(text).toMatch(/^heddle_engine_workers 1$/m)
})

test('the metrics count the executions that ended, by status, and the connections to the database', async () => {
  const value = async (sample: string): Promise<number> => {
    const { text } = await service().call('GET', '/metrics')
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${sample} `))
        ?.slice(sample.length),
    )
  }
  const [succeeded, failed] = ['succeeded', 'failed'].map((status) => `heddle_engine_ended_total{status="${status}"}`)
  const before = { succeeded: await value(succeeded!), failed: await value(failed!) }
  for (const [type, args] of [
    ['set', { values: {} }],
    ['fail', { message: 'No' }],
  ]) {
    const definition = { nodes: [{ id: 'a', type, args }], edges: [] }
    const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Ends', definition } })
    await world.owner.call('POST', `/api/workflows/${body.workflow_id}/run?wait_s=60`, { body: {} })
  }
  await until(async () => (await value(succeeded!)) === before.succeeded + 1, 'the success to be counted')
  await until(async () => (await value(failed!)) === before.failed + 1, 'the failure to be counted')
  // A connection may be in use at the moment of the request.
  for (const pool of ['requests', 'engine']) {
    const idle = `heddle_database_connections{pool="${pool}",state="idle"}`
    await until(async () => (await value(idle)) > 0, `an idle connection of ${pool}`)
  }
})
