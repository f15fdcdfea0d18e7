import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace, type TestPerson } from '#test/harness/world'

// Starts that wait for their time. The first service starts nothing itself, so that the queue is there before a worker is.

let database: TestDatabase
let api: Service
let worker: Service | undefined
let ada: TestPerson
beforeAll(async () => {
  database = await makeTestDatabase()
  api = await startService({ database, role: 'api' })
  ada = await makePerson(api)
  await makeWorkspace(api, ada)
})
afterAll(async () => {
  await worker?.stop()
  await api.stop()
  await database.drop()
})

test('when their time has come, they are queued by their priority', async () => {
  const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
  const made = await ada.call('POST', '/api/workflows', { body: { name: 'W', definition } })
  const { workflow_id } = made.body
  // A worker takes 16 executions of a workspace at once, so these need three claims.
  const asked = [-10, ...Array.from({ length: 40 }, () => 0), 10]
  const runs = asked.map((priority) => ({ input: {}, priority, start_at: '2999-01-01T00:00:00Z' }))
  const { body } = await ada.call('POST', `/api/workflows/${workflow_id}/run-batch`, { body: { runs } })
  const ids: string[] = body.runs.map(({ execution_id }: { execution_id: string }) => execution_id)
  await api.sql(`update executions set due_at = now() where workflow_id = $1`, [fromWire('wf', workflow_id)])

  worker = await startService({ database, role: 'worker' })
  const read = async (id: string) => (await ada.call('GET', `/api/workflows/executions/${id}`)).body
  const startOf = async (id: string): Promise<string> => {
    await until(async () => (await read(id)).status === 'succeeded', 'the end')
    return (await read(id)).started_at
  }
  const starts: string[] = []
  for (const id of ids) starts.push(await startOf(id))
  const [low, high, sorted] = [starts[0]!, starts.at(-1)!, [...starts].sort()]
  expect(sorted[0]).not.toBe(sorted.at(-1))
  expect(high).toBe(sorted[0])
  expect(low).toBe(sorted.at(-1))
})
