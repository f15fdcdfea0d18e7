import { expect, test } from 'vitest'
import type { ExecutionView } from '#engine/ports'
import { newId, toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import { makeViews } from './view.ts'

const blob = { key: 'runs/x', sha256: 'a'.repeat(64), bytes: 40_000 }

const viewOf = (more: Partial<ExecutionView>): ExecutionView =>
  ({
    execution_id: newId(),
    workflow_id: newId(),
    system_slug: null,
    input: {},
    large_input: null,
    results: null,
    results_blob: blob,
    waiting_for: [],
    trigger: { kind: 'user', id: null },
    nodes: [],
    usage: [],
    ...more,
  }) as unknown as ExecutionView

const viewsWith = (get: () => Promise<Buffer | undefined>) =>
  makeViews({ get } as unknown as Blobs, () => ({ readInput: async () => undefined }))

test.each<[string, () => Promise<Buffer | undefined>, (id: string) => unknown]>([
  ['are shown unchanged', async () => Buffer.from('{"a":1}'), () => ({ a: 1 })],
  ['that were deleted are marked as gone', async () => undefined, () => ({ $blob: null, bytes: 40_000, gone: true })],
  [
    'that cannot be read are returned as an address',
    async () => {
      throw new Error('ECONNREFUSED')
    },
    (id) => ({ $blob: `/api/workflows/executions/${toWire('exe', id)}/blobs/${blob.sha256}`, bytes: 40_000 }),
  ],
])('results in the blob store %s', async (_name, get, expected) => {
  const view = viewOf({})
  expect((await viewsWith(get).whole(view)).results).toEqual(expected(view.execution_id))
})

test('an input over a megabyte is returned as an address', async () => {
  const view = viewOf({ input: null, large_input: { sha256: 'b'.repeat(64), bytes: 2_000_000 }, results_blob: null })
  const { input } = await viewsWith(async () => undefined).whole(view)
  expect(input).toMatchObject({ $blob: expect.stringContaining('b'.repeat(64)), bytes: 2_000_000 })
})
