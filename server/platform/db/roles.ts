import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { withClient } from './client.ts'
import type { DatabaseUrls } from './pool.ts'
import { StartRefused } from './refused.ts'
import { sessionSettings } from './session.ts'

// Rights and policies name four roles that cannot sign in: heddle_owner, heddle_app, heddle_engine, heddle_operator. Roles are
// shared by all databases of a server, so each database has sign-in roles of its own (heddle_app_<oid of the database>) that
// become theirs at sign-in: two installations with different keys can share one server, and neither can enter the other's database.

const groups = {
  owner: 'heddle_owner',
  app: 'heddle_app',
  engine: 'heddle_engine',
  operator: 'heddle_operator',
} as const
const names = Object.values(groups)
const kinds = Object.keys(groups) as (keyof typeof groups)[]

const OLDEST = 160_000
const LOCK = 7_203_001
const WRONG_PASSWORD = '28P01'
const FORBIDDEN = '42501'
const NO_DATABASE = '3D000'

const quote = pg.escapeIdentifier

export type RoleOptions = {
  /** Signs in as somebody who may create roles: the embedded superuser, or the user of DATABASE_URL. */
  ownerUrl: string
  /** The password of a role that was made before passwords were kept, or by somebody who keeps none. */
  passwordFor: (role: string) => string
  /** Keeps random passwords in the database. Without it they are made from the key alone. */
  keeper?: PasswordKeeper
  /** Database to create for the service; without it, the one of the address is used. */
  createDatabase?: string
  /** Behind a pooler a connection cannot say what its session may do: then its role says so. */
  settingsInRoles?: boolean
}

export type Passwords = Record<keyof typeof groups, string>
export type PasswordKeeper = {
  seal(passwords: Passwords): string
  /** Undefined where the text is something else; throws where the key is another one. */
  open(text: string): Passwords | undefined
}

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
    signedIn(address.href, async (admin) => {
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
    url.username = signIn(kind, oid)
    url.password = passwords[kind]
    return url.href
  })
  // Passwords that were kept are those of the roles. Others are made of the key, which may be the wrong one.
  if (!isKept) await Promise.all(kinds.map((kind) => trySignIn(urls[kind], signIn(kind, oid))))
  if (keeper && !isKept) await keepPasswords(address.href, signIn('owner', oid), keeper.seal(passwords))
  return urls
}

/** Whether a start before this one has set the database up, with whatever key it had. */
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

const signIn = (kind: keyof typeof groups, oid: number): string => `${groups[kind]}_${oid}`

const urlsFor = (url: (kind: keyof typeof groups) => string): DatabaseUrls => ({
  owner: url('owner'),
  app: url('app'),
  engine: url('engine'),
  operator: url('operator'),
})

/** Where an administrator made the roles and lent them to a user who may not create any. */
const urlsByMembership = (address: URL): DatabaseUrls =>
  urlsFor((kind) => {
    const url = new URL(address)
    url.searchParams.set('options', `-c role=${groups[kind]} -c timezone=UTC`)
    return url.href
  })

const signedIn = <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withClient({ connectionString: url, connectionTimeoutMillis: 10_000 }, work)

async function checkVersion(admin: pg.Client): Promise<void> {
  const { rows } = await admin.query(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version",
  )
  if (rows[0].number >= OLDEST) return
  throw new StartRefused(`Heddle needs PostgreSQL 16 or newer; the server of DATABASE_URL is ${rows[0].version}.`)
}

