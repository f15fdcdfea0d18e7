import type { PasswordKeeper, Passwords } from '../db/role-passwords.ts'
import type { Vault } from '../secrets.ts'

// Passwords of the database's sign-in roles. They stand in a comment of the owner's role, sealed, since nothing else of the
// database can be read before signing in; while a key is rotated, under both keys.

const PLACE = ['', 'installation', 'roles', 'passwords'] as const
const MARK = 'heddle sign-in:'

export const makePasswordKeeper = (vault: Vault): PasswordKeeper => ({
  seal: (passwords) => sealPasswords(vault, passwords, [vault.keys.current()]),
  open: (comment) => openPasswords(vault, comment),
})

export const sealPasswords = (vault: Vault, passwords: Passwords, ids: readonly string[]): string =>
  [MARK, ...ids.map((id) => vault.keys.sealWith(id, PLACE, JSON.stringify(passwords)).toString('base64'))].join(' ')

/** Undefined where it is another comment; throws where it is sealed with a key that we do not have. */
export function openPasswords(vault: Vault, comment: string): Passwords | undefined {
  if (!comment.startsWith(MARK)) return undefined
  let failure: unknown
  for (const sealed of comment.slice(MARK.length).trim().split(' ')) {
    try {
      return JSON.parse(vault.open(PLACE, Buffer.from(sealed, 'base64'))) as Passwords
    } catch (error) {
      failure = error
    }
  }
  throw failure
}
