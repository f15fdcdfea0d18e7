import { afterAll, beforeAll, expect, test } from 'vitest'
import { toWire } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Bench, chain, kind, startTestEngine } from '../testing.ts'

let database: TestDatabase
let bench: Bench
beforeAll(async () => {
  database = await makeTestDatabase()
  bench = await startTestEngine(database.urls, {
    nodes: [kind('says', 'pure', ({ log }) => ({ output: { ...log.bindings() } }))],
  })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

test('the log lines of a node contain its workspace, its execution and its path', async () => {
  const id = await bench.run(chain(1, 'says'), { value: 1 })
  const ended = await bench.engine.waitFor(bench.workspaceId, id, 60_000)
  expect(ended?.nodes[0]?.output).toMatchObject({
    workspace_id: toWire('ws', bench.workspaceId),
    execution_id: toWire('exe', id),
    node: 'n0',
  })
})
