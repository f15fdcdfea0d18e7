import { existsSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Answer, startService, useService } from '#test/harness/service'
import { isSlowRun, slow } from '#test/harness/slow'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const cluster = new URL(inject('postgres').superuserUrl)
const port = Number(cluster.port)
const SECRET = 'correct horse battery/staple'

const service = useService({
  env: { HEDDLE_ALLOW_TARGETS: `127.0.0.1:${port},127.0.0.1:1`, HEDDLE_LOG_LEVEL: 'silent' },
})
let world: World
let canary: Server
let canaryPort = 0
let caught: string[] = []
let warehouse: pg.Pool

beforeAll(async () => {
  world = await makeWorld(service())
  canary = createServer((socket) => {
    caught.push('connected')
    socket.on('data', (data) => caught.push(data.toString('latin1')))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
  canaryPort = (canary.address() as AddressInfo).port
  warehouse = new pg.Pool({ connectionString: service().database.superuserUrl, max: 1 })
  // Its connection may still be open when the database is dropped.
  warehouse.on('error', () => {})
  warehouse.on('error', () => {})
  await warehouse.query(`create role shop_reader login password '${SECRET}'`).catch(() => {})
  await warehouse.query(`create schema shop; create table shop.orders as
    select n as id, 'customer ' || n as customer, n * 1.5 as total, now() as at, n % 2 = 0 as open, null::text as note
    from generate_series(1, 2500) n;
    grant usage on schema shop to shop_reader; grant select, insert on shop.orders to shop_reader`)
})
afterAll(async () => {
  await warehouse.query('drop owned by shop_reader; drop role shop_reader').catch(() => {})
  await warehouse.end()
  canary.close()
})

const config = () => ({ host: '127.0.0.1', port, database: service().database.name, user: 'shop_reader' })
const body = (more: Record<string, unknown> = {}) => ({
  name: 'Shop',
  kind: 'postgres',
  config: config(),
  secrets: { password: SECRET },
  ...more,
})
const connect = (more: Record<string, unknown> = {}, person: TestPerson = world.member): Promise<Answer> =>
  person.call('POST', '/api/connections', { body: body(more) })
const attach = async (id: string, source: Record<string, unknown>): Promise<string> => {
  const made = await world.member.call('POST', `/api/connections/${id}/sources`, {
    body: { name: 'Orders', ...source },
  })
  expect(made.status).toBe(201)
  return made.body.source_id
}
const capture = (source_id: string, more: Record<string, unknown> = {}): Promise<Answer> =>
  world.member.call('POST', '/api/datasets/capture', { body: { source_id, ...more } })
const count = async (): Promise<number> =>
  (await service().sql<{ n: number }>('select count(*)::int as n from connections'))[0]!.n

describe('a connection', () => {
  test('is probed, stored and listed with the available kinds, never with its secret', async () => {
    const made = await connect()
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'Shop',
      kind: 'postgres',
      status: 'active',
      credential: { state: 'stored' },
      sources: [],
      owner_id: world.member.id,
    })
    const list = await world.viewer.call('GET', '/api/connections')
    expect(list.body.items).toEqual([made.body])
    expect(list.body.kinds.map(({ kind }: { kind: string }) => kind)).toEqual([
      'postgres',
      'redshift',
      'snowflake',
      'bigquery',
      'databricks',
      'clickhouse',
      'duckdb',
      'mysql',
      'sqlserver',
    ])
    for (const { config_schema, secret_fields } of list.body.kinds)
      expect([config_schema.type, Array.isArray(secret_fields)]).toEqual(['object', true])
    expect(made.text + list.text).not.toContain(SECRET)
  })

  test('offers only the kinds that the org allows', async () => {
    await service().sql(`insert into org_connection_kinds select org_id, 'duckdb' from orgs`)
    const { body: listed } = await world.viewer.call('GET', '/api/connections')
    expect(listed.kinds.map(({ kind }: { kind: string }) => kind)).toEqual(['duckdb'])
    expect((await connect()).body.errors).toEqual([{ path: '/kind', message: 'is not available here' }])
    await service().sql('delete from org_connection_kinds')
  })

  test.each<[step: string, change: () => Record<string, unknown>, told: RegExp]>([
    ['resolve', () => ({ config: { ...config(), host: 'no-such-host.invalid' } }), /resolve/],
    ['resolve', () => ({ config: { ...config(), host: '127.0.0.1', port: canaryPort } }), /public internet/],
    ['connect', () => ({ config: { ...config(), port: 1 } }), /ECONNREFUSED|refused/],
    ['tls', () => ({ config: { ...config(), ssl: 'verify' } }), /TLS/],
    ['sign_in', () => ({ secrets: { password: `wrong ${SECRET}` } }), /password|authentication/],
    ['sign_in', () => ({ config: { ...config(), database: 'nowhere' } }), /nowhere/],
  ])('that fails at the step %s is refused with the reason, and nothing is stored', async (step, change, told) => {
    const before = await count()
    const refused = await connect(change())
    expect([refused.status, refused.body.code, refused.body.errors[0].path]).toEqual([422, 'probe_failed', `/${step}`])
    expect(refused.body.detail).toMatch(told)
    expect(refused.text).not.toContain(SECRET)
    expect(await count()).toBe(before)
  })

  test('to a private address is never opened, in any spelling of the address', async () => {
    caught = []
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '2130706433',
      '0x7f.1',
      '0.0.0.0',
      '::ffff:127.0.0.1',
      '169.254.169.254',
    ])
      for (const more of [
        { config: { ...config(), host, port: canaryPort } },
        // All kinds use the same check. Starting a process of a vendor's client takes seconds.
        ...(isSlowRun || host === '2130706433'
          ? [{ kind: 'clickhouse', config: { host, port: canaryPort, https: false }, secrets: { password: SECRET } }]
          : []),
        ...(isSlowRun
          ? [{ kind: 'databricks', config: { host, port: canaryPort, http_path: '/sql' }, secrets: { token: SECRET } }]
          : []),
      ]) {
        const refused = await connect(more)
        expect([host, refused.status]).toEqual([host, 422])
      }
    const byAddress = [
      {
        kind: 'bigquery',
        config: { project_id: 'p', endpoint: `http://127.0.0.1:${canaryPort}` },
        secrets: { service_account: '{}' },
      },
      {
        kind: 'snowflake',
        config: { account: 'a', user: 'u', endpoint: `https://127.0.0.1:${canaryPort}` },
        secrets: { password: SECRET },
      },
    ]
    for (const more of isSlowRun ? byAddress : []) expect((await connect(more)).body.code).toBe('probe_failed')
    expect(caught).toEqual([])
  })

  test('with invalid fields is refused with their names', async () => {
    const bad = await connect({
      config: { host: 5, sslmode: 'x', database: 'd', user: 'u' },
      secrets: { passwort: 'x' },
    })
    expect(bad.status).toBe(422)
    expect(bad.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      '/config/host',
      '/config/sslmode',
      '/secrets/passwort',
    ])
    expect((await connect({ kind: 'oracle' })).status).toBe(422)
    expect((await connect({ status: 'active' })).body.code).toBe('read_only')
  })

  test('becomes failing when the warehouse refuses it, and active again when verification succeeds', async () => {
    const { connection_id } = (await connect()).body
    const verify = () => world.member.call('POST', `/api/connections/${connection_id}/verify`)
    await warehouse.query('alter role shop_reader nologin')
    const failing = await verify()
    expect([failing.status, failing.body.status, failing.body.problem.step]).toEqual([200, 'failing', 'sign_in'])
    await warehouse.query('alter role shop_reader login')
    expect((await verify()).body).toMatchObject({ status: 'active', problem: null })
  })

  test('sends its secret only to the host for which it was stored', async () => {
    const { connection_id } = (await connect()).body
    caught = []
    // A person who could change the row itself still does not learn the secret.
    await service().sql(
      `update connections set config = jsonb_set(config, '{host}', '"localhost"') where connection_id = $1`,
      [
        (
          await service().sql<{ connection_id: string }>(
            'select connection_id from connections order by connection_id desc limit 1',
          )
        )[0]!.connection_id,
      ],
    )
    const moved = await world.member.call('POST', `/api/connections/${connection_id}/verify`)
    expect(moved.body).toMatchObject({ status: 'failing', problem: { step: 'sign_in' } })
    expect(caught).toEqual([])
    // A new config requires a new secret.
    const rearm = await world.member.call('PUT', `/api/connections/${connection_id}/credential`, {
      body: { config: config() },
    })
    expect([rearm.status, rearm.body.code]).toEqual([422, 'probe_failed'])
  })

  test('is stored encrypted, and its secret appears in no table of the database', async () => {
    await connect()
    const tables = await service().sql<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    )
    for (const { name } of tables.filter(({ name: table }) => table !== 'dataset_chunks')) {
      const [hit] = await service().sql<{ n: number }>(
        `select count(*)::int as n from "${name}" t where t::text like $1 or t::text like $2`,
        [`%${SECRET}%`, `%${Buffer.from(SECRET).toString('hex')}%`],
      )
      expect([name, hit!.n]).toEqual([name, 0])
    }
  })

  test('can be revoked: the secret is erased, the row and its sources stay, and the owners are notified', async () => {
    const { connection_id } = (await connect({ name: 'Going' })).body
    const sourceId = await attach(connection_id, { table: 'shop.orders' })
    expect((await world.member.call('DELETE', `/api/connections/${connection_id}`)).status).toBe(204)
    const { body: listed } = await world.viewer.call('GET', '/api/connections')
    const kept = listed.items.find((item: { connection_id: string }) => item.connection_id === connection_id)
    expect(kept).toMatchObject({
      status: 'revoked',
      credential: { state: 'revoked' },
      sources: [{ source_id: sourceId }],
    })
    const [row] = await service().sql<{ secrets: Buffer | null }>(
      `select secrets from connections where name = 'Going'`,
    )
    expect(row!.secrets).toBeNull()
    const told = (await world.owner.call('GET', '/api/notifications')).body.items
    expect(told[0]).toMatchObject({ kind: 'connection.revoked', data: { connection_id } })
    for (const refused of [
      await capture(sourceId),
      await world.member.call('POST', `/api/connections/${connection_id}/verify`),
      await world.member.call('POST', `/api/connections/${connection_id}/sources`, { body: { name: 'x', table: 'y' } }),
    ])
      expect([refused.status, refused.body.code]).toEqual([409, 'connection_revoked'])

    const path = `/api/connections/${connection_id}`
    const late = await world.member.call('DELETE', path, { headers: { 'if-match': '"another"' } })
    expect(late.status).toBe(412)
    const again = await world.member.call('PUT', `/api/connections/${connection_id}/credential`, {
      body: { secrets: { password: SECRET } },
    })
    expect(again.body).toMatchObject({ status: 'active', credential: { state: 'stored' } })
    expect((await capture(sourceId, { limit: 1 })).status).toBe(201)
  })

  test('of another workspace gets the same responses as an unknown connection everywhere', async () => {
    const { connection_id } = (await connect()).body
    const source_id = await attach(connection_id, { table: 'shop.orders' })
    const before = await service().sql('select * from connections order by connection_id')
    for (const [method, path, options] of [
      ['POST', `/api/connections/${connection_id}/verify`, {}],
      ['DELETE', `/api/connections/${connection_id}`, {}],
      ['PUT', `/api/connections/${connection_id}/credential`, { body: { secrets: {} } }],
      ['GET', `/api/connections/${connection_id}/sources`, {}],
      ['POST', `/api/connections/${connection_id}/sources`, { body: { name: 'x', table: 'y' } }],
      ['DELETE', `/api/sources/${source_id}`, {}],
    ] as const) {
      const ask = (at: string, person: TestPerson) =>
        person.call(method, at, { ...options, headers: { 'x-request-id': 'same' } })
      const foreign = await ask(path, world.stranger)
      const random = await ask(
        path
          .replace(connection_id, 'conn_01kf3v6h2he3wtpk1fw5c0wz9d')
          .replace(source_id, 'src_01kf3v6h2he3wtpk1fw5c0wz9d'),
        world.stranger,
      )
      expect([method, path, foreign.status]).toEqual([method, path, 404])
      expect(foreign.text).toBe(random.text)
      expect((await ask(path, world.guest)).text).toBe(random.text)
    }
    const asked = await Promise.all(
      [source_id, 'src_01kf3v6h2he3wtpk1fw5c0wz9d', 'nonsense'].map((id) =>
        world.stranger.call('POST', '/api/datasets/capture', {
          body: { source_id: id },
          headers: { 'x-request-id': 'same' },
        }),
      ),
    )
    expect(new Set(asked.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(asked[0]!.body.code).toBe('unknown_reference')
    expect(await service().sql('select * from connections order by connection_id')).toEqual(before)
    expect((await world.stranger.call('GET', '/api/connections')).body.items).toEqual([])
  })

  test('can be created by members, is visible to viewers and hidden from guests', async () => {
    const { connection_id } = (await connect()).body
    expect((await connect({}, world.viewer)).status).toBe(403)
    expect((await world.viewer.call('POST', `/api/connections/${connection_id}/verify`)).status).toBe(403)
    expect((await world.viewer.call('DELETE', `/api/connections/${connection_id}`)).status).toBe(403)
    expect((await world.viewer.call('GET', `/api/connections/${connection_id}/sources`)).status).toBe(200)
    const refused = await world.guest.call('GET', '/api/connections')
    expect(refused.status).toBe(403)
    expect(refused.body.detail).toBe('This needs the role viewer in the workspace; you are a guest here.')
  })
})

