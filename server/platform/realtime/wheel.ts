import type { Connection } from './connection.ts'

// Spreads periodic work over all sockets: each tick handles some of them, so that ten thousand sockets never cause ten
// thousand pings in one turn of the event loop.

export type Timing = {
  /** The interval of a tick. The other intervals are multiples of it. */
  tick: number
  pingEvery: number
  /** How often it is checked whether the person may still see the resource, and whether the client reads at all. */
  checkEvery: number
  /** How often the feed is polled without a hint. */
  pollEvery: number
  /** The maximum time that a client may leave its buffer full. */
  slowAfter: number
}

export function makeWheel(options: {
  timing: Timing
  /** Called when the buffer of the client has been full for too long. */
  onSlow(connection: Connection): void
  check(connections: Connection[]): void
  poll(connection: Connection): void
}) {
  const { timing, onSlow, check, poll } = options
  const turns = (every: number): number => Math.max(1, Math.round(every / timing.tick))
  const buckets = Array.from({ length: turns(timing.pingEvery) }, () => new Set<Connection>())
  let next = 0
  let turn = 0
  let size = 0
  let timer: NodeJS.Timeout | undefined

  /** Yields the sockets that are due in this tick, for work that is done every `every` milliseconds. */
  function* due(every: number): Generator<Connection> {
    const step = Math.min(turns(every), buckets.length)
    for (let at = turn % step; at < buckets.length; at += step) yield* buckets[at]!
  }

  function turnOnce(): void {
    turn += 1
    const now = performance.now()
    for (const connection of due(timing.pingEvery)) {
      if (!connection.alive) connection.socket.terminate()
      else {
        connection.alive = false
        connection.socket.ping()
      }
    }
    const toCheck = [...due(timing.checkEvery)]
    if (toCheck.length > 0) check(toCheck)
    for (const connection of toCheck) {
      if (connection.fullSince !== null && now - connection.fullSince > timing.slowAfter) onSlow(connection)
    }
    for (const connection of due(timing.pollEvery)) poll(connection)
  }

  return {
    bucket: (): number => next++ % buckets.length,
    size: (): number => size,
    add(connection: Connection): void {
      buckets[connection.bucket]!.add(connection)
      size += 1
      timer ??= setInterval(turnOnce, timing.tick).unref()
    },
    remove(connection: Connection): void {
      if (!buckets[connection.bucket]!.delete(connection)) return
      size -= 1
      if (size > 0) return
      clearInterval(timer)
      timer = undefined
    },
    stop(): void {
      clearInterval(timer)
    },
  }
}
