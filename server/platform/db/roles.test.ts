import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { makePasswordSealer } from '../keys/sign-in.ts'
import { makeVault } from '../secrets.ts'
import { bootstrapRoles } from './roles.ts'

// Roles are shared by the whole server, so the users of these tests contain the name of the test's own database.

let database: TestDatabase
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(() => database.drop())

const passwordFor = (role: string) => `a right ${role}`
const withUser = (url: string, user: string) => Object.assign(new URL(url), { username: user, password: 'x' }).href

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

describe('roles of a database', () => {
  test('are created once, sign in as themselves and have only their own rights', async () => {
    const urls = await bootstrapRoles({ ownerUrl: database.superuserUrl, passwordFor })
    expect(await bootstrapRoles({ ownerUrl: database.superuserUrl, passwordFor })).toEqual(urls)
    for (const [kind, url] of Object.entries(urls)) {
      const sql = `select current_user as role, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb as mighty,
                     current_setting('timezone') as timezone from pg_roles where rolname = session_user`
      expect(await query(url, sql)).toEqual([{ role: `heddle_${kind}`, mighty: false, timezone: 'UTC' }])
    }
    await expect(query(urls.app, 'create table forbidden (n int)')).rejects.toThrow(
      /permission denied for schema public/,
    )
    await expect(query(urls.app, 'set role heddle_owner')).rejects.toThrow(/permission denied to set role/)
    await query(urls.owner, 'create table allowed (n int); drop table allowed')
  })

  test('get revoked rights back, and nothing is written if they have all rights', async () => {
    const start = () => bootstrapRoles({ ownerUrl: database.superuserUrl, passwordFor })
    // Every statement about rights creates new versions of these catalogue rows.
    const versions = () =>
      query(
        database.superuserUrl,
        `select n.xmin as schema, d.xmin as database from pg_namespace n, pg_database d
         where n.nspname = 'public' and d.datname = current_database()`,
      )
    const urls = await start()
    const before = await versions()
    await start()
    expect(await versions()).toEqual(before)
    for (const statement of [
      'revoke usage on schema public from heddle_app',
      'grant usage on schema public to public',
      `grant connect on database ${database.name} to public`,
    ]) {
      await query(database.superuserUrl, statement)
      await start()
      const rights = await query(
        urls.app,
        `select has_schema_privilege('heddle_app', 'public', 'usage') as own,
           has_schema_privilege('pg_monitor', 'public', 'usage') or has_database_privilege('pg_monitor', current_database(), 'connect') as others`,
      )
      expect(rights).toEqual([{ own: true, others: false }])
    }
  })

  test('keep their passwords after a start with a wrong secret key, which is refused', async () => {
    const urls = await bootstrapRoles({ ownerUrl: database.superuserUrl, passwordFor })
    await expect(bootstrapRoles({ ownerUrl: database.superuserUrl, passwordFor: () => 'wrong' })).rejects.toThrow(
      /HEDDLE_SECRET_KEY is not the key/,
    )
    await query(urls.app, 'select 1')
  })

  test('that already exist keep their passwords, which then no longer depend on the key', async () => {
    const own = await makeTestDatabase()
    try {
      const ownerUrl = own.superuserUrl
      const before = await bootstrapRoles({ ownerUrl, passwordFor })
      const keeper = makePasswordSealer(makeVault(Buffer.alloc(32, 1)))
      expect(await bootstrapRoles({ ownerUrl, passwordFor, keeper })).toEqual(before)
      expect(await bootstrapRoles({ ownerUrl, passwordFor: () => 'of another key', keeper })).toEqual(before)
      const stranger = makePasswordSealer(makeVault(Buffer.alloc(32, 2)))
      await expect(bootstrapRoles({ ownerUrl, passwordFor, keeper: stranger })).rejects.toThrow(
        /HEDDLE_SECRET_KEY is not the key/,
      )
    } finally {
      await own.drop()
    }
  })

  test('that all exist need no lock', async () => {
    const own = await makeTestDatabase()
    const keeper = makePasswordSealer(makeVault(Buffer.alloc(32, 1)))
    const start = () => bootstrapRoles({ ownerUrl: own.superuserUrl, passwordFor, keeper })
    const urls = await start()
    const other = new pg.Client(own.superuserUrl)
    await other.connect()
    try {
      await other.query('select pg_advisory_lock(7203001)')
      expect(await start()).toEqual(urls)
    } finally {
      await other.end()
      await own.drop()
    }
  })

  test('of two installations on one server cannot enter the database of the other', async () => {
    const other = await makeTestDatabase()
    try {
      const ours = await bootstrapRoles({ ownerUrl: database.superuserUrl, passwordFor })
      await bootstrapRoles({ ownerUrl: other.superuserUrl, passwordFor: (role) => `another ${role}` })
      await query(ours.app, 'select 1')
      const trespass = Object.assign(new URL(ours.app), { pathname: `/${other.name}` }).href
      await expect(query(trespass, 'select 1')).rejects.toThrow(/permission denied for database/)
    } finally {
      await other.drop()
    }
  })

  test('are created by servers that start at the same time', async () => {
    const fresh = await makeTestDatabase()
    try {
      const all = await Promise.all(
        [1, 2, 3, 4].map(() => bootstrapRoles({ ownerUrl: fresh.superuserUrl, passwordFor })),
      )
      for (const urls of all) expect(urls).toEqual(all[0])
    } finally {
      await fresh.drop()
    }
  })
})

