import { expect, test, vi } from 'vitest'
import type { ExecutionEventType as Written } from '#engine/ports'
import type { Client } from './client.ts'
import type { ExecutionEventType } from './frames.ts'
import { NoWebSocket, watchExecution } from './sockets.ts'

const client = {
  createWorkflowTicket: async () => ({ ticket: 't', url: 'ws://127.0.0.1/x', expires_at: '' }),
} as unknown as Client

test('a runtime without WebSocket is refused at once, with a message that says what to pass', () => {
  vi.stubGlobal('WebSocket', undefined)
  try {
    const watch = () => watchExecution(client, 'exe_1', { onFrame: () => {} })
    expect(watch).toThrow(NoWebSocket)
    expect(watch).toThrow('{ webSocket: ')
  } finally {
    vi.unstubAllGlobals()
  }
})

test('the frame types are the types that the service writes', () => {
  // The compiler checks this: a type that exists on only one side fails here.
  type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
  const same: Same<ExecutionEventType, Written> = true
  expect(same).toBe(true)
})

test('another WebSocket class can be passed', async () => {
  const opened = await new Promise<string>((resolve) => {
    const Own = class {
      constructor(address: URL, protocols: string[]) {
        resolve(`${address.href} ${protocols.join(' ')}`)
      }
      close() {}
    }
    watchExecution(client, 'exe_1', { onFrame: () => {}, after: 3, webSocket: Own as never })
  })
  expect(opened).toBe('ws://127.0.0.1/x?after=3 heddle.v1 ticket.t')
})

test('a socket that the service closes right after opening it is reopened after longer and longer pauses', async () => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  try {
    let sockets = 0
    const Refused = class {
      onopen = (): void => {}
      onclose = (_event: { code: number }): void => {}
      constructor() {
        sockets += 1
        queueMicrotask(() => {
          this.onopen()
          this.onclose({ code: 1013 })
        })
      }
      close() {}
    }
    const watching = watchExecution(client, 'exe_1', { onFrame: () => {}, webSocket: Refused as never })
    // The pauses are 0.5, 1, 2 and 4 seconds.
    await vi.advanceTimersByTimeAsync(7_500)
    expect(sockets).toBe(5)
    watching.close()
  } finally {
    vi.restoreAllMocks()
    vi.useRealTimers()
  }
})
