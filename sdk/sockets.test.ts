import { expect, test, vi } from 'vitest'
import type { Client } from './client.ts'
import { watchExecution } from './sockets.ts'

const client = {
  createWorkflowTicket: async () => ({ ticket: 't', url: 'ws://127.0.0.1/x', expires_at: '' }),
} as unknown as Client

test('a runtime without WebSocket is told so, once', async () => {
  vi.stubGlobal('WebSocket', undefined)
  try {
    const told = await new Promise((resolve) => {
      watchExecution(client, 'exe_1', { onFrame: () => {}, onState: (...state) => resolve(state) })
    })
    expect(told).toEqual(['ended', expect.stringContaining('has no WebSocket')])
  } finally {
    vi.unstubAllGlobals()
  }
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