describe('an external database whose user is not a superuser', () => {
  let own: TestDatabase
  let user: string
  beforeEach(async () => {
    own = await makeTestDatabase()
    user = `user_of_${own.name}`
    await query(inject('postgres').superuserUrl, `create role ${user} login password 'x'`)
    return () => own.drop()
  })

  test('works when the user may create roles and owns the database', async () => {
    const admin = inject('postgres').superuserUrl
    await query(
      admin,
      `alter role ${user} createrole; alter database ${own.name} owner to ${user};
      grant heddle_owner, heddle_app, heddle_engine, heddle_operator to ${user} with admin true`,
    )
    const urls = await bootstrapRoles({ ownerUrl: withUser(own.superuserUrl, user), passwordFor })
    await query(urls.owner, 'create table allowed (n int)')
    expect(await query(urls.app, 'select current_user as role')).toEqual([{ role: 'heddle_app' }])
  })

  test('works when an administrator created the roles and granted them to the user', async () => {
    await query(
      own.superuserUrl,
      `grant heddle_owner, heddle_app, heddle_engine, heddle_operator to ${user};
      grant usage, create on schema public to heddle_owner`,
    )
    const urls = await bootstrapRoles({ ownerUrl: withUser(own.superuserUrl, user), passwordFor })
    await query(urls.owner, 'create table allowed (n int)')
    expect(await query(urls.app, 'select current_user as role')).toEqual([{ role: 'heddle_app' }])
  })

  test('is refused with the statements to run when the user has neither', async () => {
    await expect(bootstrapRoles({ ownerUrl: withUser(own.superuserUrl, user), passwordFor })).rejects.toThrow(
      /may not create roles.*create role heddle_owner nologin; .*grant heddle_owner, heddle_app/,
    )
  })

  test('is refused with the statement to run when another user created the roles, and works after that', async () => {
    const admin = inject('postgres').superuserUrl
    await query(admin, `alter role ${user} createrole; alter database ${own.name} owner to ${user}`)
    const start = () => bootstrapRoles({ ownerUrl: withUser(own.superuserUrl, user), passwordFor })
    const { message } = await start().then(
      () => new Error('it started'),
      (error: Error) => error,
    )
    const [, remedy] = /permission denied to grant role .* run as an administrator: (grant .*)$/.exec(message) ?? []
    expect(remedy, message).toContain('with admin option')
    await query(admin, remedy!)
    await query((await start()).owner, 'create table allowed (n int)')
  })

  test('is refused when the user may create roles but not tables', async () => {
    const admin = inject('postgres').superuserUrl
    await query(admin, `alter role ${user} createrole`)
    await expect(bootstrapRoles({ ownerUrl: withUser(own.superuserUrl, user), passwordFor })).rejects.toThrow(
      /could not set up heddle's roles|must own the database/,
    )
  })
})
