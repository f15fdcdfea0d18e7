import type pg from 'pg'
import type { DatabaseUrls } from './pool.ts'
import { StartRefused } from './refused.ts'
import { lending, RIGHTS_ARE_SET, runOrExplain, setRights, setSessionSettings } from './rights.ts'
import { existingRoles, groups, type Kind, kinds, names, quote, signedIn, signInRole } from './role-names.ts'
import {
  commentOn,
  findPasswords,
  openStoredPasswords,
  type PasswordSealer,
  type Passwords,
  scramVerifier,
  storePasswords,
} from './role-passwords.ts'

// Creates the roles of an installation when it starts, and lets them sign in.

const OLDEST = 160_000
const LOCK = 7_203_001
const WRONG_PASSWORD = '28P01'
const NO_DATABASE = '3D000'

export type RoleOptions = {
  /** The address of a user who may create roles: the embedded superuser, or the user of DATABASE_URL. */
  ownerUrl: string
  /**
   * Returns the password of a role that was created before passwords were stored, or by a user who cannot store them.
   */
  passwordFor: (role: string) => string
  /**
   * Seals and opens random passwords that are stored in the database. Without it, passwords are derived from the key.
   */
  keeper?: PasswordSealer
  /** The database to create for the service. Without it, the database of the address is used. */
  createDatabase?: string
  /** Behind a pooler, a connection cannot set its session settings, so they are stored in its role. */
  settingsInRoles?: boolean
}

type Found = { oid: number; passwords: Passwords; isKept: boolean }

export async function bootstrapRoles({
  ownerUrl,
  passwordFor,
  keeper,
  createDatabase,
  settingsInRoles = false,
}: RoleOptions): Promise<DatabaseUrls> {
  const address = new URL(ownerUrl)
  if (createDatabase !== undefined) address.pathname = `/${createDatabase}`
  const setUp = () =>
    signedIn(address.href, async (admin): Promise<Found | undefined> => {
      const before = settingsInRoles ? undefined : await findSetUp(admin, keeper)
      if (before) return before
      await checkVersion(admin)
      await admin.query('select pg_advisory_lock($1)', [LOCK])
      if (!(await makeGroups(admin))) return undefined
      const { rows } = await admin.query(
        'select oid, datname as name from pg_database where datname = current_database()',
      )
      const { oid, name } = rows[0] as { oid: number; name: string }
      const known = await findPasswords(admin, oid, passwordFor, keeper)
      await makeSignIns(admin, oid, known.passwords, keeper && !known.isKept ? keeper.seal(known.passwords) : undefined)
      await setRights(admin, oid, name)
      if (settingsInRoles) await setSessionSettings(admin, oid)
      return { oid, ...known }
    })
  const found = await setUp().catch(async (error: { code?: string }) => {
    if (createDatabase === undefined || error.code !== NO_DATABASE) throw error
    await signedIn(ownerUrl, async (admin) => {
      await checkVersion(admin)
      await admin.query('select pg_advisory_lock($1)', [LOCK])
      await makeGroups(admin)
      await makeDatabase(admin, createDatabase)
    })
    return setUp()
  })
  if (found === undefined) return urlsByMembership(address)
  const { oid, passwords, isKept } = found
  const urls = urlsFor((kind) => {
    const url = new URL(address)
    url.username = signInRole(kind, oid)
    url.password = passwords[kind]
    return url.href
  })
  // Stored passwords are known to be right. Derived passwords may come from a wrong key.
  if (!isKept) await Promise.all(kinds.map((kind) => trySignIn(urls[kind], signInRole(kind, oid))))
  if (keeper && !isKept) await storePasswords(address.href, signInRole('owner', oid), keeper.seal(passwords))
  return urls
}

/** Checks in one statement that the database is completely set up, as it is at most starts. */
const ALL_SET = `select d.oid, shobj_description(o.oid, 'pg_authid') as comment
  from pg_database d join pg_roles me on me.rolname = current_user join pg_roles o on o.rolname = ($1::text[])[1] || '_' || d.oid
  where d.datname = current_database() and current_setting('server_version_num')::int >= ${OLDEST}
    and (me.rolsuper or me.rolcreaterole)
    and not exists (select from pg_roles r where r.rolname = any ($1::text[]) and (r.rolsuper or r.rolbypassrls))
    and ${RIGHTS_ARE_SET}`

/** Returns the existing setup if nothing has to be done, or undefined if something may be missing. */
async function findSetUp(admin: pg.Client, keeper: PasswordSealer | undefined): Promise<Found | undefined> {
  const { rows } = await admin.query<{ oid: number; comment: string | null }>(ALL_SET, [names])
  const passwords = rows[0]?.comment ? openStoredPasswords(keeper, rows[0].comment) : undefined
  return passwords && { oid: rows[0]!.oid, passwords, isKept: true }
}