/** Answers whether this user may create roles; if not, the roles must be there and lent to it. */
async function makeGroups(admin: pg.Client): Promise<boolean> {
  const { rows } = await admin.query(
    'select rolsuper or rolcreaterole as able, rolname as name from pg_roles where rolname = current_user',
  )
  const { able, name } = rows[0] as { able: boolean; name: string }
  if (able) {
    const present = await presentAmong(admin, names)
    // Another installation on this server may be doing the same: advisory locks hold per database only.
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

async function presentAmong(admin: pg.Client, roles: string[]): Promise<Set<string>> {
  const { rows } = await admin.query('select rolname as name from pg_roles where rolname = any($1)', [roles])
  return new Set((rows as { name: string }[]).map(({ name }) => name))
}

const instructions = (user: string): string =>
  `The database user "${user}" of DATABASE_URL may not create roles. Either let it (alter role ${quote(user)} createrole), or run as an administrator in that database: ` +
  [
    ...names.map((group) => `create role ${group} nologin`),
    `grant ${names.join(', ')} to ${quote(user)}`,
    'grant usage, create on schema public to heddle_owner',
    'grant usage on schema public to heddle_app, heddle_engine, heddle_operator',
  ].join('; ')

/** Only the maker of a role, or a holder of it with this option, may give it to others. */
const lending = (user: string): string =>
  ` Another user made heddle's roles on this server; run as an administrator: grant ${names.join(', ')} to ${quote(user)} with admin option`

async function makeDatabase(admin: pg.Client, database: string): Promise<void> {
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [database])
  if (rowCount === 0) await admin.query(`create database ${quote(database)} owner ${groups.owner}`)
}

/** `isKept`: they stand in the database, sealed. Random where there is no role yet. */
async function findPasswords(
  admin: pg.Client,
  oid: number,
  passwordFor: (role: string) => string,
  keeper: PasswordKeeper | undefined,
): Promise<{ passwords: Passwords; isKept: boolean }> {
  const { rows } = await admin.query<{ name: string; comment: string | null }>(
    `select rolname as name, shobj_description(oid, 'pg_authid') as comment from pg_roles where rolname = any ($1)`,
    [kinds.map((kind) => signIn(kind, oid))],
  )
  const comment = rows.find(({ name }) => name === signIn('owner', oid))?.comment
  const of = (password: (kind: keyof typeof groups) => string): Passwords =>
    Object.fromEntries(kinds.map((kind) => [kind, password(kind)])) as Passwords
  try {
    const kept = comment ? keeper?.open(comment) : undefined
    if (kept) return { passwords: kept, isKept: true }
  } catch (error) {
    throw new StartRefused(
      `HEDDLE_SECRET_KEY is not the key this database was set up with (the passwords of its roles: ${(error as Error).message}). Start with the right key; nothing was changed.`,
    )
  }
  const isFresh = keeper !== undefined && rows.length === 0
  return {
    passwords: of((kind) => (isFresh ? randomBytes(32).toString('hex') : passwordFor(groups[kind]))),
    isKept: false,
  }
}

const commentOn = (role: string, text: string): string => `comment on role ${role} is ${pg.escapeLiteral(text)}`

/** Of roles that were there before: another user may have made them, and then their passwords stay those of the key. */
async function keepPasswords(address: string, role: string, text: string): Promise<void> {
  try {
    await signedIn(address, (admin) => admin.query(commentOn(role, text)))
  } catch (error) {
    if ((error as { code?: string }).code !== FORBIDDEN) throw error
  }
}

/** Reads and replaces what is kept of the passwords of this database's roles. `none`: it has no such roles. */
export const changeKeptPasswords = (
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

/** The password of a role is set once: a start with a wrong key must not lock out the servers that have the right one. */
async function makeSignIns(admin: pg.Client, oid: number, passwords: Passwords, kept?: string): Promise<void> {
  const present = await presentAmong(
    admin,
    kinds.map((kind) => signIn(kind, oid)),
  )
  for (const kind of kinds) {
    const role = signIn(kind, oid)
    if (present.has(role)) continue
    const verifier = scramVerifier(passwords[kind])
    await explained(
      admin,
      [
        'begin',
        `create role ${role} login noinherit password '${verifier}'`,
        `grant ${groups[kind]} to ${role}`,
        `alter role ${role} set role = ${groups[kind]}`,
        `alter role ${role} set timezone = 'UTC'`,
        // With the first of them, so that no role has a password that nobody knows.
        ...(kind === 'owner' && kept !== undefined ? [commentOn(role, kept)] : []),
        'commit',
      ],
      lending(admin.user ?? 'USER'),
    )
  }
}

/** Only what is not so yet: servers that start together must not write the same rows of the catalogue again and again. */
async function setSessionSettings(admin: pg.Client, oid: number): Promise<void> {
  for (const kind of ['app', 'engine', 'operator'] as const) {
    const role = signIn(kind, oid)
    const { rows } = await admin.query<{ config: string[] | null }>(
      'select rolconfig as config from pg_roles where rolname = $1',
      [role],
    )
    const present = new Set(rows[0]?.config ?? [])
    const missing = Object.entries(sessionSettings[kind]).filter(([name, value]) => !present.has(`${name}=${value}`))
    if (missing.length === 0) continue
    await explained(
      admin,
      missing.map(([name, value]) => `alter role ${role} set ${name} = '${value}'`),
      lending(admin.user ?? 'USER'),
    )
  }
}

/** Nobody has rights here but our roles, and they have theirs. */
const RIGHTS_ARE_SET = `select not exists (
    select from pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) x
    where n.nspname = 'public' and x.grantee = 0)
  and not exists (
    select from pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) x
    where d.datname = current_database() and x.grantee = 0)
  and has_schema_privilege($1::name, 'public', 'create') and has_database_privilege($1::name, current_database(), 'create')
  and (select bool_and(has_schema_privilege(role, 'public', 'usage')) from unnest($2::text[]) as role)
  and (select bool_and(has_database_privilege(role, current_database(), 'connect')) from unnest($3::text[]) as role) as "areSet"`

async function setRights(admin: pg.Client, oid: number, database: string): Promise<void> {
  const signIns = kinds.map((kind) => signIn(kind, oid))
  const found = await admin.query<{ areSet: boolean }>(RIGHTS_ARE_SET, [groups.owner, names, signIns])
  // Each of the statements below writes to the catalogue, whatever stands there, and their commit waits for the disk.
  if (found.rows[0]!.areSet) return
  const all = names.join(', ')
  await explained(admin, [
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

/** Roles belong to the whole server, and two programs that change one at the same moment refuse each other. */
const MAX_CLASHES = 20
const isClash = (error: unknown): boolean =>
  (error as { code?: string }).code === 'XX000' && (error as Error).message.includes('concurrently')

async function explained(admin: pg.Client, statements: string[], remedy = '', clashes = 0): Promise<void> {
  try {
    await admin.query(statements.join(';\n'))
  } catch (error) {
    if (isClash(error) && clashes < MAX_CLASHES) {
      await admin.query('rollback')
      await delay(50 + Math.random() * 100)
      return explained(admin, statements, remedy, clashes + 1)
    }
    const { code, message } = error as { code?: string; message: string }
    const next = code === FORBIDDEN ? remedy : ''
    throw new StartRefused(`The user of DATABASE_URL could not set up heddle's roles: ${message}.${next}`, {
      cause: error,
    })
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

/** Hashed here, so that the password itself reaches neither the server's log nor its activity view. */
function scramVerifier(password: string): string {
  const iterations = 4096
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`
}
