import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { DatabaseReadOnly } from './unavailable.ts'

// Gives access to the connection inside a client of the driver, which has no public API for it.

type Connection = {
  stream: Duplex
  on(event: 'parameterStatus', listener: (message: { parameterName: string; parameterValue: string }) => void): void
}

export const connectionOf = (client: pg.ClientBase): Connection =>
  (client as unknown as { connection: Connection }).connection

/** Closes the connection with this reason, regardless of what it is waiting for. */
export function destroyConnection(client: pg.ClientBase, reason: Error): void {
  connectionOf(client).stream.destroy(reason)
}

const WRITES = { in_hot_standby: 'off', default_transaction_read_only: 'off' } as Record<string, string>

/**
 * The server reports at sign-in whether it accepts writes. A connection to a read-only server is closed; the server may
 * accept writes later. The returned function gives the reason, because the sign-in can still succeed with the rest of
 * the same packet.
 */
export function refuseReadOnly(client: pg.ClientBase): () => DatabaseReadOnly | undefined {
  let refusal: DatabaseReadOnly | undefined
  connectionOf(client).on('parameterStatus', ({ parameterName, parameterValue }) => {
    const wanted = WRITES[parameterName]
    if (wanted === undefined || parameterValue === wanted || refusal) return
    refusal = new DatabaseReadOnly('the database server accepts no writes')
    destroyConnection(client, refusal)
  })
  return () => refusal
}
