import { WebSocket } from 'ws'

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames freely
export type TestFrame = { seq: number; type: string; at: string; data: any }

export type TestSocket = {
  socket: WebSocket
  /** All frames received so far. */
  frames: TestFrame[]
  /** Resolves with the first frame that `wanted` accepts, including frames that have already arrived. */
  frame(wanted: (frame: TestFrame) => boolean): Promise<TestFrame>
  /** Resolves with the close code. */
  closed: Promise<number>
}

/** Opens a socket that collects its frames. The ticket is sent as a subprotocol unless the address contains it. */
export function openSocket(url: string, ticket?: string, headers: Record<string, string> = {}): TestSocket {
  const socket = new WebSocket(url, ticket === undefined ? [] : ['heddle.v1', `ticket.${ticket}`], { headers })
  const frames: TestFrame[] = []
  const waiting = new Set<() => void>()
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  socket.on('error', () => {})
  socket.on('message', (data) => {
    frames.push(JSON.parse(data.toString()) as TestFrame)
    for (const look of [...waiting]) look()
  })
  const frame = (wanted: (frame: TestFrame) => boolean): Promise<TestFrame> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = frames.find(wanted)
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
      socket.once('close', (code) => reject(new Error(`the socket was closed with ${code}`)))
    })
  return { socket, frames, frame, closed }
}
