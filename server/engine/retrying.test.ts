import { afterAll, beforeAll, expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { NodeFailure } from './node.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

let database: TestDatabase
let bench: Bench
let isMended = false
let letGo: () => void = () => {}
const held = new Promise<void>((resolve) => {
  letGo = resolve
})

beforeAll(async () => {
  database = await makeTestDatabase()
  const mended = kind('mended', 'idempotent', async ({ args }) => {
    if (!isMended) throw new NodeFailure('broken', 'not yet', { retryable: false })
    await held
    return { output: (args.value as string).length }
  })
  bench = await startTestEngine(database.urls, { nodes: [mended] })
})
afterAll(async () => {
  letGo()
  await bench?.stop()
  await database?.drop()
})

test('the row of a retry does not contain large outputs that it keeps', async () => {
  const id = await bench.run(
    {
      nodes: [
        { id: 'large', type: 'call', args: { value: { $ref: 'input' } } },
        { id: 'last', type: 'mended', args: { value: { $ref: 'nodes.large.output' } } },
      ],
      edges: [{ from: { node: 'large' }, to: 'last' }],
      output: { $ref: 'nodes.last.output' },
    },
    'x'.repeat(500_000),
  )
  expect(await bench.engine.waitFor(bench.workspaceId, id, 20 * SECOND)).toMatchObject({ status: 'failed' })
  isMended = true
  const { executionId } = await bench.engine.retry({
    workspaceId: bench.workspaceId,
    executionId: id,
    from: 'failed',
    trigger: { kind: 'user', id: null },
    startedBy: null,
  })
  const [row] = await bench.db.engine((tx) =>
    tx.rows<{ bytes: number }>(
      'select octet_length(snapshot::text) as bytes from executions where workspace_id = $1 and execution_id = $2',
      [bench.workspaceId, executionId],
    ),
  )
  expect(row?.bytes).toBeLessThan(1_000)
  letGo()
  expect(await bench.engine.waitFor(bench.workspaceId, executionId, 20 * SECOND)).toMatchObject({
    status: 'succeeded',
    results: 500_000,
  })
})
