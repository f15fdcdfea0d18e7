import type { Server } from 'node:net'
import { type Downward, makePeers, type Peers, type Upward } from '#platform/peers'

// One of several processes of a program, started by its supervisor (supervisor.ts).

export type Membership = {
  peers: Peers
  /** The superuser's address of the program's own PostgreSQL, which the supervisor runs. */
  ownDatabase: string | null
  /** The address on which the program listens. */
  address: string
  /** Listening sockets that all processes share. */
  sharedSockets: Server[]
  ready(): void
}

/** The environment variable that is set for processes started by a supervisor. */
export const MEMBER = 'HEDDLE_MEMBER'

/** Returns null for a program that is a single process. */
export async function joinSupervisor(onGone: () => void): Promise<Membership | null> {
  if (process.env[MEMBER] === undefined || !process.connected) return null
  const sharedSockets: Server[] = []
  const send = (message: Upward): void => {
    // If the supervisor is gone, the message is dropped; the process is about to end.
    if (process.connected) process.send!(message, undefined, undefined, () => {})
  }
  process.once('disconnect', onGone)
  const begin = await new Promise<Extract<Downward, { kind: 'begin' }>>((resolve) => {
    const onMessage = (message: Downward, handle: unknown): void => {
      if (message.kind === 'socket') sharedSockets.push(handle as Server)
      if (message.kind !== 'begin') return
      process.off('message', onMessage)
      resolve(message)
    }
    process.on('message', onMessage)
  })
  const peers = makePeers(begin, {
    send,
    onMessage: (handle) => void process.on('message', (message: Downward) => handle(message)),
  })
  return {
    peers,
    ownDatabase: begin.ownDatabase,
    address: begin.address,
    sharedSockets,
    ready: () => send({ kind: 'ready' }),
  }
}