describe('a source', () => {
  test('is captured into a dataset with its rows, types and the limit', async () => {
    const { connection_id } = (await connect()).body
    const whole = await capture(await attach(connection_id, { table: 'shop.orders' }), { name: 'All orders' })
    expect(whole.status).toBe(201)
    expect(whole.body).toMatchObject({ name: 'All orders', record_count: 2500 })
    const first = await capture(await attach(connection_id, { query: 'select * from shop.orders order by id;' }), {
      limit: 3,
    })
    const { records } = (await world.viewer.call('GET', `/api/datasets/${first.body.dataset_id}`)).body
    expect(records).toHaveLength(3)
    expect(records[0]).toMatchObject({ id: 1, customer: 'customer 1', total: 1.5, open: false, note: null })
    expect(records[0].at).toMatch(/^\d{4}-/)
  })

  test('is captured once per idempotency key', async () => {
    const { connection_id } = (await connect()).body
    const source_id = await attach(connection_id, { query: 'select 1 as one' })
    const name = `Captured once from ${source_id}`
    const ask = (more: object = {}) =>
      world.member.call('POST', '/api/datasets/capture', {
        body: { source_id, name, ...more },
        headers: { 'idempotency-key': `capture ${source_id}`, 'x-request-id': 'same' },
      })
    const answers = await Promise.all([ask(), ask(), ask()])
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    const [row] = await service().sql<{ n: number }>('select count(*)::int as n from datasets where name = $1', [name])
    expect(row!.n).toBe(1)
    // The same response comes back even after the source can no longer be read.
    await world.member.call('DELETE', `/api/connections/${connection_id}`)
    const repeated = await ask()
    expect([repeated.status, repeated.text]).toEqual([answers[0]!.status, answers[0]!.text])
    const other = await ask({ limit: 1 })
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused'])
  })

  test('with a missing table or a query that writes stores nothing', async () => {
    const { connection_id } = (await connect()).body
    const before = (await world.viewer.call('GET', '/api/datasets')).body.items.length
    for (const [source, told] of [
      [{ table: 'shop.gone' }, /shop.gone/],
      [{ query: `insert into shop.orders (id) values (0) returning id` }, /syntax|insert/i],
      [
        { query: 'with x as (delete from shop.orders returning 1) select * from x' },
        /DECLARE CURSOR|read-only|permission/i,
      ],
      [{ query: 'select 1; select 2' }, /multiple commands/],
      [{ query: `select set_config('transaction_read_only', 'off', false)` }, /read-write mode|cannot/],
      [{ query: 'select pg_sleep(60), nextval($$x$$)' }, /x/],
    ] as const) {
      const refused = await capture(await attach(connection_id, source))
      expect([refused.status, refused.body.code]).toEqual([422, 'probe_failed'])
      expect(refused.body.detail).toMatch(told)
    }
    expect((await world.viewer.call('GET', '/api/datasets')).body.items.length).toBe(before)
    const { rows } = await warehouse.query('select count(*)::int as n from shop.orders')
    expect(rows[0].n).toBe(2500)
  })

  test('names either a table or a query, and a table by a valid name', async () => {
    const { connection_id } = (await connect()).body
    for (const bad of [{}, { table: 'a', query: 'b' }, { table: 'a"; drop table x; --' }, { table: 'a.b.c.d' }])
      expect(
        (await world.member.call('POST', `/api/connections/${connection_id}/sources`, { body: { name: 'x', ...bad } }))
          .status,
      ).toBe(422)
  })
})

