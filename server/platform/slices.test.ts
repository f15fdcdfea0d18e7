import { expect, test } from 'vitest'
import { makeSlices } from './slices.ts'

test('workspaces take turns, with one slice per turn of the event loop', async () => {
  const slices = makeSlices()
  const order: string[] = []
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const at: number[] = []
  const slice = async (workspace: string, name: string): Promise<void> => {
    await slices.next(workspace)
    order.push(name)
    at.push(turn)
  }
  await Promise.all([slice('a', 'a1'), slice('a', 'a2'), slice('a', 'a3'), slice('b', 'b1'), slice('c', 'c1')])
  isOver = true
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
  expect(new Set(at).size).toBe(5)
})

test('a slice that arrives while nothing is waiting starts in a later turn of the event loop', async () => {
  const slices = makeSlices()
  for (const name of ['first', 'second']) {
    let hasBegun = false
    const begun = slices.next('a').then(() => {
      hasBegun = true
    })
    await Promise.resolve()
    expect(hasBegun, name).toBe(false)
    await begun
  }
})
