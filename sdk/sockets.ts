import type { Client } from './client.ts'
import type { ConversationFrame, ExecutionFrame, JobFrame, NotificationFrame } from './frames.ts'

// Live feeds. A lost connection is reopened with a new ticket at the last event: no event is lost or delivered twice.

export type Frame = { seq: number; type: string; at: string; data: unknown }
export type Watching = { close(): void }
export type WatchOptions<Shown = Frame> = {
  onFrame(frame: Shown): void
  /**
   * `live` while the socket is open; `lost` while it is being reopened; `ended` after the service closed it
   * permanently.
   */
  onState?(state: 'live' | 'lost' | 'ended', reason?: string): void
  /** Continues after this event instead of starting with a snapshot. */
  after?: number
  /**
   * For runtimes without WebSocket (Node.js before 22): for example, the class of the package `ws`. Without it, such a
   * runtime throws `NoWebSocket`.
   */
  webSocket?: typeof WebSocket
}

/** This runtime has no WebSocket, and none was passed. */
export class NoWebSocket extends Error {
  constructor() {
    super(
      "This runtime has no WebSocket. Use Node 22 or newer, or pass a WebSocket class: { webSocket: (await import('ws')).WebSocket }.",
    )
    this.name = 'NoWebSocket'
  }
}

type Ticket = { ticket: string; url: string }

/** A connection that lasted this long, or brought a frame, was accepted. The service refuses a socket after opening it. */
const STEADY_AFTER = 10_000

/** Closing codes after which a retry is useless: access was withdrawn, or the resource was deleted. */
const forGood: Record<number, string> = { 4403: 'Your access was withdrawn.', 4404: 'The resource no longer exists.' }

function watch<Shown>(makeTicket: () => Promise<Ticket>, options: WatchOptions<Shown>): Watching {
  const { onFrame, onState, after } = options
  const Socket = options.webSocket ?? (globalThis as { WebSocket?: typeof WebSocket }).WebSocket
  if (Socket === undefined) throw new NoWebSocket()
  let last = after
  let closed = false
  let socket: WebSocket | undefined
  let attempt = 0
  let openedAt = Number.POSITIVE_INFINITY
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
        openedAt = Date.now()
        onState?.('live')
      }
      socket.onmessage = ({ data }) => {
        const frame = JSON.parse(String(data)) as Frame
        last = frame.seq
        attempt = 0
        onFrame(frame as Shown)
      }
      socket.onclose = ({ code }) => {
        const reason = forGood[code]
        if (Date.now() - openedAt >= STEADY_AFTER) attempt = 0
        openedAt = Number.POSITIVE_INFINITY
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

  // Opens the socket only after the caller has received the object with `close`.
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
