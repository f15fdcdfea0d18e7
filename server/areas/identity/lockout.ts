import { createHash } from 'node:crypto'
import { DAY, MINUTE, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'

// Limits guesses of a password for one account from one address. An attempt is counted before the password is checked,
// so that fifty simultaneous guesses count as fifty. Accounts that do not exist are counted too, so that the count
// reveals nothing. An attack from another address does not lock out the owner of the account.
//
// Codes of an authenticator app have only six digits: a person who knows the password could guess one from many
// addresses. So wrong codes of one account are also counted together.

export const TRIES = 20
const LOCKED_FOR_S = (15 * MINUTE) / SECOND
export const CODE_TRIES = 30
const CODES_LOCKED_FOR_S = DAY / SECOND
const FORGOTTEN_AFTER_S = DAY / SECOND

export type Attempt = { keyHash: Buffer; failures: number }
type Limit = { tries: number; lockedForS: number; refusal(waitS: number): string }

const keyOf = (...parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

const passwords: Limit = {
  tries: TRIES,
  lockedForS: LOCKED_FOR_S,
  refusal: (waitS) => `Too many wrong passwords. Wait ${waitS} s before the next try.`,
}

const codes: Limit = {
  tries: CODE_TRIES,
  lockedForS: CODES_LOCKED_FOR_S,
  refusal: (waitS) =>
    `Too many wrong codes for this account. Use a recovery code or a passkey, reset the password, or wait ${waitS} s.`,
}

/** No address looks like this. */
const codeKeyOf = (orgId: string, email: string): Buffer => keyOf(orgId, email, 'authenticator codes')

/** Counts this attempt as a failure until `forgive` is called. Refuses if there were too many. */
export const noteAttempt = (tx: Tx, orgId: string, email: string, address: string): Promise<Attempt> =>
  note(tx, keyOf(orgId, email, address), passwords)

/** Counts a code of an authenticator app in the same way, from any address. */
export const noteCode = (tx: Tx, orgId: string, email: string): Promise<Attempt> =>
  note(tx, codeKeyOf(orgId, email), codes)

/** Forgets wrong codes. The person has signed in, or has replaced the password that was needed to try them. */
export const forgiveCodes = (tx: Tx, orgId: string, email: string): Promise<number> =>
  tx.count('delete from sign_in_failures where key_hash = $1', [codeKeyOf(orgId, email)])

async function note(tx: Tx, keyHash: Buffer, { tries, lockedForS, refusal }: Limit): Promise<Attempt> {
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
    [keyHash, lockedForS, tries],
  )
  if (failures > tries) throw problem('rate_limited', refusal(wait_s), { retryAfterS: Math.max(1, wait_s) })
  return { keyHash, failures }
}

export const forgive = (tx: Tx, { keyHash }: Attempt): Promise<number> =>
  tx.count('delete from sign_in_failures where key_hash = $1', [keyHash])
