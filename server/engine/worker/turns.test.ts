import { expect, test } from 'vitest'
import { makeTurns } from './turns.ts'

const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('workspaces compute by turns, one slice in a turn of the event loop', async () => {
  const turns = makeTurns()
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
    await turns.next(workspace)
    order.push(name)
    at.push(turn)
  }
  await Promise.all([slice('a', 'a1'), slice('a', 'a2'), slice('a', 'a3'), slice('b', 'b1'), slice('c', 'c1')])
  isOver = true
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
  expect(new Set(at).size).toBe(5)
})

test('what one workspace has used up is not taken from another, and comes back with the next turn', async () => {
  const turns = makeTurns()
  turns.now('a').left -= 1_000_000
  expect(turns.now('a').left).toBeLessThanOrEqual(0)
  await turnOfLoop()
  expect(turns.now('a').left).toBeGreaterThan(0)
  turns.now('a').left = 0
  expect(turns.now('b').left).toBeGreaterThan(0)
})

test('all workspaces together have a limit in one turn', async () => {
  const turns = makeTurns()
  const allowed = Array.from({ length: 20 }, (_, n) => {
    const allowance = turns.now(`w${n}`)
    const had = allowance.left > 0
    allowance.left = Math.min(0, allowance.left)
    return had
  })
  expect(allowed.filter(Boolean).length).toBeLessThan(10)
  expect(allowed[0]).toBe(true)
})
