import { expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { throughPooler } from '#platform/db/pooler'
import { startFakePooler } from '#test/harness/pooler'
import { makeTestDatabase } from '#test/harness/postgres'
import { targetOf } from '#test/harness/proxy'
import { kind, startTestEngine } from './testing.ts'

test('an execution is claimed with its journal behind a pooler that changes sessions between statements', async () => {
  const database = await makeTestDatabase()
  const superuser = await database.superuser()
  const pooler = await startFakePooler(targetOf(database.superuserUrl), { named: true, late: true })
  const urls = await throughPooler(database.urls, pooler.through(database.urls.app), 'transaction')
  const begun: string[] = []
  const { promise: end, resolve } = Promise.withResolvers<void>()
  const slow = kind('slow', 'idempotent', async () => {
    begun.push('slow')
    await end
    return { output: 'done' }
  })
  const quick = kind('quick', 'idempotent', () => {
    begun.push('quick')
    return { output: 'done' }
  })
  const bench = await startTestEngine(urls, { nodes: [quick, slow] })
  try {
    const executionId = await bench.run({
      nodes: [
        { id: 'a', type: 'quick' },
        { id: 'b', type: 'slow' },
      ],
      edges: [{ from: { node: 'a' }, to: 'b' }],
    })
    await expect.poll(() => begun).toEqual(['quick', 'slow'])
    await superuser.query('select engine.bury(worker_id) from workers where not dead')
    await expect.poll(() => begun, { timeout: 60 * SECOND }).toEqual(['quick', 'slow', 'slow'])
    // Each time the execution is given back, its epoch grows.
    const { rows } = await superuser.query('select epoch from executions where execution_id = $1', [executionId])
    expect(rows).toEqual([{ epoch: 1 }])
    resolve()
    expect(await bench.engine.waitFor(bench.workspaceId, executionId, 60 * SECOND)).toMatchObject({
      status: 'succeeded',
    })
  } finally {
    resolve()
    await bench.stop()
    await pooler.stop()
    await database.drop()
  }
})
