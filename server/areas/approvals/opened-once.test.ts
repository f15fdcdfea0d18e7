import { expect, test } from 'vitest'
import { openedOnce } from './opened-once.ts'

const taken = (constraint: string): Error => Object.assign(new Error('taken'), { code: '23505', constraint })

const failing = (error: Error) => {
  let calls = 0
  return async (): Promise<number> => {
    calls += 1
    if (calls === 1) throw error
    return calls
  }
}

test('a second caller gets the row that the first caller opened', async () => {
  expect(await openedOnce('one_open', failing(taken('one_open')))).toBe(2)
})

test('any other error is thrown', async () => {
  await expect(openedOnce('one_open', failing(taken('another')))).rejects.toThrow('taken')
  await expect(openedOnce('one_open', failing(new Error('no')))).rejects.toThrow('no')
})
