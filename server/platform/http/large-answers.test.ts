import { expect, test } from 'vitest'
import { LARGE_BYTES } from '../slices.ts'
import type { Answer } from './answer.ts'
import { makeLargeAnswers } from './large-answers.ts'

const answerOf = (bytes: number): Answer => ({ status: 200, headers: {}, body: Buffer.alloc(bytes) })

/** Work that ends on request, with a count of started work. */
function makeWork(answer: Answer | null) {
  const ends: (() => void)[] = []
  return {
    begun: () => ends.length,
    end: (n: number) => ends[n]!(),
    work: () =>
      new Promise<Answer | null>((resolve) => {
        ends.push(() => resolve(answer))
      }),
  }
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('an operation with a large response runs one at a time for its workspace, until its response is small', async () => {
  const largeAnswers = makeLargeAnswers()
  await largeAnswers('w1', 'list', async () => answerOf(LARGE_BYTES + 1))

  const { work, begun, end } = makeWork(answerOf(10))
  const both = [largeAnswers('w1', 'list', work), largeAnswers('w1', 'list', work)]
  await settled()
  expect(begun()).toBe(1)
  end(0)
  await both[0]
  await expect.poll(begun).toBe(2)
  end(1)
  await both[1]

  const later = [largeAnswers('w1', 'list', work), largeAnswers('w1', 'list', work)]
  await settled()
  expect(begun()).toBe(4)
  end(2)
  end(3)
  await Promise.all(later)
})

test('other workspaces, other operations and small responses do not wait', async () => {
  const largeAnswers = makeLargeAnswers()
  await largeAnswers('w1', 'list', async () => answerOf(LARGE_BYTES + 1))
  await largeAnswers('w1', 'get', async () => answerOf(LARGE_BYTES))
  await largeAnswers('w1', 'delete', async () => null)
  const { work, begun, end } = makeWork(null)
  const held = largeAnswers('w1', 'list', work)
  const others = [
    largeAnswers('w1', 'get', work),
    largeAnswers('w1', 'delete', work),
    largeAnswers('w2', 'list', work),
    largeAnswers('w2', 'list', work),
  ]
  await settled()
  expect(begun()).toBe(5)
  for (let n = 0; n < 5; n += 1) end(n)
  await Promise.all([held, ...others])
})

test('failed work gives its place to the next', async () => {
  const largeAnswers = makeLargeAnswers()
  await largeAnswers('w1', 'list', async () => answerOf(LARGE_BYTES + 1))
  const failed = largeAnswers('w1', 'list', async () => {
    throw new Error('no')
  })
  const next = largeAnswers('w1', 'list', async () => answerOf(1))
  await expect(failed).rejects.toThrow('no')
  expect((await next)?.status).toBe(200)
})
