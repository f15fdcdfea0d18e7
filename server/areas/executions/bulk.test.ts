import { beforeAll, describe, expect, test } from 'vitest'
import { startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { retryIdOf } from './bulk-work.ts'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const asking = { nodes: [{ id: 'q', type: 'clarification', args: { question: '?' } }], edges: [] }
const failing = { nodes: [{ id: 'f', type: 'fail', args: { code: 'broken', message: 'on purpose' } }], edges: [] }

async function make(definition: unknown, as: TestPerson = world.owner): Promise<string> {
  const made = await as.call('POST', '/api/workflows', { body: { name: 'Bulk', definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const runMany = async (id: string, runs: object[], as: TestPerson = world.owner): Promise<string[]> => {
  const { body } = await as.call('POST', `/api/workflows/${id}/run-batch`, { body: { runs } })
  return body.runs.map(({ execution_id }: { execution_id: string }) => execution_id)
}
const read = async (id: string, as: TestPerson = world.owner) =>
  (await as.call('GET', `/api/workflows/executions/${id}`)).body
const become = (ids: string[], status: string) =>
  until(async () => {
    for (const id of ids) if ((await read(id)).status !== status) return undefined
    return true
  }, `all to become ${status}`)
const bulk = (body: object, as: TestPerson = world.owner) => as.call('POST', '/api/executions/bulk', { body })
const done = async (body: object, as: TestPerson = world.owner) => {
  const started = await bulk(body, as)
  expect(started.status, started.text).toBe(202)
  return until(async () => {
    const { body: seen } = await as.call('GET', `/api/executions/bulk/${started.body.bulk_id}`)
    return seen.status === 'done' ? seen : undefined
  }, 'the end of the bulk operation')
}

describe('cancelling', () => {
  test('ends all executions that match the filter, also in several portions, and no others', async () => {
    const id = await make(asking)
    const [kept, ...ids] = await runMany(id, [
      { tags: ['keep'] },
      ...Array.from({ length: 149 }, () => ({ tags: ['old'] })),
    ])
    await become([kept!, ids.at(-1)!], 'waiting')
    const filter = { workflow_id: id, tag: 'old', from: '2026-01-31T10:30:00+01:00' }
    expect(await done({ action: 'cancel', filter })).toMatchObject({
      filter: { ...filter, from: '2026-01-31T09:30:00.000Z' },
      total: 149,
      done: 149,
      refused: 0,
    })
    await become(ids, 'cancelled')
    expect((await read(kept!)).status).toBe('waiting')
    expect(await done({ action: 'cancel', filter: { execution_ids: [kept!, ids[0]!] } })).toMatchObject({
      filter: { execution_ids: [kept!, ids[0]!] },
      total: 1,
      done: 1,
    })
    await become([kept!], 'cancelled')
  })

  test('does not affect executions that have ended', async () => {
    const id = await make(failing)
    const ids = await runMany(id, [{}])
    await become(ids, 'failed')
    expect(await done({ action: 'cancel', filter: { workflow_id: id } })).toMatchObject({ total: 0, done: 0 })
  })
})

describe('retrying', () => {
  test('starts each failed execution once more, and does not retry the new executions', async () => {
    const id = await make(failing)
    const ids = await runMany(id, [{}, {}, {}])
    await become(ids, 'failed')
    const filter = { workflow_id: id, error_code: 'broken' }
    expect(await done({ action: 'retry', filter })).toMatchObject({ total: 3, done: 3, refused: 0, last_error: null })
    const { items } = (await world.owner.call('GET', `/api/workflows/${id}/executions`)).body
    expect(items).toHaveLength(6)
    expect(new Set(items.map(({ retry_of }: { retry_of: string | null }) => retry_of))).toEqual(new Set([null, ...ids]))
    expect(await done({ action: 'retry', filter: { ...filter, error_code: 'other' } })).toMatchObject({ total: 0 })
  })

  test('starts nothing twice when a portion is repeated after a crash', async () => {
    const id = await make(failing)
    const ids = await runMany(id, [{}, {}])
    await become(ids, 'failed')
    const seen = await done({ action: 'retry', filter: { workflow_id: id } })
    // The state after a process crashes before it commits the progress of the portion.
    await service().sql(
      `update execution_bulks set status = 'running', finished_at = null, reached = 'ffffffff-ffff-ffff-ffff-ffffffffffff', done = 0
       where bulk_id = (select bulk_id from execution_bulks order by created_at desc limit 1)`,
    )
    const again = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/executions/bulk/${seen.bulk_id}`)
      return body.status === 'done' ? body : undefined
    }, 'the end of the repeated bulk operation')
    expect(again.done).toBe(2)
    expect((await world.owner.call('GET', `/api/workflows/${id}/executions`)).body.items).toHaveLength(4)
  })

  test('derives the id of a retry from the bulk operation, its time and the execution', () => {
    const of = { bulk_id: '019b0f2c-6c1e-7aa3-9f52-3e7b6f0c1d2a', created_at: new Date('2026-01-31T00:00:00Z') }
    const one = retryIdOf(of, '019b0f2c-0000-7000-8000-000000000001')
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(retryIdOf(of, '019b0f2c-0000-7000-8000-000000000001')).toBe(one)
    expect(retryIdOf(of, '019b0f2c-0000-7000-8000-000000000002')).not.toBe(one)
    expect(Number.parseInt(one.replaceAll('-', '').slice(0, 12), 16)).toBe(of.created_at.getTime())
  })
})

describe('a bulk operation', () => {
  test('affects only workflows that the caller may run, and is visible only to its creator', async () => {
    const id = await make(asking)
    const ids = await runMany(id, [{}])
    await become(ids, 'waiting')
    const colleague = await makePerson(service())
    await addMember(service(), world.workspace, colleague, 'member')
    for (const filter of [{ workflow_id: id }, { execution_ids: ids }])
      expect(await done({ action: 'cancel', filter }, colleague)).toMatchObject({ total: 0, done: 0 })
    const { body } = await bulk({ action: 'cancel', filter: { workflow_id: id, tag: 'none' } })
    expect((await colleague.call('GET', `/api/executions/bulk/${body.bulk_id}`)).status).toBe(404)
    expect((await read(ids[0]!)).status).toBe('waiting')
  })

  test.each([
    { body: { action: 'cancel', filter: {} }, path: '/filter' },
    { body: { action: 'delete', filter: { tag: 'a' } }, path: '/action' },
    { body: { action: 'cancel', filter: { status: ['gone'] } }, path: '/filter/status/0' },
    { body: { action: 'cancel', filter: { execution_ids: [] } }, path: '/filter/execution_ids' },
  ])('is refused if it is invalid: $body', async ({ body, path }) => {
    const refused = await bulk(body)
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([422, path])
  })
})

test('simultaneous requests for bulk operations are accepted only up to the limit of running ones', async () => {
  // This service has no worker, so every accepted operation keeps running.
  const idle = await startService({ role: 'api' })
  try {
    const { owner } = await makeWorld(idle)
    const body = { action: 'cancel', filter: { tag: 'none' } }
    const ask = () => owner.call('POST', '/api/executions/bulk', { body })
    const answers = await Promise.all(Array.from({ length: 14 }, ask))
    const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length
    expect([count(202), count(409)]).toEqual([10, 4])
  } finally {
    await idle.stop()
  }
})