describe('the tables of a connection', () => {
  test('are listed with their columns, and a table is previewed by its first rows', async () => {
    const { connection_id } = (await connect()).body
    const { tables, complete } = (await world.member.call('GET', `/api/connections/${connection_id}/tables`)).body
    expect(complete).toBe(true)
    expect(tables).toEqual([
      {
        table: 'shop.orders',
        columns: expect.arrayContaining([
          { name: 'id', type: 'integer' },
          { name: 'customer', type: 'text' },
        ]),
      },
    ])
    const preview = (table: string) =>
      world.member.call('GET', `/api/connections/${connection_id}/tables/preview?table=${encodeURIComponent(table)}`)
    const { rows } = (await preview('shop.orders')).body
    expect(rows).toHaveLength(20)
    expect(rows[0]).toMatchObject({ customer: expect.stringMatching(/^customer /) })
    expect((await preview('shop.gone')).body.code).toBe('probe_failed')
    expect((await preview('x"; drop table shop.orders; --')).status).toBe(422)
  })

  test('are an empty list for an empty DuckDB', async () => {
    const made = await connect({ kind: 'duckdb', config: {}, secrets: {} })
    expect((await world.member.call('GET', `/api/connections/${made.body.connection_id}/tables`)).body).toEqual({
      tables: [],
      complete: true,
    })
  })
})

