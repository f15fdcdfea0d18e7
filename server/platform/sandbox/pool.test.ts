import { afterEach, describe, expect, it } from 'vitest'
import { slow } from '#test/harness/slow'
import type { Frame, SandboxReply, SandboxRequest } from './frames.ts'
import { type SandboxProcess, startProcess } from './process.ts'
import { makeSandbox, type Sandbox } from './sandbox.ts'

// Tests the processes themselves, and what happens to calls when processes die.

const started: SandboxProcess[] = []
const requests: SandboxRequest[] = []
let sandbox: Sandbox | undefined

const open = (processes: number): Sandbox => {
  started.length = 0
  requests.length = 0
  sandbox = makeSandbox({
    processes,
    startProcess: (options) => {
      const process = startProcess(options)
      const { call } = process
      process.call = (request, ...rest) => {
        requests.push(request)
        return call(request, ...rest)
      }
      started.push(process)
      return process
    },
  })
  return sandbox
}
afterEach(() => sandbox?.close())

const one = (pool: Sandbox, signal?: AbortSignal) =>
  pool.code({ workspaceId: 'w', source: 'return input + 1', input: 1, ...(signal && { signal }) })

describe('the number of processes', () => {
  /**
   * A process that takes no time, so that the number of started processes does not depend on the load of the machine.
   */
  const startQuick = (): SandboxProcess => {
    const listeners: (() => void)[] = []
    const reply: Frame<SandboxReply> = { header: { ok: true, logs: [], levels: [] }, body: '2' }
    return {
      ready: Promise.resolve(),
      usable: true,
      calls: 0,
      busyMs: 0,
      cpuMs: 0,
      call: async () => reply,
      end: () => {
        for (const listener of listeners) listener()
      },
      onEnd: (listener) => void listeners.push(listener),
    }
  }

  it('grows again after processes could not be started', async () => {
    let failures = 2
    sandbox = makeSandbox({
      processes: 1,
      startProcess: () => {
        if (failures === 0) return startQuick()
        failures -= 1
        throw new Error('too many open files')
      },
    })
    expect(await one(sandbox)).toMatchObject({ output: 2 })
  })

  it('is one while calls come one after another, and the maximum once a call finds no free process', async () => {
    let count = 0
    sandbox = makeSandbox({
      processes: 3,
      startProcess: () => {
        count += 1
        return startQuick()
      },
    })
    for (let n = 0; n < 3; n++) await one(sandbox)
    expect(count).toBe(1)
    await Promise.all([one(sandbox), one(sandbox)])
    expect(count).toBe(3)
    await Promise.all([one(sandbox), one(sandbox), one(sandbox), one(sandbox)])
    expect(count).toBe(3)
  })
})

describe('a pool of sandbox processes', () => {
  it('stops long code and restarts it at the level of long calls, and starts it there the next time', async () => {
    const pool = open(3)
    const long = { workspaceId: 'w', source: 'for (;;) {}', input: null, limits: { timeMs: 300 } }
    await expect(pool.code(long)).rejects.toMatchObject({ code: 'sandbox_timeout' })
    await expect(pool.code(long)).rejects.toMatchObject({ code: 'sandbox_timeout' })
    expect(requests.map(({ timeMs }) => timeMs)).toEqual([100, 300, 300])
  })

  it('answers a short call while other calls never end', async () => {
    const pool = open(3)
    await one(pool)
    const stop = new AbortController()
    const endless = ['a', 'b', 'c', 'd'].map((workspaceId) =>
      pool
        .code({
          workspaceId,
          source: 'for (;;) {}',
          input: null,
          limits: { timeMs: 60_000 },
          signal: stop.signal,
        })
        .catch(() => 'ended'),
    )
    for (let n = 0; n < 5; n++) expect((await one(pool)).output).toBe(2)
    stop.abort(new Error('enough'))
    expect(await Promise.all(endless)).toEqual(Array(4).fill('ended'))
  })

  it('replaces processes that died while they were idle', async () => {
    const pool = open(2)
    await Promise.all([one(pool), one(pool)])
    await Promise.all(started.map(({ ready }) => ready))
    const deaths = started.map((process) => new Promise<void>((resolve) => process.onEnd(resolve)))
    for (const process of started) process.end()
    await Promise.all(deaths)
    for (let n = 0; n < 3; n++) expect((await one(pool)).output).toBe(2)
    expect(await Promise.all([one(pool), one(pool)])).toMatchObject([{ output: 2 }, { output: 2 }])
    expect(started.filter(({ usable }) => usable)).toHaveLength(2)
  })

  slow('never assigns a process that is being ended, even while it is still alive', async () => {
    const pool = open(2)
    await Promise.all([one(pool), one(pool)])
    for (const process of started) process.end()
    expect((await one(pool)).output).toBe(2)
  })

  it('loses no process because of aborted calls', async () => {
    const pool = open(2)
    await one(pool)
    for (let n = 0; n < 4; n++) {
      const stop = new AbortController()
      const endless = pool.code({ workspaceId: 'w', source: 'for (;;) {}', input: null, signal: stop.signal })
      stop.abort(new Error('given up'))
      await expect(endless).rejects.toThrow('given up')
    }
    expect((await one(pool)).output).toBe(2)
  })
})
