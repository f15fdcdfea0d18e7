import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { StartRefused } from './refused.ts'
import { FORBIDDEN, groups, kinds, names, quote, signInRole } from './role-names.ts'
import { sessionSettings } from './session.ts'

// Grants the roles their rights in the database, and sends statements that change roles.

/**
 * True if only our roles have rights in the database `d`, and have all of them. $1 is the list of our role names, the
 * owner's first.
 */
export const RIGHTS_ARE_SET = `not exists (
    select from pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) x
    where n.nspname = 'public' and x.grantee = 0)
  and not exists (select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) x where x.grantee = 0)
  and (select count(*) = cardinality($1::text[]) and bool_and(has_schema_privilege(r.oid, 'public', 'usage'))
    from pg_roles r where r.rolname = any ($1::text[]))
  and (select bool_and(has_schema_privilege(r.oid, 'public', 'create') and has_database_privilege(r.oid, d.oid, 'create'))
    from pg_roles r where r.rolname = ($1::text[])[1])
  and (select count(*) = cardinality($1::text[]) and bool_and(has_database_privilege(r.oid, d.oid, 'connect'))
    from pg_roles r join unnest($1::text[]) as of (name) on r.rolname = of.name || '_' || d.oid)`

export async function setRights(admin: pg.Client, oid: number, database: string): Promise<void> {
  const signIns = kinds.map((kind) => signInRole(kind, oid))
  const found = await admin.query<{ areSet: boolean }>(
    `select ${RIGHTS_ARE_SET} as "areSet" from pg_database d where d.datname = current_database()`,
    [names],
  )
  // Each statement below writes to the catalogue even if nothing changes, and its commit waits for the disk.
  if (found.rows[0]!.areSet) return
  const all = names.join(', ')
  await runOrExplain(admin, [
    'revoke all on schema public from public',
    `grant usage, create on schema public to ${groups.owner}`,
    `grant usage on schema public to ${all}`,
    `revoke all on database ${quote(database)} from public`,
    `grant connect on database ${quote(database)} to ${signIns.join(', ')}`,
    `grant create on database ${quote(database)} to ${groups.owner}`,
  ])
  const { rows } = await admin.query("select has_schema_privilege($1, 'public', 'create') as able", [groups.owner])
  if (!rows[0].able) {
    throw new StartRefused(
      `The user of DATABASE_URL must own the database "${database}": it cannot let ${groups.owner} create tables in it.`,
    )
  }
}

/**
 * Sets only settings that differ: servers that start at the same time must not rewrite the same rows of the catalogue
 * repeatedly.
 */
export async function setSessionSettings(admin: pg.Client, oid: number): Promise<void> {
  for (const kind of ['app', 'engine', 'operator'] as const) {
    const role = signInRole(kind, oid)
    const { rows } = await admin.query<{ config: string[] | null }>(
      'select rolconfig as config from pg_roles where rolname = $1',
      [role],
    )
    const present = new Set(rows[0]?.config ?? [])
    const missing = Object.entries(sessionSettings[kind]).filter(([name, value]) => !present.has(`${name}=${value}`))
    if (missing.length === 0) continue
    await runOrExplain(
      admin,
      missing.map(([name, value]) => `alter role ${role} set ${name} = '${value}'`),
      lending(admin.user ?? 'USER'),
    )
  }
}

/** Only the creator of a role, or a member with this option, may grant the role to others. */
export const lending = (user: string): string =>
  ` Another user made heddle's roles on this server; run as an administrator: grant ${names.join(', ')} to ${quote(user)} with admin option`

/**
 * The maximum number of retries. Roles belong to the whole server, and two programs that change a role at the same
 * moment cause an error.
 */
const MAX_CLASHES = 20
const isClash = (error: unknown): boolean =>
  (error as { code?: string }).code === 'XX000' && (error as Error).message.includes('concurrently')

export async function runOrExplain(admin: pg.Client, statements: string[], remedy = '', clashes = 0): Promise<void> {
  try {
    await admin.query(statements.join(';\n'))
  } catch (error) {
    if (isClash(error) && clashes < MAX_CLASHES) {
      await admin.query('rollback')
      await delay(50 + Math.random() * 100)
      return runOrExplain(admin, statements, remedy, clashes + 1)
    }
    const { code, message } = error as { code?: string; message: string }
    const next = code === FORBIDDEN ? remedy : ''
    throw new StartRefused(`The user of DATABASE_URL could not set up heddle's roles: ${message}.${next}`, {
      cause: error,
    })
  }
}
