import { createHash, randomBytes } from 'node:crypto'

const COUNT = 10
const GROUPS = 4
const ALPHABET = '23456789abcdefghjkmnpqrstvwxyz'

/** A code has 16 characters without similar ones. It has 78 bits, so a plain hash is enough. */
function newCode(): string {
  let letters = ''
  while (letters.length < GROUPS * 4)
    for (const byte of randomBytes(32)) {
      // Larger bytes would make some characters more likely.
      if (byte < 240 && letters.length < GROUPS * 4) letters += ALPHABET[byte % 30]
    }
  return letters.match(/.{4}/g)!.join('-')
}

export const newRecoveryCodes = (): string[] => Array.from({ length: COUNT }, newCode)

/** Hashes a code for one person. Hyphens and capitals do not matter. */
export const hashRecoveryCode = (userId: string, code: string): Buffer =>
  createHash('sha256')
    .update(`${userId}:${code.toLowerCase().replaceAll(/[^0-9a-z]/g, '')}`)
    .digest()
