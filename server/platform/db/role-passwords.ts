import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { StartRefused } from './refused.ts'
import { FORBIDDEN, groups, type Kind, kinds, signedIn, signInRole } from './role-names.ts'

// The passwords of the sign-in roles. Random passwords are stored in the database, sealed with the key. Older passwords
// are derived from the key.

export type Passwords = Record<Kind, string>
export type PasswordSealer = {
  seal(passwords: Passwords): string
  /** Undefined if the text is something else. Throws if it is sealed with another key. */
  open(text: string): Passwords | undefined
}

/**
 * Finds the passwords of the sign-in roles, or creates random ones if there is no role yet. `isKept`: they are stored
 * in the database, sealed.
 */
export async function findPasswords(
  admin: pg.Client,
  oid: number,
  passwordFor: (role: string) => string,
  keeper: PasswordSealer | undefined,
): Promise<{ passwords: Passwords; isKept: boolean }> {
  const { rows } = await admin.query<{ name: string; comment: string | null }>(
    `select rolname as name, shobj_description(oid, 'pg_authid') as comment from pg_roles where rolname = any ($1)`,
    [kinds.map((kind) => signInRole(kind, oid))],
  )
  const comment = rows.find(({ name }) => name === signInRole('owner', oid))?.comment
  const of = (password: (kind: Kind) => string): Passwords =>
    Object.fromEntries(kinds.map((kind) => [kind, password(kind)])) as Passwords
  const kept = comment ? openStoredPasswords(keeper, comment) : undefined
  if (kept) return { passwords: kept, isKept: true }
  const isFresh = keeper !== undefined && rows.length === 0
  return {
    passwords: of((kind) => (isFresh ? randomBytes(32).toString('hex') : passwordFor(groups[kind]))),
    isKept: false,
  }
}

export function openStoredPasswords(keeper: PasswordSealer | undefined, comment: string): Passwords | undefined {
  try {
    return keeper?.open(comment)
  } catch (error) {
    throw new StartRefused(
      `HEDDLE_SECRET_KEY is not the key this database was set up with (the passwords of its roles: ${(error as Error).message}). Start with the right key; nothing was changed.`,
    )
  }
}

export const commentOn = (role: string, text: string): string => `comment on role ${role} is ${pg.escapeLiteral(text)}`

/**
 * Stores the passwords of existing roles. If another user created the roles, this is forbidden, and the passwords stay
 * derived from the key.
 */
export async function storePasswords(address: string, role: string, text: string): Promise<void> {
  try {
    await signedIn(address, (admin) => admin.query(commentOn(role, text)))
  } catch (error) {
    if ((error as { code?: string }).code !== FORBIDDEN) throw error
  }
}

/** Reads and replaces the stored passwords of this database's roles. `none`: the database has no such roles. */
export const changeStoredPasswords = (
  address: string,
  change: (comment: string) => string | undefined,
): Promise<'changed' | 'none' | 'unkept'> =>
  signedIn(address, async (admin) => {
    const { rows } = await admin.query<{ name: string; comment: string | null }>(
      `select r.rolname as name, shobj_description(r.oid, 'pg_authid') as comment
       from pg_database d join pg_roles r on r.rolname = $1 || '_' || d.oid where d.datname = current_database()`,
      [groups.owner],
    )
    const [role] = rows
    if (!role) return 'none'
    const next = role.comment ? change(role.comment) : undefined
    if (next === undefined) return 'unkept'
    await admin.query(commentOn(role.name, next))
    return 'changed'
  })

/**
 * Iterations make it expensive to guess a password. These passwords are random and too long to guess, so more
 * iterations would only cost every connection processor time: 4,096 take about 4 ms on each side.
 */
const ITERATIONS = 1

/** Hashes a random password here, so that it appears neither in the server's log nor in its activity view. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`
}