/** Checks whether an earlier start has set up the database, with any key. */
export const isSetUp = ({ ownerUrl, createDatabase }: Omit<RoleOptions, 'passwordFor'>): Promise<boolean> =>
  signedIn(ownerUrl, async (admin) => {
    const { rows } = await admin.query(
      `select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = 'public' and c.relname = 'installation')
         or exists (select from pg_roles r join pg_database d on r.rolname = $2 || '_' || d.oid
           where d.datname = coalesce($1, current_database())) as "isSetUp"`,
      [createDatabase ?? null, groups.app],
    )
    return rows[0].isSetUp
  })

const urlsFor = (url: (kind: Kind) => string): DatabaseUrls => ({
  owner: url('owner'),
  app: url('app'),
  engine: url('engine'),
  operator: url('operator'),
})

/** Returns the addresses for a user who may not create roles, but to whom an administrator granted the roles. */
const urlsByMembership = (address: URL): DatabaseUrls =>
  urlsFor((kind) => {
    const url = new URL(address)
    url.searchParams.set('options', `-c role=${groups[kind]} -c timezone=UTC`)
    return url.href
  })

async function checkVersion(admin: pg.Client): Promise<void> {
  const { rows } = await admin.query(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version",
  )
  if (rows[0].number >= OLDEST) return
  throw new StartRefused(`Heddle needs PostgreSQL 16 or newer; the server of DATABASE_URL is ${rows[0].version}.`)
}

/**
 * Creates the group roles. Returns false if this user may not create roles; then the roles must already be granted to
 * the user.
 */
async function makeGroups(admin: pg.Client): Promise<boolean> {
  const { rows } = await admin.query(
    'select rolsuper or rolcreaterole as able, rolname as name from pg_roles where rolname = current_user',
  )
  const { able, name } = rows[0] as { able: boolean; name: string }
  if (able) {
    const present = await existingRoles(admin, names)
    // Another installation on this server may do the same at this moment: advisory locks apply only within one
    // database.
    for (const group of names.filter((group) => !present.has(group))) {
      await admin.query(
        `do $$ begin create role ${group} nologin; exception when duplicate_object or unique_violation then null; end $$`,
      )
    }
  } else {
    const lent = await admin.query(
      "select rolname from pg_roles where rolname = any($1) and pg_has_role(current_user, oid, 'SET')",
      [names],
    )
    if (lent.rowCount !== names.length) throw new StartRefused(instructions(name))
  }
  const unsafe = await admin.query(
    'select rolname from pg_roles where rolname = any($1) and (rolsuper or rolbypassrls)',
    [names],
  )
  if (unsafe.rowCount === 0) return able
  throw new StartRefused(
    `The role ${unsafe.rows[0].rolname} would bypass row security. Run: alter role ${unsafe.rows[0].rolname} nosuperuser nobypassrls`,
  )
}

const instructions = (user: string): string =>
  `The database user "${user}" of DATABASE_URL may not create roles. Either let it (alter role ${quote(user)} createrole), or run as an administrator in that database: ` +
  [
    ...names.map((group) => `create role ${group} nologin`),
    `grant ${names.join(', ')} to ${quote(user)}`,
    'grant usage, create on schema public to heddle_owner',
    'grant usage on schema public to heddle_app, heddle_engine, heddle_operator',
  ].join('; ')

async function makeDatabase(admin: pg.Client, database: string): Promise<void> {
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [database])
  if (rowCount === 0) await admin.query(`create database ${quote(database)} owner ${groups.owner}`)
}

/**
 * Creates the missing sign-in roles. A password is set only once: a start with a wrong key must not lock out the
 * servers with the right key.
 */
async function makeSignIns(admin: pg.Client, oid: number, passwords: Passwords, kept?: string): Promise<void> {
  const present = await existingRoles(
    admin,
    kinds.map((kind) => signInRole(kind, oid)),
  )
  for (const kind of kinds) {
    const role = signInRole(kind, oid)
    if (present.has(role)) continue
    const verifier = scramVerifier(passwords[kind])
    await runOrExplain(
      admin,
      [
        'begin',
        `create role ${role} login noinherit password '${verifier}'`,
        `grant ${groups[kind]} to ${role}`,
        `alter role ${role} set role = ${groups[kind]}`,
        `alter role ${role} set timezone = 'UTC'`,
        // Stored with the first role, so that no role has a password that is stored nowhere.
        ...(kind === 'owner' && kept !== undefined ? [commentOn(role, kept)] : []),
        'commit',
      ],
      lending(admin.user ?? 'USER'),
    )
  }
}

async function trySignIn(url: string, role: string): Promise<void> {
  try {
    await signedIn(url, async (client) => client.query('select 1'))
  } catch (error) {
    if ((error as { code?: string }).code !== WRONG_PASSWORD) throw error
    throw new StartRefused(
      `HEDDLE_SECRET_KEY is not the key this database was set up with (the role ${role} refuses its password). Start with the right key; nothing was changed.`,
    )
  }
}
