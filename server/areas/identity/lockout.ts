import { createHash } from 'node:crypto'
import { HOUR, MINUTE, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'

// Limits guesses of a password for one account from one address. An attempt is counted before the password is checked,
// so that fifty simultaneous guesses count as fifty. Accounts that do not exist are counted too, so that the count
// reveals nothing. An attack from another address does not lock out the owner of the account.

export const TRIES = 20
const LOCKED_FOR_S = (15 * MINUTE) / SECOND
const FORGOTTEN_AFTER_S = HOUR / SECOND

export type Attempt = { keyHash: Buffer; failures: number }

const keyOf = (orgId: string, email: string, address: string): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([orgId, email, address]))
    .digest()

/** Counts this attempt as a failure until `forgive` is called. Refuses if there were too many. */
export async function noteAttempt(tx: Tx, orgId: string, email: string, address: string): Promise<Attempt> {
  const keyHash = keyOf(orgId, email, address)
  await tx.count(
    `delete from sign_in_failures where key_hash in (
       select key_hash from sign_in_failures where last_at < now() - make_interval(secs => $1) limit 100 for update skip locked)`,
    [FORGOTTEN_AFTER_S],
  )
  const { failures, wait_s } = await tx.row<{ failures: number; wait_s: number }>(
    `insert into sign_in_failures as f (key_hash, failures, last_at) values ($1, 1, now())
     on conflict (key_hash) do update set
       failures = case when f.last_at < now() - make_interval(secs => $2) then 1 else least(f.failures + 1, $3 + 1) end,
       last_at = case when f.failures >= $3 and f.last_at >= now() - make_interval(secs => $2) then f.last_at else now() end
     returning failures, ceil(extract(epoch from last_at - now()) + $2)::int as wait_s`,
    [keyHash, LOCKED_FOR_S, TRIES],
  )
  if (failures > TRIES)
    throw problem('rate_limited', `Too many wrong passwords. Wait ${wait_s} s before the next try.`, {
      retryAfterS: Math.max(1, wait_s),
    })
  return { keyHash, failures }
}

export const forgive = (tx: Tx, { keyHash }: Attempt): Promise<number> =>
  tx.count('delete from sign_in_failures where key_hash = $1', [keyHash])
