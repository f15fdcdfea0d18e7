import { expect, it } from 'vitest'
import { makeFairQueue } from './queue.ts'

const limits = { workers: 1, perKey: 1, waiting: 10, waitingPerKey: 5 }

it('serves the workspaces in turn, however many calls one of them has waiting', async () => {
  const queue = makeFairQueue<number>(limits)
  const served: string[] = []
  const call = async (key: string) => {
    const worker = (await queue.take(key)) as number
    served.push(key)
    queue.release(key)
    queue.offer(worker)
  }
  const calls = [call('a'), call('a'), call('a'), call('b'), call('c'), call('b')]
  queue.offer(1)
  await Promise.all(calls)
  expect(served.join('')).toBe('abcaba')
})

it('leaves a worker free of one workspace for the others', async () => {
  const queue = makeFairQueue<number>({ ...limits, workers: 3, perKey: 2 })
  for (const worker of [1, 2, 3]) queue.offer(worker)
  const taken: string[] = []
  for (const key of ['a', 'a', 'a', 'b']) void queue.take(key).then(() => taken.push(key))
  await Promise.resolve()
  expect(taken).toEqual(['a', 'a', 'b'])
  queue.release('a')
  queue.offer(1)
  await Promise.resolve()
  expect(taken).toEqual(['a', 'a', 'b', 'a'])
})

it('turns away what is too much, and forgets whoever gave up', async () => {
  const queue = makeFairQueue<number>(limits)
  const cancel = new AbortController()
  const left = queue.take('a', cancel.signal)
  const waiting = Array.from({ length: 4 }, () => queue.take('a'))
  expect(await queue.take('a')).toBeUndefined()
  cancel.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  waiting.push(queue.take('a'))
  queue.close()
  expect(await Promise.all(waiting)).toEqual(Array(5).fill(undefined))
})
