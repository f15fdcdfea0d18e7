import { expect, test, vi } from 'vitest'
import type { ExecutionEventType as Written } from '#engine/ports'
import type { Client } from './client.ts'
import type { ExecutionEventType } from './frames.ts'
import { NoWebSocket, watchExecution } from './sockets.ts'

const client = {
  createWorkflowTicket: async () => ({ ticket: 't', url: 'ws://127.0.0.1/x', expires_at: '' }),
} as unknown as Client

test('a runtime without WebSocket is refused at once, with what to pass', () => {
  vi.stubGlobal('WebSocket', undefined)
  try {
    const watch = () => watchExecution(client, 'exe_1', { onFrame: () => {} })
    expect(watch).toThrow(NoWebSocket)
    expect(watch).toThrow('{ webSocket: ')
  } finally {
    vi.unstubAllGlobals()
  }
})

test('the types of frames are those that the service writes', () => {
  // Checked by the compiler: a type that only one side knows fails here.
  type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
  const same: Same<ExecutionEventType, Written> = true
  expect(same).toBe(true)
})

test('another class for sockets can be passed', async () => {
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
