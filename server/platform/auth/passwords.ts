import { hash, verify } from '@node-rs/argon2'
import { z } from 'zod'

// argon2id with the library's defaults (19 MiB, two passes): OWASP's minimum, about 30 ms on one core.

/** The longest bounds what one request can make the server hash. */
export const passwordIn = () =>
  z.string().min(8, 'must have at least 8 characters').max(256, 'must have at most 256 characters')

const bytesOf = (password: string): string => password.normalize('NFKC')

export const hashPassword = (password: string): Promise<string> => hash(bytesOf(password))

let nobodys: Promise<string> | undefined

/** Called at start, so that not even the first unknown address is told apart by its time. */
export const hashOfNobody = (): Promise<string> => (nobodys ??= hash(crypto.getRandomValues(new Uint8Array(32))))

/**
 * Takes as long for an account that does not exist, or has no password, as for one that does: null is verified against a
 * hash that no password has.
 */
export async function verifyPassword(known: string | null, password: string): Promise<boolean> {
  const matches = await verify(known ?? (await hashOfNobody()), bytesOf(password))
  return matches && known !== null
}
