import { expect, test } from 'vitest'
import type { Frame } from './frame.ts'
import type { Live } from './live-types.ts'
import { countOpenRequest } from './open-requests.ts'

// Limits the number and the total size of open gates and questions of one execution.

type Status = 'running' | 'waiting' | 'succeeded'

/** Returns an execution with a map `m`, whose items each have a node `q`. */
function execution() {
  const frames = new Map<string, Frame>()
  const live = { frames } as unknown as Live
  const set = (item: number, status: Status): Frame => {
    const prefix = `m[${item}].`
    const frame = { prefix, state: { nodes: { q: { status } } } } as unknown as Frame
    frames.set(prefix, frame)
    return frame
  }
  const open = (item: number, characters = 1, status: Status = 'running') =>
    countOpenRequest(live, set(item, status), { node: 'q', args: { question: 'x'.repeat(characters) } })
  return { open, close: (item: number) => set(item, 'succeeded'), drop: (item: number) => frames.delete(`m[${item}].`) }
}

const MANY = 'an execution has at most 1000 open gates, questions and awaited events'
const LARGE = 'the open gates and questions of the execution are larger than 2 MiB together'

test('a thousand requests may be open, and one more as soon as one has closed', () => {
  const { open, close, drop } = execution()
  for (let n = 0; n < 1_000; n += 1) open(n)
  expect(() => open(1_000)).toThrow(MANY)
  close(17)
  open(1_000)
  expect(() => open(1_001)).toThrow(MANY)
  drop(18)
  open(1_001)
  expect(() => open(1_002)).toThrow(MANY)
})

test('requests of two MiB together may be open, and more as soon as one has closed', () => {
  const { open, close } = execution()
  const half = 1_000_000
  open(0, half)
  open(1, half)
  expect(() => open(2, half)).toThrow(LARGE)
  open(2, 1_000)
  close(0)
  open(3, half)
  expect(() => open(4, half)).toThrow(LARGE)
})

test('a request that is opened again counts once, with its new size', () => {
  const { open } = execution()
  for (let n = 0; n < 5; n += 1) open(0, 1_000_000)
  open(1, 1_000_000)
  open(0, 10)
  open(2, 1_000_000)
  expect(() => open(3, 1_000_000)).toThrow(LARGE)
})

test('a request that is already waiting stays open, regardless of other open requests', () => {
  const { open } = execution()
  for (let n = 0; n < 1_000; n += 1) open(n)
  open(5, 1_000_000, 'waiting')
  open(6, 1_000_000, 'waiting')
  open(7, 1_000_000, 'waiting')
  expect(() => open(1_000)).toThrow(MANY)
})
