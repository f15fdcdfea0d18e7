import { setImmediate } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { type Connection, type Message, sendMessages } from './connection.ts'
import type { Feed, Frame } from './feed.ts'

// All sockets of one feed. A wake marks a resource. One reader at a time reads for all marked resources in one query,
// so that a thousand hints during a query cost one more query. Each socket is read from its own position, which only
// the reader moves: nothing is lost or repeated in any order of hints, commits and connects.

const MAX_FRAMES = 200
const MAX_REQUESTS = 2000
/**
 * The maximum number of frames in one read for all sockets: an entry has up to 32 kB, and after a restart all clients
 * reconnect at once.
 */
export const MAX_FRAMES_TOGETHER = 4000
const RETRY_AFTER = 250

export type Channel = ReturnType<typeof makeChannel>

export function makeChannel(options: { feed: Feed; log: Logger; mostBuffered: number }) {
  const { feed, log, mostBuffered } = options
  const byResource = new Map<string, Set<Connection>>()
  const marked = new Set<string>()
  let reading = false
  let stopped = false

  const wake = (resource: string): void => {
    if (!byResource.has(resource)) return
    marked.add(resource)
    if (!reading) void readAll()
  }

  /** Converts up to a batch of marked resources to requests. Sockets at the same position share a request. */
  function takeRequests(): Map<string, { resource: string; after: number; connections: Connection[] }> {
    const requests: ReturnType<typeof takeRequests> = new Map()
    for (const resource of marked) {
      if (requests.size >= MAX_REQUESTS) break
      marked.delete(resource)
      for (const connection of byResource.get(resource) ?? []) {
        if (connection.fullSince !== null) continue
        const key = `${resource} ${connection.cursor}`
        const request = requests.get(key)
        if (request) request.connections.push(connection)
        else requests.set(key, { resource, after: connection.cursor, connections: [connection] })
      }
    }
    return requests
  }

  async function readAll(): Promise<void> {
    reading = true
    // Hints of one turn of the event loop are handled together.
    await setImmediate()
    while (marked.size > 0 && !stopped) {
      const requests = [...takeRequests().values()]
      if (requests.length === 0) continue
      const most = Math.max(1, Math.min(MAX_FRAMES, Math.floor(MAX_FRAMES_TOGETHER / requests.length)))
      try {
        const answers = await feed.read(requests, most)
        for (const [at, { resource, connections }] of requests.entries()) {
          const frames = answers[at] ?? []
          if (frames.length === 0) continue
          const messages = frames.map(toMessage)
          for (const connection of connections) sendMessages(connection, messages, mostBuffered, onDrained)
          if (frames.length >= most) marked.add(resource)
        }
      } catch (error) {
        log.debug({ err: error, path: feed.path }, 'a feed could not be read')
        for (const { resource } of requests) marked.add(resource)
        await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER).unref())
      }
    }
    reading = false
  }

  const onDrained = (connection: Connection): void => wake(connection.holder.resource)

  return {
    feed,
    wake,
    wakeAll(): void {
      for (const resource of byResource.keys()) wake(resource)
    },
    add(connection: Connection): void {
      const { resource } = connection.holder
      const of = byResource.get(resource)
      if (of) of.add(connection)
      else byResource.set(resource, new Set([connection]))
      wake(resource)
    },
    remove(connection: Connection): void {
      const { resource } = connection.holder
      const of = byResource.get(resource)
      of?.delete(connection)
      if (of?.size === 0) byResource.delete(resource)
    },
    stop(): void {
      stopped = true
    },
  }
}

export const toMessage = (frame: Frame): Message => ({ seq: frame.seq, text: JSON.stringify(frame) })