describe('DuckDB', () => {
  const duck = async (more: Record<string, unknown> = {}): Promise<string> => {
    const made = await connect({ name: 'Duck', kind: 'duckdb', config: more, secrets: {} })
    expect(made.status).toBe(201)
    return made.body.connection_id
  }

  test('returns rows from memory, with numbers as numbers', async () => {
    const source = await attach(await duck(), {
      query: `select i, i / 2.0 as half, 'x' || i as t, [1, 2] as l, date '2026-01-31' as d from range(3000) r(i)`,
    })
    const made = await capture(source)
    expect(made.body.record_count).toBe(3000)
    const { items } = (await world.viewer.call('GET', `/api/datasets/${made.body.dataset_id}/records?limit=2`)).body
    expect(items[1]).toEqual({ i: 1, half: 0.5, t: 'x1', l: [1, 2], d: '2026-01-31' })
  })

  test('keeps its files in the directory of the workspace', async () => {
    await duck({ file: 'sales' })
    expect(existsSync(join(service().config.HEDDLE_DATA_DIR, 'warehouses', world.workspace.uuid, 'sales.duckdb'))).toBe(
      true,
    )
    for (const file of ['../sales', '/etc/passwd', 'a/b', '..', 'sales.duckdb/../x', 'http://x'])
      expect((await connect({ kind: 'duckdb', config: { file }, secrets: {} })).status).toBe(422)
  })

  slow('deletes the files of a deleted workspace, and no other files', async () => {
    const { stranger, elsewhere, workspace } = world
    const made = await connect({ kind: 'duckdb', config: { file: 'doomed' }, secrets: {} }, stranger)
    expect(made.status).toBe(201)
    await duck({ file: 'kept' })
    const { HEDDLE_DATA_DIR } = service().config
    const area = (id: string): string => join(HEDDLE_DATA_DIR, 'warehouses', id)
    expect(existsSync(area(elsewhere.uuid))).toBe(true)
    expect((await stranger.call('DELETE', `/api/workspaces/${elsewhere.id}`)).status).toBe(204)
    // The next service that uses this directory deletes the files at its start.
    const next = await startService({ database: service().database, env: { HEDDLE_DATA_DIR }, clearUpAtStart: true })
    await until(async () => !existsSync(area(elsewhere.uuid)), 'the deletion of the files')
    await next.stop()
    expect(existsSync(join(area(workspace.uuid), 'kept.duckdb'))).toBe(true)
  })

  test('can access no other file, no network and no setting, and only reads', async () => {
    const id = await duck({ file: 'locked' })
    const few = [
      `select * from read_text('/etc/hostname')`,
      `select * from read_csv('http://127.0.0.1:${canaryPort}/x')`,
      'set enable_external_access = true',
      'create table t (a int)',
    ]
    const more = [
      `select * from '/etc/passwd'`,
      `attach '/tmp/other.duckdb'`,
      `copy (select 1) to '/tmp/out.csv'`,
      'install httpfs',
      'select 1; select 2',
      `select * from glob('/*')`,
    ]
    await Promise.all(
      (isSlowRun ? [...few, ...more] : few).map(async (query) => {
        const refused = await capture(await attach(id, { query }))
        expect([query, refused.status, refused.body.code]).toEqual([query, 422, 'probe_failed'])
      }),
    )
    expect(caught).toEqual([])
  })

  slow('refuses a query that needs too much memory, and the service stays healthy', async () => {
    const id = await duck()
    const refused = await capture(
      await attach(id, {
        query: `select list(x) from (select repeat('x', 1000) || i as x from range(50000000) r(i))`,
      }),
    )
    expect(refused.status).toBe(422)
    expect((await world.viewer.call('GET', '/healthz')).status).toBe(200)
  })
})

// This test is the last one, because it changes every connection of this database.
test('a connection that was stored without an encryption setting gets `prefer`, and its secret can still be opened', async () => {
  const { connection_id } = (await connect({ name: 'Old' })).body
  const migration = join(import.meta.dirname, '../../../migrations/0750_stored_encryption.sql')
  await warehouse.query(readFileSync(migration, 'utf8'))
  const { items } = (await world.member.call('GET', '/api/connections')).body
  const old = items.find((one: { connection_id: string }) => one.connection_id === connection_id)
  expect(old.config).toEqual({ ...config(), ssl: 'prefer' })
  const verified = await world.member.call('POST', `/api/connections/${connection_id}/verify`)
  expect(verified.body).toMatchObject({ status: 'active' })
})
