import { afterAll, beforeAll, expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Bench, chain, kind, startTestEngine } from './testing.ts'

// The places of a worker, which the workspaces share.

const slowly = { nodes: [{ id: 's', type: 'slow' }], edges: [] }
const workspaces = Array.from({ length: 3 }, newId)
const perWorkspace = 4
let database: TestDatabase
let bench: Bench
let finish: () => void

beforeAll(async () => {
  const { promise: finished, resolve } = Promise.withResolvers<void>()
  finish = resolve
  const slow = kind('slow', 'pure', async () => {
    await finished
    return { output: 'done' }
  })
  database = await makeTestDatabase()
  bench = await startTestEngine(database.urls, {
    nodes: [slow],
    engine: { limits: { capacity: 2 * perWorkspace, perWorkspace } },
  })
})
afterAll(async () => {
  finish?.()
  await bench?.stop()
  await database?.drop()
})

test('workspaces whose executions wait for others leave places for further workspaces', async () => {
  const started: { workspaceId: string; executionId: string }[] = []
  for (const workspaceId of workspaces)
    for (let n = 0; n < 2 * perWorkspace; n++)
      started.push({ workspaceId, executionId: await bench.run(slowly, {}, { workspaceId }) })
  const runningIn = async (of: string): Promise<number> => {
    const views = await Promise.all(
      started
        .filter(({ workspaceId }) => workspaceId === of)
        .map(({ workspaceId, executionId }) => bench.engine.readExecution(workspaceId, executionId)),
    )
    return views.filter((view) => view?.status === 'running').length
  }
  // The first workspace gets all places that it may have, the others half of the rest each.
  await expect.poll(() => Promise.all(workspaces.map(runningIn)), { timeout: 60 * SECOND }).toEqual([4, 2, 1])

  const own = newId()
  const executionId = await bench.run(chain(3), { value: 'mine' }, { workspaceId: own })
  expect(await bench.engine.waitFor(own, executionId, 60 * SECOND)).toMatchObject({ status: 'succeeded' })

  finish()
  for (const { workspaceId, executionId: id } of started)
    expect(await bench.engine.waitFor(workspaceId, id, 60 * SECOND)).toMatchObject({ status: 'succeeded' })
})
