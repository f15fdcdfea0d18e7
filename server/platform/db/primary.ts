import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SECOND } from '../clock.ts'
import { type Host, hostsOf, withoutHosts } from './address.ts'
import { connectionOf, refuseReadOnly } from './socket.ts'
import { DatabaseReadOnly, isConnectionLost } from './unavailable.ts'

// Finds the host that accepts writes among several hosts. The host is remembered until a connection to it fails; then
// all hosts are asked at once. While a standby is being promoted, no host accepts writes for a moment, and the search
// waits.

const ASK_WITHIN = 1.5 * SECOND
const FIND_WITHIN = 3 * SECOND
const AGAIN_AFTER = 100

type Known = { at?: Host; finding?: Promise<Host> }

const known = new Map<string, Known>()

const placeOf = (address: string): Known => {
  const key = hostsOf(address)
    .map(({ host, port }) => `${host}:${port}`)
    .join()
  const found = known.get(key) ?? {}
  known.set(key, found)
  return found
}

export async function primaryOf(address: string): Promise<Host> {
  const place = placeOf(address)
  if (place.at) return place.at
  place.finding ??= find(address).finally(() => delete place.finding)
  place.at = await place.finding
  return place.at
}

/** Forgets the host after a connection to it failed. The next connection asks all hosts. */
export function forgetPrimary(address: string, failed?: Host): void {
  const place = placeOf(address)
  if (failed === undefined || place.at === failed) delete place.at
}

async function find(address: string): Promise<Host> {
  const until = performance.now() + FIND_WITHIN
  for (;;) {
    try {
      return await Promise.any(hostsOf(address).map((host) => takesWrites(address, host)))
    } catch (error) {
      const reasons = (error as AggregateError).errors as Error[]
      // Waiting does not fix a wrong password.
      const final = reasons.find((reason) => !isConnectionLost(reason))
      if (final) throw final
      if (performance.now() > until)
        throw new DatabaseReadOnly(
          `none of the database servers accepts writes (${reasons.map(({ message }) => message).join('; ')})`,
        )
      await delay(AGAIN_AFTER)
    }
  }
}

async function takesWrites(address: string, at: Host): Promise<Host> {
  const client = new pg.Client({
    connectionString: withoutHosts(address),
    connectionTimeoutMillis: ASK_WITHIN,
  })
  client.on('error', () => {})
  Object.assign(client, at)
  const refusal = refuseReadOnly(client)
  await client.connect()
  connectionOf(client).stream.destroy()
  const reason = refusal()
  if (reason) throw reason
  return at
}
