import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// The short form of `npm run chaos -- connections-exhausted`: every connection is lost, and the server refuses new
// ones.

let database: TestDatabase
let superuser: pg.Client
let api: Service
let workers: Service[]
let world: World

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  api = await startService({ role: 'api', database })
  workers = [await startService({ role: 'worker', database }), await startService({ role: 'worker', database })]
  world = await makeWorld(api)
})
afterAll(async () => {
  for (const worker of workers ?? []) await worker.stop()
  await api?.stop()
  await database?.drop()
})

const exhaust = async (): Promise<void> => {
  await superuser.query(`alter database ${database.name} connection limit 0`)
  await superuser.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename like 'heddle%'`)
}

const readiness = async (service: Service): Promise<number> => (await service.call('GET', '/readyz')).status

test('a service without database connections answers 503, loses nothing, and counts no execution as crashed', async () => {
  const { owner, member } = world
  const policy = { approvers: [{ kind: 'role', id: 'member' }], quorum: 'any' }
  const made = await owner.call('POST', '/api/workflows', {
    body: {
      name: 'Waits',
      definition: {
        nodes: [{ id: 'gate', type: 'approval', args: { title: 'Go?', payload: {}, policy } }],
        edges: [],
        output: { $ref: 'nodes.gate.output.outcome' },
      },
    },
  })
  const run = `/api/workflows/${made.body.workflow_id}/run`
  const started: string[] = []
  for (let n = 0; n < 5; n += 1) started.push((await owner.call('POST', run, { body: {} })).body.execution_id)

  await exhaust()
  const refused = await owner.call('POST', run, { body: {}, headers: { 'idempotency-key': 'again' } })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  await until(async () => (await readiness(api)) === 503, 'an API that is not ready')
  for (const worker of workers) await until(async () => (await readiness(worker)) === 503, 'a worker that is not ready')

  await superuser.query(`alter database ${database.name} connection limit -1`)
  for (const service of [api, ...workers])
    await until(async () => (await readiness(service)) === 200, 'a service that is ready again')
  const again = await until(async () => {
    const answer = await owner.call('POST', run, { body: {}, headers: { 'idempotency-key': 'again' } })
    return answer.status === 202 && answer
  }, 'a start')
  started.push(again.body.execution_id)

  for (const execution of started) {
    const gate = await until(async () => {
      const { status, body } = await member.call('GET', '/api/approvals/inbox')
      return status === 200 && body.items.find((item: { execution_id: string }) => item.execution_id === execution)
    }, 'the gate')
    const body = { decision: 'approve', payload_sha256: gate.payload_sha256 }
    expect((await member.call('POST', `/api/approvals/${gate.request_id}/votes`, { body })).status).toBe(201)
    const view = await until(async () => {
      const { body } = await owner.call('GET', `/api/workflows/executions/${execution}`)
      return body.finished_at && body
    }, 'the end of the execution')
    expect(view).toMatchObject({ status: 'succeeded', results: 'approved' })
  }
  expect((await superuser.query('select distinct crashes from executions')).rows).toEqual([{ crashes: 0 }])
})
