import type { PasswordSealer, Passwords } from '../db/role-passwords.ts'
import type { Vault } from '../secrets.ts'

// The passwords of the database's login roles. They are stored, sealed, in a comment on the owner's role, because
// nothing else in the database can be read before signing in. During a key rotation they are sealed with both keys.

const PLACE = ['', 'installation', 'roles', 'passwords'] as const
const MARK = 'heddle sign-in:'

export const makePasswordSealer = (vault: Vault): PasswordSealer => ({
  seal: (passwords) => sealPasswords(vault, passwords, [vault.keys.current()]),
  open: (comment) => openPasswords(vault, comment),
})

export const sealPasswords = (vault: Vault, passwords: Passwords, ids: readonly string[]): string =>
  [MARK, ...ids.map((id) => vault.keys.sealWith(id, PLACE, JSON.stringify(passwords)).toString('base64'))].join(' ')

/**
 * Returns undefined for any other comment. Throws if the passwords are sealed with a key that this process does not
 * have.
 */
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
