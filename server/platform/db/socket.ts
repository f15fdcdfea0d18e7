import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { DatabaseReadOnly } from './unavailable.ts'

// What lies under a client of the driver, which has no public name.

type Connection = {
  stream: Duplex
  on(event: 'parameterStatus', listener: (message: { parameterName: string; parameterValue: string }) => void): void
}

export const connectionOf = (client: pg.ClientBase): Connection =>
  (client as unknown as { connection: Connection }).connection

/** Breaks the connection with this reason, whatever it waits for. */
export function breakOff(client: pg.ClientBase, reason: Error): void {
  connectionOf(client).stream.destroy(reason)
}

const WRITES = { in_hot_standby: 'off', default_transaction_read_only: 'off' } as Record<string, string>

/**
 * The server says at sign-in whether it takes writes; one that does not is no use, and may be soon. The connection is broken
 * off, and the answer says why: what comes in the same packet can still let a sign-in succeed.
 */
export function refuseReadOnly(client: pg.ClientBase): () => DatabaseReadOnly | undefined {
  let refusal: DatabaseReadOnly | undefined
  connectionOf(client).on('parameterStatus', ({ parameterName, parameterValue }) => {
    const wanted = WRITES[parameterName]
    if (wanted === undefined || parameterValue === wanted || refusal) return
    refusal = new DatabaseReadOnly('the database server takes no writes')
    breakOff(client, refusal)
  })
  return () => refusal
}
