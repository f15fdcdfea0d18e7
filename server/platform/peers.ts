// The processes of one program on one machine. Correctness never depends on their messages: the database keeps
// everything that must be right. The messages make rate limits count once and let /metrics cover all processes.

export type Peers = {
  /** The number of this process, starting at 1. */
  readonly index: number
  readonly count: number
  /** Sends a message to all other processes. */
  broadcast(topic: string, value: unknown): void
  onBroadcast(topic: string, handle: (value: unknown) => void): void
  /** Returns the answers of the other processes. A process that does not answer in time is left out. */
  requestAll(topic: string): Promise<unknown[]>
  onRequest(topic: string, answer: () => Promise<unknown>): void
}

/** The peers of a program with one process. */
export const noPeers: Peers = {
  index: 1,
  count: 1,
  broadcast: () => {},
  onBroadcast: () => {},
  requestAll: async () => [],
  onRequest: () => {},
}

/** Messages from a process to its supervisor. */
export type Upward =
  | { kind: 'ready' }
  | { kind: 'tell'; topic: string; value: unknown }
  | { kind: 'ask'; id: number; topic: string }
  | { kind: 'answer'; id: number; value: unknown }

/** Messages from the supervisor to a process. */
export type Downward =
  | { kind: 'socket' }
  | { kind: 'begin'; index: number; count: number; ownDatabase: string | null; address: string }
  | { kind: 'told'; topic: string; value: unknown }
  | { kind: 'asked'; id: number; topic: string }
  | { kind: 'answers'; id: number; values: unknown[] }

export type Channel = { send(message: Upward): void; onMessage(handle: (message: Downward) => void): void }

export function makePeers({ index, count }: { index: number; count: number }, channel: Channel): Peers {
  const broadcastHandlers = new Map<string, (value: unknown) => void>()
  const answers = new Map<string, () => Promise<unknown>>()
  const asking = new Map<number, (values: unknown[]) => void>()
  let asked = 0

  channel.onMessage((message) => {
    if (message.kind === 'told') broadcastHandlers.get(message.topic)?.(message.value)
    else if (message.kind === 'answers') {
      asking.get(message.id)?.(message.values)
      asking.delete(message.id)
    } else if (message.kind === 'asked') {
      const { id } = message
      const answer = answers.get(message.topic)
      answer?.().then(
        (value) => channel.send({ kind: 'answer', id, value }),
        // The supervisor waits only for a limited time and then answers without this process.
        () => {},
      )
    }
  })

  return {
    index,
    count,
    broadcast: (topic, value) => channel.send({ kind: 'tell', topic, value }),
    onBroadcast: (topic, handle) => void broadcastHandlers.set(topic, handle),
    requestAll: (topic) =>
      new Promise((resolve) => {
        asked += 1
        asking.set(asked, resolve)
        channel.send({ kind: 'ask', id: asked, topic })
      }),
    onRequest: (topic, answer) => void answers.set(topic, answer),
  }
}
