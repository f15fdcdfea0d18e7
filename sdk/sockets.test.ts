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
