import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Admission, makeAdmission, type Turn } from './admission.ts'
import { makePatience } from './patience.ts'

let admission: Admission
let begun: string[]
let turns: Turn[]
let refused: string[]

beforeEach(() => {
  vi.useFakeTimers()
  admission = makeAdmission(64, makePatience())
  begun = []
  turns = []
  refused = []
})
afterEach(() => {
  vi.useRealTimers()
})

const ask = (tenant: string, times = 1): void => {
  for (let n = 0; n < times; n++) {
    const asking = (async () => admission.enter(tenant))()
    asking.then(
      (turn) => {
        begun.push(tenant)
        turns.push(turn)
      },
      () => refused.push(tenant),
    )
  }
}
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)
const leave = async (count: number): Promise<void> => {
  await settle()
  for (const turn of turns.splice(0, count)) turn.leave()
  await settle()
}

describe('requests beyond what is worked on at once', () => {
  test('wait until another is answered, and a turn is given back once', async () => {
    ask('a', 65)
    await settle()
    expect(admission.figures()).toEqual({ atWork: 64, waiting: 1 })
    const [first] = turns
    await leave(1)
    expect(admission.figures()).toEqual({ atWork: 64, waiting: 0 })
    first!.leave()
    expect(admission.figures().atWork).toBe(64)
  })

  test('are begun by turns of their tenants, not in the order of the loudest', async () => {
    ask('loud', 264)
    ask('quiet', 2)
    await leave(3)
    expect(begun.slice(64)).toEqual(['loud', 'quiet', 'loud'])
  })

  test('may all be of one tenant; beyond that they are refused, and only to that tenant', async () => {
    ask('loud', 64 + 512)
    await settle()
    expect(refused).toEqual([])
    ask('loud')
    await settle()
    expect(refused).toEqual(['loud'])
    ask('quiet', 3)
    await settle()
    expect(refused).toEqual(['loud', 'loud', 'loud', 'loud'])
    expect(admission.figures()).toEqual({ atWork: 64, waiting: 512 })
    await leave(2)
    expect(begun.slice(64)).toEqual(['loud', 'quiet'])
  })

  test('take the place of whoever waits most often when there is no room at all', async () => {
    ask('a', 64)
    ask('a', 256)
    ask('b', 256)
    ask('quiet')
    await settle()
    expect(refused).toEqual(['a'])
    await leave(3)
    expect(begun.slice(64)).toContain('quiet')
  })

  test('do not wait for those that wait for something else', async () => {
    ask('polling', 64)
    await settle()
    ask('quiet')
    await settle()
    expect(begun).not.toContain('quiet')
    await vi.advanceTimersByTimeAsync(400)
    expect(begun).toContain('quiet')
    await leave(65)
    expect(admission.figures()).toEqual({ atWork: 0, waiting: 0 })
  })
})
