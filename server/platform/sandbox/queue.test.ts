import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeBudgets } from './budget.ts'
import { type FairQueue, makeFairQueue } from './queue.ts'
import { LEVEL_MS, levelsOf } from './sandbox.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const limits = { perKey: 1, waiting: 10, waitingPerKey: 5 }

async function workerOf(queue: FairQueue<number>, key: string): Promise<number> {
  const taken = await queue.take(key)
  if ('refused' in taken) throw new Error(taken.refused)
  return taken.worker
}

it('serves the workspaces in turn, regardless of the number of waiting calls of one workspace', async () => {
  const queue = makeFairQueue<number>(limits)
  const served: string[] = []
  const call = async (key: string) => {
    const worker = await workerOf(queue, key)
    served.push(key)
    queue.release(key, 1)
    queue.offer(worker)
  }
  const calls = [call('a'), call('a'), call('a'), call('b'), call('c'), call('b')]
  queue.offer(1)
  await Promise.all(calls)
  expect(served.join('')).toBe('abcaba')
})

it('serves the workspace with the least recent use first', async () => {
  const queue = makeFairQueue<number>(limits)
  queue.offer(1)
  for (const [key, used] of [
    ['much', 5_000],
    ['little', 10],
  ] as const) {
    const worker = await workerOf(queue, key)
    queue.release(key, used)
    queue.offer(worker)
  }
  const busy = await workerOf(queue, 'busy')
  const served: string[] = []
  for (const key of ['much', 'little', 'new']) void workerOf(queue, key).then(() => served.push(key))
  for (let n = 0; n < 3; n++) {
    queue.offer(busy)
    await vi.advanceTimersByTimeAsync(0)
  }
  expect(served).toEqual(['new', 'little', 'much'])
})

it('limits the workers of one workspace, so that other workspaces get one', async () => {
  const queue = makeFairQueue<number>({ ...limits, perKey: 2 })
  for (const worker of [1, 2, 3]) queue.offer(worker)
  const taken: string[] = []
  for (const key of ['a', 'a', 'a', 'b']) void queue.take(key).then(() => taken.push(key))
  await vi.advanceTimersByTimeAsync(0)
  expect(taken).toEqual(['a', 'a', 'b'])
  queue.release('a', 1)
  queue.offer(1)
  await vi.advanceTimersByTimeAsync(0)
  expect(taken).toEqual(['a', 'a', 'b', 'a'])
})

it('gives a worker no call above its own level, and prefers calls of its own level', async () => {
  const queue = makeFairQueue<string>({ ...limits, perKey: 3 })
  const taken: string[] = []
  for (const level of [2, 0, 1, 0])
    void queue.take('a', { level }).then((got) => taken.push(`${level} by ${'worker' in got && got.worker}`))
  queue.offer('short', 0)
  queue.offer('any', 2)
  await vi.advanceTimersByTimeAsync(0)
  expect(taken).toEqual(['0 by short', '2 by any'])
})

it('refuses calls when the queue is full, and removes callers that aborted', async () => {
  const queue = makeFairQueue<number>(limits)
  const cancel = new AbortController()
  const left = queue.take('a', { signal: cancel.signal })
  const waiting = Array.from({ length: 4 }, () => queue.take('a'))
  expect(await queue.take('a')).toEqual({ refused: 'full' })
  cancel.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  waiting.push(queue.take('a'))
  queue.close()
  expect(await Promise.all(waiting)).toEqual(Array(5).fill({ refused: 'full' }))
})

describe('a budget', () => {
  const spend = async (queue: FairQueue<number>, ms: number) => {
    const worker = await workerOf(queue, 'a')
    await vi.advanceTimersByTimeAsync(ms)
    queue.release('a', ms)
    queue.offer(worker)
  }

  it('delays a workspace that has used its minute, and no other, until its time is refilled', async () => {
    const budgets = makeBudgets()
    budgets.allow('a', 6_000)
    const queue = makeFairQueue<number>(limits, budgets)
    queue.offer(1)
    await spend(queue, 8_000)
    let began = false
    void workerOf(queue, 'a').then(() => {
      began = true
    })
    // 8 s of the 6 s per minute are used: 2 s are missing, and 100 ms are refilled per second.
    await vi.advanceTimersByTimeAsync(19_900)
    expect(began).toBe(false)
    const worker = await workerOf(queue, 'b')
    queue.release('b', 1)
    queue.offer(worker)
    await vi.advanceTimersByTimeAsync(200)
    expect(began).toBe(true)
  })

  it('is the reported reason if a call waited for it in vain', async () => {
    const budgets = makeBudgets()
    budgets.allow('a', 60)
    const queue = makeFairQueue<number>(limits, budgets)
    queue.offer(1)
    await spend(queue, 1_000)
    const refused = queue.take('a', { waitMs: 5_000 })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await refused).toEqual({ refused: 'over_budget' })
    await workerOf(queue, 'b')
    const late = queue.take('c', { waitMs: 5_000 })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await late).toEqual({ refused: 'late' })
  })

  it('that is raised takes effect at once', async () => {
    const budgets = makeBudgets()
    budgets.allow('a', 60)
    const queue = makeFairQueue<number>(limits, budgets)
    queue.offer(1)
    await spend(queue, 1_000)
    expect(budgets.delay('a')).toBeGreaterThan(900_000)
    budgets.allow('a', 60_000)
    expect(budgets.delay('a')).toBeLessThan(1_000)
  })
})

it('serves short calls while ten workspaces run endless code', async () => {
  const queue = makeFairQueue<number>({ perKey: 2, waiting: 2_000, waitingPerKey: 500 })
  const levels = levelsOf(3)
  for (const [worker, level] of levels.entries()) queue.offer(worker, level)
  /** A call that uses `ms` of its own CPU, stopped and restarted like in the sandbox. */
  const call = async (key: string, ms: number): Promise<void> => {
    for (let level = 0; level < LEVEL_MS.length; level += 1) {
      const taken = await queue.take(key, { level })
      if ('refused' in taken) return
      const used = Math.min(ms, LEVEL_MS[level]!)
      await new Promise((resolve) => setTimeout(resolve, used))
      queue.release(key, used)
      queue.offer(taken.worker, levels[taken.worker]!)
      if (used === ms) return
    }
  }
  let over = false
  const endless = async (key: string): Promise<void> => {
    while (!over) await call(key, 60_000)
  }
  for (let n = 0; n < 10; n++) for (let times = 0; times < 5; times++) void endless(`hostile ${n}`)
  await vi.advanceTimersByTimeAsync(30_000)
  const waits: number[] = []
  for (let n = 0; n < 200; n++) {
    const askedAt = performance.now()
    void call('honest', 5).then(() => waits.push(performance.now() - askedAt))
    await vi.advanceTimersByTimeAsync(250)
  }
  over = true
  expect(waits.length).toBeGreaterThan(198)
  expect(Math.max(...waits)).toBeLessThanOrEqual(LEVEL_MS[0] + 5)
})
