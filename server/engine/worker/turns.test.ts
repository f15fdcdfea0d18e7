import { expect, test } from 'vitest'
import { makeTurns } from './turns.ts'

const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('the allowance of one workspace does not affect another, and is renewed in the next turn of the event loop', async () => {
  const turns = makeTurns()
  turns.now('a').left -= 1_000_000
  expect(turns.now('a').left).toBeLessThanOrEqual(0)
  await turnOfLoop()
  expect(turns.now('a').left).toBeGreaterThan(0)
  turns.now('a').left = 0
  expect(turns.now('b').left).toBeGreaterThan(0)
})

test('all workspaces together have a limit in one turn of the event loop', async () => {
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

test('the allowance of a workspace is renewed with its next slice', async () => {
  const turns = makeTurns()
  turns.now('a').left = 0
  await turns.next('a')
  expect(turns.now('a').left).toBeGreaterThan(0)
})
