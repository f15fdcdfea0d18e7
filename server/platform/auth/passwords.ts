import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { problem } from '../errors.ts'

// argon2id with the library's defaults (19 MiB, two passes): OWASP's minimum, about 30 ms on one core.

// One core stays free for other requests: fifty simultaneous sign-ins on two cores made other requests wait for 5 s.
const AT_ONCE = Math.max(1, availableParallelism() - 1)
const MAX_WAITING = 200
/** Loads the library with the first password, because startup does not need it. */
const load = () => import('@node-rs/argon2')

let working = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (working >= AT_ONCE) {
    if (waiting.length >= MAX_WAITING)
      throw problem('overloaded', 'Too many sign-ins at the same time. Try again in a moment.')
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else working += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else working -= 1
  }
}

/** The maximum length limits how much one request can make the server hash. */
export const passwordIn = () =>
  z.string().min(8, 'must have at least 8 characters').max(256, 'must have at most 256 characters')

const bytesOf = (password: string): string => password.normalize('NFKC')

export const hashPassword = (password: string): Promise<string> =>
  inTurn(async () => (await load()).hash(bytesOf(password)))

let nobodys: Promise<string> | undefined

const hashOfNobody = (): Promise<string> => {
  nobodys ??= load().then(({ hash }) => hash(crypto.getRandomValues(new Uint8Array(32))))
  return nobodys
}

/**
 * Takes the same time for an account that does not exist or has no password as for an account with a password: null is
 * verified against a hash that no password matches. The first call waits until that hash exists, whether or not there
 * is an account.
 */
export async function verifyPassword(known: string | null, password: string): Promise<boolean> {
  const nobodysHash = await hashOfNobody()
  const matches = await inTurn(async () => (await load()).verify(known ?? nobodysHash, bytesOf(password)))
  return matches && known !== null
}
