import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeChildPool, type PooledChild } from './pool.ts'

type Fake = PooledChild & { name: number; ended: boolean }

let started: Fake[] = []
const start = (): Fake => {
  const listeners: (() => void)[] = []
  const child: Fake = {
    name: started.length,
    ended: false,
    get usable() {
      return !child.ended
    },
    end() {
      child.ended = true
      for (const listener of listeners.splice(0)) listener()
    },
    onEnd: (listener) => void (child.ended ? listener() : listeners.push(listener)),
  }
  started.push(child)
  return child
}
const { signal } = new AbortController()

beforeEach(() => {
  started = []
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

describe('a pool of child processes', () => {
  it('reuses a child only for the same key, and only if it was returned clean', async () => {
    const pool = makeChildPool({ size: 4, start })
    const use = async (workspace: string, key: string, clean = true): Promise<number> => {
      const lease = (await pool.lease(workspace, key, signal))!
      lease.giveBack({ clean })
      return lease.child.name
    }
    expect([await use('a', 'one'), await use('a', 'one')]).toEqual([0, 0])
    expect(await use('a', 'two')).toBe(1)
    expect(await use('a', 'one', false)).toBe(0)
    expect(await use('a', 'one')).toBe(2)
    started[2]!.end()
    expect(await use('a', 'one')).toBe(3)
  })

  it('ends a child that was idle too long, and a child that reached its maximum number of uses', async () => {
    const pool = makeChildPool({ size: 4, start, idleMs: 1_000, usesPerChild: 2 })
    for (let n = 0; n < 2; n++) (await pool.lease('a', 'one', signal))!.giveBack({ clean: true })
    expect(started.map(({ ended }) => ended)).toEqual([true])
    ;(await pool.lease('a', 'one', signal))!.giveBack({ clean: true })
    await vi.advanceTimersByTimeAsync(999)
    expect(pool.live).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(pool.live).toBe(0)
  })

  it('keeps its places when a child cannot be started', async () => {
    let isFailing = true
    const pool = makeChildPool({
      size: 1,
      start: () => {
        if (isFailing) throw new Error('too many open files')
        return start()
      },
    })
    for (let n = 0; n < 3; n++) await expect(pool.lease('a', 'one', signal)).rejects.toThrow('too many open files')
    isFailing = false
    expect((await pool.lease('a', 'one', signal))?.child.name).toBe(0)
  })

  it('never has more children than its size: the oldest idle child makes room', async () => {
    const pool = makeChildPool({ size: 2, start })
    for (const workspace of ['a', 'b', 'c', 'd'])
      (await pool.lease(workspace, workspace, signal))!.giveBack({ clean: true })
    expect(started.map(({ ended }) => ended)).toEqual([true, true, false, false])
    expect(pool.live).toBe(2)
  })

  it('limits the places of one workspace, so that other workspaces get places', async () => {
    const pool = makeChildPool({ size: 8, start })
    const served: string[] = []
    const leases = ['a', 'a', 'a', 'b'].map(async (workspace, n) => {
      const lease = await pool.lease(workspace, `${n}`, signal)
      served.push(workspace)
      return lease!
    })
    await vi.advanceTimersByTimeAsync(0)
    expect(served).toEqual(['a', 'a', 'b'])
    ;(await leases[0]!).giveBack({ clean: true })
    await vi.advanceTimersByTimeAsync(0)
    expect(served).toEqual(['a', 'a', 'b', 'a'])
  })

  it('reserves places for a workspace that has none while many workspaces call slow servers repeatedly', async () => {
    const pool = makeChildPool({ size: 8, start })
    const slow = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const held: { giveBack(options: { clean: boolean }): void }[] = []
    const ask = async (workspace: string): Promise<void> => {
      held.push((await pool.lease(workspace, workspace, signal))!)
    }
    // Each workspace asks once. After that, each asks again as soon as its answer arrives, a minute later.
    for (const workspace of slow) void ask(workspace)
    await vi.advanceTimersByTimeAsync(0)
    expect(held).toHaveLength(8)
    for (let round = 0; round < 3; round++) {
      for (const workspace of slow) void ask(workspace)
      await vi.advanceTimersByTimeAsync(60_000)
      for (const lease of held.splice(0)) lease.giveBack({ clean: true })
      await vi.advanceTimersByTimeAsync(0)
      expect(held).toHaveLength(6)
      const quiet = await pool.lease('quiet', 'quiet', signal)
      quiet!.giveBack({ clean: true })
    }
  })

  it('releases a place only once, and hands out nothing after it is closed', async () => {
    const pool = makeChildPool({ size: 1, start })
    const lease = (await pool.lease('a', 'one', signal))!
    const stop = new AbortController()
    const waiting = pool.lease('b', 'two', stop.signal)
    stop.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    lease.giveBack({ clean: true })
    lease.giveBack({ clean: false })
    expect(started[0]!.ended).toBe(false)
    await pool.close()
    expect(started[0]!.ended).toBe(true)
    expect(await pool.lease('a', 'one', signal)).toBeUndefined()
  })
})
