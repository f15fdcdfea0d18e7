import pg from 'pg'
import { withClient } from './client.ts'

// Rights and policies name four roles that cannot sign in: heddle_owner, heddle_app, heddle_engine, heddle_operator.
// Roles are shared by all databases of a server, so each database has its own sign-in roles (heddle_app_<oid of the
// database>) that switch to one of the four at sign-in. Two installations with different keys can therefore share one
// server, and neither can enter the other's database.

export const groups = {
  owner: 'heddle_owner',
  app: 'heddle_app',
  engine: 'heddle_engine',
  operator: 'heddle_operator',
} as const
export const names = Object.values(groups)
export const kinds = Object.keys(groups) as (keyof typeof groups)[]

export type Kind = keyof typeof groups

/** Returns the role that signs in to the database with this oid. */
export const signInRole = (kind: Kind, oid: number): string => `${groups[kind]}_${oid}`

export const quote = pg.escapeIdentifier

export const FORBIDDEN = '42501'

export const signedIn = <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withClient({ connectionString: url, connectionTimeoutMillis: 10_000 }, work)

export async function existingRoles(admin: pg.Client, roles: string[]): Promise<Set<string>> {
  const { rows } = await admin.query('select rolname as name from pg_roles where rolname = any($1)', [roles])
  return new Set((rows as { name: string }[]).map(({ name }) => name))
}
