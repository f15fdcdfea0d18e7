import { expect, test } from 'vitest'
import type { Json } from '#model/definition'
import { checkInputInTurn } from './start.ts'

/** Records the workspaces that had to wait for a turn. */
const counting = () => {
  const waited: string[] = []
  return { waited, turns: { next: async (workspaceId: string) => void waited.push(workspaceId) } }
}

const forms = Array.from({ length: 400 }, (_, n) => ({
  type: 'object',
  properties: { x: { const: n } },
  required: ['x'],
}))
const heavy: Json = { type: 'object', properties: { xs: { type: 'array', items: { anyOf: forms } } } }

test('an expensive check of an input waits for a turn of its workspace, a cheap check does not wait', async () => {
  const { waited, turns } = counting()
  await checkInputInTurn(turns, 'light', { inputs: { type: 'object', required: ['a'] }, input: { a: 1 } })
  expect(waited).toEqual([])
  const input = { xs: Array.from({ length: 50 }, () => ({ x: 399 })) }
  await expect(
    checkInputInTurn(turns, 'heavy', { inputs: heavy, input: { xs: [...input.xs, ...input.xs, ...input.xs] } }),
  ).rejects.toMatchObject({
    code: 'invalid',
  })
  expect(waited).toEqual(['heavy'])
})
