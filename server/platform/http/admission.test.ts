import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Admission, makeAdmission, type Turn } from './admission.ts'
import { makeRetryAfter } from './retry-after.ts'

let admission: Admission
let begun: string[]
let turns: Turn[]
let refused: string[]

beforeEach(() => {
  vi.useFakeTimers()
  admission = makeAdmission(64, makeRetryAfter())
  begun = []
  turns = []
  refused = []
})
afterEach(() => {
  vi.useRealTimers()
})

const ask = (tenant: string, times = 1, waitMs = 0): void => {
  for (let n = 0; n < times; n++) {
    const asking = (async () => admission.enter(tenant, waitMs))()
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

const OF_ONE = 2
const OF_COMMITTING = 8
/** `a`, `b` and 30 other tenants take all 64 places. */
const fill = (): void => {
  for (const tenant of ['a', 'b', ...Array.from({ length: 30 }, (_, n) => `other ${n}`)]) ask(tenant, OF_ONE)
}

describe('requests beyond the maximum number at work', () => {
  test('wait until another request leaves, and a place is given back only once', async () => {
    fill()
    ask('quiet')
    await settle()
    expect(admission.figures()).toEqual({ atWork: 64, waiting: 1 })
    const [first] = turns
    await leave(1)
    expect(admission.figures()).toEqual({ atWork: 64, waiting: 0 })
    first!.leave()
    expect(admission.figures().atWork).toBe(64)
  })

  test('of one tenant use all places while no other tenant sends requests', async () => {
    ask('loud', 70)
    await settle()
    expect(admission.figures()).toEqual({ atWork: 64, waiting: 6 })
    await leave(1)
    expect(admission.figures()).toEqual({ atWork: 64, waiting: 5 })
  })

  test('of one tenant wait while other tenants can still get places', async () => {
    ask('quiet')
    ask('loud', OF_ONE + 4)
    await settle()
    expect(admission.figures()).toEqual({ atWork: OF_ONE + 1, waiting: 4 })
    ask('quiet')
    ask('third', OF_ONE)
    await settle()
    expect(begun.slice(OF_ONE + 1)).toEqual(['quiet', 'third', 'third'])
    turns.shift()
    await leave(1)
    expect(begun.slice(OF_ONE + 4)).toEqual(['loud'])
    expect(admission.figures()).toEqual({ atWork: OF_ONE + 4, waiting: 3 })
  })

  test.each([
    [1_900, { atWork: OF_ONE, waiting: 64 - OF_ONE }],
    [2_000, { atWork: 64, waiting: 0 }],
  ])('of one tenant use all places again two seconds after other tenants: after %i ms', async (ms, figures) => {
    ask('quiet')
    await leave(1)
    await vi.advanceTimersByTimeAsync(ms)
    ask('loud', 64)
    await settle()
    expect(admission.figures()).toEqual(figures)
  })

  test('of a flood stay within the share of their tenant after the whole flood has arrived, while others send requests', async () => {
    ask('quiet')
    ask('loud', 40)
    await settle()
    for (const turn of turns) turn.isRead = true
    await vi.advanceTimersByTimeAsync(1_500)
    ask('quiet')
    await vi.advanceTimersByTimeAsync(700)
    await leave(turns.length)
    expect(admission.figures()).toEqual({ atWork: OF_ONE, waiting: 40 - 2 * OF_ONE - OF_ONE })
  })

  test('that wait for a shared commit leave room for more of their tenant, up to an eighth of the places', async () => {
    ask('quiet')
    ask('loud', 40)
    const busy: Turn[] = []
    for (let n = 1; n <= 20; n++) {
      await settle()
      const newest = turns.slice(1 + busy.length)
      expect(newest.length).toBe(n === 1 ? OF_ONE : n < OF_COMMITTING ? 1 : 0)
      busy.push(...newest)
      busy[n - 1]?.awaitCommit()
      busy[n - 1]?.awaitCommit()
    }
    expect(admission.figures()).toEqual({ atWork: 1 + OF_COMMITTING, waiting: 40 - OF_COMMITTING })
    busy[0]!.leave()
    await settle()
    expect(admission.figures()).toEqual({ atWork: 1 + OF_COMMITTING, waiting: 40 - OF_COMMITTING - 1 })
    // After all of them have left, the share of the tenant is as at the beginning.
    for (const turn of turns) turn.leave()
    await settle()
    expect(admission.figures()).toEqual({ atWork: OF_ONE, waiting: 40 - OF_COMMITTING - 1 - OF_ONE })
  })

  test('that wait for a shared commit keep their place if they are large', async () => {
    ask('quiet')
    ask('loud', OF_ONE + 1)
    await settle()
    const [, first] = turns
    first!.isLarge = true
    first!.awaitCommit()
    await settle()
    expect(admission.figures()).toEqual({ atWork: 1 + OF_ONE, waiting: 1 })
  })

  test('start tenant by tenant in turn, not in the order of the busiest tenant', async () => {
    fill()
    ask('loud', 200)
    ask('quiet', 2)
    await leave(3)
    expect(begun.slice(64)).toEqual(['loud', 'quiet', 'loud'])
  })

  test('of a tenant that has its share at work are skipped', async () => {
    fill()
    ask('a', 3)
    ask('quiet')
    // The first two places belong to `a`: each time `a` leaves a place, one of its waiting requests starts.
    await leave(1)
    expect(begun.slice(64)).toEqual(['a'])
    turns.splice(0, OF_ONE - 1)
    await leave(1)
    expect(begun.slice(65)).toEqual(['quiet'])
  })

  test('may all come from one tenant; further requests are refused, and only for that tenant', async () => {
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
    // The tenant already has more than its share at work.
    await leave(2)
    expect(begun.slice(64)).toEqual(['quiet', 'quiet'])
  })

  test('replace a request of the tenant with the longest queue when all places are taken', async () => {
    fill()
    ask('a', 256)
    ask('b', 256)
    ask('quiet')
    await settle()
    expect(refused).toEqual(['a'])
    await leave(3)
    expect(begun.slice(64)).toContain('quiet')
  })

  test('do not wait for requests that arrive slowly', async () => {
    fill()
    await settle()
    ask('quiet')
    await settle()
    expect(begun).not.toContain('quiet')
    await vi.advanceTimersByTimeAsync(400)
    expect(begun).toContain('quiet')
    await leave(65)
    expect(admission.figures()).toEqual({ atWork: 0, waiting: 0 })
  })

  test.each([
    [1_900, false],
    [2_100, true],
  ])('wait longer for requests that were fully read: after %i ms they start: %s', async (ms, expected) => {
    fill()
    await settle()
    for (const turn of turns) turn.isRead = true
    ask('quiet')
    await vi.advanceTimersByTimeAsync(ms)
    expect(begun.includes('quiet')).toBe(expected)
  })

  test('wait twice as long as a large request of their tenant was at work, if other tenants send requests', async () => {
    ask('quiet')
    ask('loud', 3)
    await settle()
    expect(begun).toEqual(['quiet', 'loud', 'loud'])
    const [, first, second] = turns
    first!.isLarge = true
    second!.isLarge = true
    second!.isRead = true
    await vi.advanceTimersByTimeAsync(40)
    first!.leave()
    expect(admission.figures()).toEqual({ atWork: 2, waiting: 1 })
    await vi.advanceTimersByTimeAsync(79)
    expect(begun.length).toBe(3)
    await vi.advanceTimersByTimeAsync(1)
    expect(begun.length).toBe(4)
    // The pause is at most a quarter of a second.
    turns[3]!.isRead = true
    await vi.advanceTimersByTimeAsync(900)
    ask('quiet')
    ask('loud')
    second!.leave()
    await vi.advanceTimersByTimeAsync(249)
    expect(begun.filter((tenant) => tenant === 'loud').length).toBe(3)
    await vi.advanceTimersByTimeAsync(1)
    expect(begun.filter((tenant) => tenant === 'loud').length).toBe(4)
  })

  test('of a burst start after their wait, and requests of their tenant that need not wait start before them', async () => {
    ask('quiet')
    ask('loud', 1, 20)
    ask('loud', 1, 10)
    await settle()
    expect(admission.figures()).toEqual({ atWork: 1, waiting: 2 })
    ask('loud')
    await settle()
    expect(begun).toEqual(['quiet', 'loud'])
    turns.shift()
    await leave(1)
    expect(admission.figures().waiting).toBe(2)
    for (const expected of [3, 4]) {
      await vi.advanceTimersByTimeAsync(9)
      expect(begun.length).toBe(expected - 1)
      await vi.advanceTimersByTimeAsync(1)
      expect(begun.length).toBe(expected)
    }
  })

  test('of a burst that have waited still need a place', async () => {
    ask('quiet')
    ask('loud', OF_ONE)
    ask('loud', 1, 10)
    await settle()
    for (const turn of turns) turn.isRead = true
    await vi.advanceTimersByTimeAsync(100)
    expect(admission.figures()).toEqual({ atWork: 1 + OF_ONE, waiting: 1 })
    turns.shift()
    await leave(1)
    expect(begun.length).toBe(2 + OF_ONE)
  })

  test('of a burst do not wait if their tenant is alone', async () => {
    ask('loud', 2, 1_000)
    await settle()
    expect(begun.length).toBe(2)
  })

  test('of a burst count as waiting requests, and the last of them is refused if there are too many', async () => {
    ask('quiet')
    ask('loud', 9 * 64 - 1, 1_000)
    await settle()
    expect(admission.figures()).toEqual({ atWork: 1, waiting: 9 * 64 - 1 })
    ask('loud', 1, 1_000)
    await settle()
    expect(refused).toEqual(['loud'])
    ask('third')
    await settle()
    expect(begun).toEqual(['quiet', 'third'])
  })

  test('of a tenant that is alone do not wait for its large requests', async () => {
    ask('loud', 64)
    ask('loud')
    await settle()
    for (const turn of turns) turn.isLarge = true
    await leave(1)
    expect(begun.length).toBe(65)
  })
})
