import type { Client } from './client.ts'
import type { ConversationFrame, ExecutionFrame, JobFrame, NotificationFrame } from './frames.ts'

// Live feeds. A lost connection is opened again with a new ticket where it stopped: no event is lost or seen twice.

export type Frame = { seq: number; type: string; at: string; data: unknown }
export type Watching = { close(): void }
export type WatchOptions<Shown = Frame> = {
  onFrame(frame: Shown): void
  /** `live` while the socket is open; `lost` while it is being opened again; `ended` when the service closed it for good. */
  onState?(state: 'live' | 'lost' | 'ended', reason?: string): void
  /** Continue after this event instead of beginning with a snapshot. */
  after?: number
  /** For runtimes without one of their own (Node before 22): the class of the package `ws`, for example. Without it `NoWebSocket` is thrown. */
  webSocket?: typeof WebSocket
}

/** This runtime has no WebSocket, and none was passed. */
export class NoWebSocket extends Error {
  constructor() {
    super(
      "This runtime has no WebSocket. Use Node 22 or newer, or pass a class for it: { webSocket: (await import('ws')).WebSocket }.",
    )
    this.name = 'NoWebSocket'
  }
}

type Ticket = { ticket: string; url: string }

/** Closing codes after which trying again is useless: access withdrawn, or gone. */
const forGood: Record<number, string> = { 4403: 'Your access was withdrawn.', 4404: 'It does not exist any more.' }

function watch<Shown>(makeTicket: () => Promise<Ticket>, options: WatchOptions<Shown>): Watching {
  const { onFrame, onState, after } = options
  const Socket = options.webSocket ?? (globalThis as { WebSocket?: typeof WebSocket }).WebSocket
  if (Socket === undefined) throw new NoWebSocket()
  let last = after
  let closed = false
  let socket: WebSocket | undefined
  let attempt = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const again = (): void => {
    if (closed) return
    onState?.('lost')
    attempt += 1
    timer = setTimeout(open, Math.min(10_000, 250 * 2 ** Math.min(attempt, 6)) * (0.75 + Math.random() / 2))
  }

  async function open(): Promise<void> {
    try {
      const { ticket, url } = await makeTicket()
      if (closed) return
      const address = new URL(url)
      if (last !== undefined) address.searchParams.set('after', String(last))
      socket = new Socket!(address, ['heddle.v1', `ticket.${ticket}`])
      socket.onopen = () => {
        attempt = 0
        onState?.('live')
      }
      socket.onmessage = ({ data }) => {
        const frame = JSON.parse(String(data)) as Frame
        last = frame.seq
        onFrame(frame as Shown)
      }
      socket.onclose = ({ code }) => {
        const reason = forGood[code]
        if (reason === undefined) return again()
        closed = true
        onState?.('ended', reason)
      }
    } catch (error) {
      const status = (error as { status?: number }).status
      if (status === 401 || status === 403 || status === 404) {
        closed = true
        onState?.('ended', (error as Error).message)
      } else again()
    }
  }

  // Not before the caller has what it closes.
  queueMicrotask(() => void open())
  return {
    close() {
      closed = true
      clearTimeout(timer)
      socket?.close()
    },
  }
}

export const watchExecution = (client: Client, execution_id: string, options: WatchOptions<ExecutionFrame>): Watching =>
  watch(() => client.createWorkflowTicket({ execution_id }), options)

export const watchNotifications = (client: Client, options: WatchOptions<NotificationFrame>): Watching =>
  watch(() => client.createNotificationTicket(), options)

export const watchJob = (client: Client, job_id: string, options: WatchOptions<JobFrame>): Watching =>
  watch(() => client.createBatchTicket({ job_id }), options)

export const watchConversations = (client: Client, options: WatchOptions<ConversationFrame>): Watching =>
  watch(() => client.createConversationTicket(), options)
