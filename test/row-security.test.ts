import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshEmail, signUp } from '#test/harness/browser'
import { useService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

// The second line of defence, read from the catalogue of the database: the test fails for a new table without row
// security.

const service = useService()
let world: World
let app: pg.Client
let owner: pg.Client

beforeAll(async () => {
  world = await makeWorld(service())
  await signUp(service().base)
  await world.owner.call('POST', '/api/teams', { body: { name: 'Team' } })
  await world.owner.call('POST', '/api/notifications', { body: { title: 'Hello' } })
  await world.owner.call('POST', '/api/presence')
  await world.owner.call('POST', '/api/subscriptions', { body: { name: 'Plan' } })
  await world.owner.call('POST', `/api/workspaces/${world.workspace.id}/members/invite`, {
    body: { email: freshEmail() },
  })
  app = new pg.Client({ connectionString: service().database.urls.app })
  owner = new pg.Client({ connectionString: service().database.urls.owner })
  await Promise.all([app.connect(), owner.connect()])
})
afterAll(async () => {
  await Promise.all([app?.end(), owner?.end()])
})

type Table = { name: string; enabled: boolean; forced: boolean; partition: boolean; readable: boolean; scoped: boolean }

/** Returns every table of the service. Partitions are reached through their parent. */
const tables = async (): Promise<Table[]> =>
  await service().sql<Table>(
    `select case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced, c.relispartition as partition,
       has_any_column_privilege('heddle_app', c.oid, 'select') as readable,
       exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped) as scoped
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('public', 'engine') and c.relkind in ('r', 'p') order by 1`,
  )

const countAs = async (
  client: pg.Client,
  table: string,
  scope: { ws?: string; user?: string; bound?: string } = {},
  where = 'true',
): Promise<number> => {
  await client.query('begin')
  try {
    await client.query(
      `select set_config('app.ws', $1, true), set_config('app.user', $2, true), set_config('app.bound', $3, true)`,
      [scope.ws ?? '', scope.user ?? '', scope.bound ?? ''],
    )
    // count(*) needs no column; the request role may not read every column of every table.
    const { rows } = await client.query(
      `select count(*)::int as n from ${table.split('.').map(pg.escapeIdentifier).join('.')} where ${where}`,
    )
    return rows[0].n
  } finally {
    await client.query('rollback')
  }
}

describe('the request role', () => {
  test('owns nothing, is no superuser and cannot bypass row security', async () => {
    const mighty = await service().sql(
      `select rolname from pg_roles where rolname like 'heddle\\_%' and (rolsuper or rolbypassrls)`,
    )
    expect(mighty).toEqual([])
    const owned = await service().sql(
      `select c.relname from pg_class c join pg_roles r on r.oid = c.relowner where r.rolname in ('heddle_app', 'heddle_engine', 'heddle_operator')`,
    )
    expect(owned).toEqual([])
    const members = await service().sql(
      `select m.rolname from pg_auth_members a join pg_roles m on m.oid = a.member join pg_roles g on g.oid = a.roleid
       where g.rolname = 'heddle_owner' and m.rolname in ('heddle_app', 'heddle_engine', 'heddle_operator')`,
    )
    expect(members).toEqual([])
    const { rows } = await app.query('select current_user as role')
    expect(rows[0].role).toBe('heddle_app')
    await expect(app.query('set role heddle_owner')).rejects.toThrow(/permission denied/)
    await expect(app.query('alter table teams disable row level security')).rejects.toThrow(/must be owner/)
  })

  test('sees no row of any tenant table when no workspace and no person is set', async () => {
    const guarded = (await tables()).filter((table) => table.enabled && table.readable && !table.partition)
    expect(guarded.length).toBeGreaterThan(10)
    for (const { name } of guarded) expect([name, await countAs(app, name)]).toEqual([name, 0])
    // This proves that the check can fail: the owner of the tables sees the same rows.
    for (const name of [
      'users',
      'companies',
      'workspaces',
      'memberships',
      'sessions',
      'api_keys',
      'invitations',
      'teams',
      'notifications',
      'presence',
      'subscriptions',
      'audit_log',
    ])
      expect([name, (await countAs(owner, name)) > 0]).toEqual([name, true])
  })

  test('sees no row of another workspace in the scope of a stranger', async () => {
    const scope = { ws: world.elsewhere.uuid, user: world.stranger.uuid }
    const scoped = (await tables()).filter(
      (table) => table.scoped && table.readable && table.enabled && !table.partition,
    )
    for (const { name } of scoped)
      expect([name, await countAs(app, name, scope, `workspace_id = '${world.workspace.uuid}'`)]).toEqual([name, 0])
    expect(await countAs(app, 'users', scope, `user_id = '${world.owner.uuid}'`)).toBe(0)
    expect(await countAs(app, 'teams', { ws: world.workspace.uuid, user: world.owner.uuid })).toBe(1)
  })

  test('cannot read the hash of a password or of a claim', async () => {
    await expect(app.query('select password_hash from users')).rejects.toThrow(/permission denied/)
    await expect(app.query('select * from operator_claims')).rejects.toThrow(/permission denied/)
  })

  test('cannot make a person a member of a workspace outside its scope', async () => {
    await app.query('begin')
    try {
      await app.query(`select set_config('app.ws', $1, true), set_config('app.user', $2, true)`, [
        world.elsewhere.uuid,
        world.stranger.uuid,
      ])
      await expect(
        app.query(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'owner')`, [
          world.workspace.uuid,
          world.stranger.uuid,
        ]),
      ).rejects.toThrow(/row-level security/)
    } finally {
      await app.query('rollback')
    }
  })

  test('sees nothing of the person’s other workspaces with a key bound to one workspace', async () => {
    const { body } = await world.owner.call('POST', '/api/workspaces', { body: { name: 'Second' } })
    const [second] = await service().sql<{ workspace_id: string }>(
      `select workspace_id from workspaces where name = 'Second'`,
    )
    expect(body.name).toBe('Second')
    const scope = { ws: world.workspace.uuid, user: world.owner.uuid, bound: world.workspace.uuid }
    for (const name of ['workspaces', 'memberships'])
      expect([name, await countAs(app, name, scope, `workspace_id = '${second!.workspace_id}'`)]).toEqual([name, 0])
    expect(await countAs(app, 'sessions', scope)).toBe(0)
  })
})

describe('every table', () => {
  test('with a workspace_id has row security, forced for its owner too', async () => {
    const open = (await tables()).filter(
      (table) => table.scoped && !table.partition && !(table.enabled && table.forced),
    )
    expect(open.map(({ name }) => name)).toEqual([])
  })

  test('that the request role can read has row security, or contains no tenant data', async () => {
    const open = (await tables()).filter((table) => table.readable && !table.enabled && !table.partition)
    expect(open.map(({ name }) => name)).toEqual(expect.arrayContaining(['installation', 'orgs', 'org_hosts']))
    // Tables of an org or of the installation, and hashes. Add a table here only if a stranger may read all of it.
    const harmless = new Set([
      'account_mails',
      'billing_events',
      'billing_orphans',
      'plans',
      'idempotency_keys',
      'installation',
      'key_holders',
      'oidc_attempts',
      'org_connection_kinds',
      'org_hosts',
      'orgs',
      'sign_in_failures',
    ])
    expect(open.map(({ name }) => name).filter((name) => !harmless.has(name))).toEqual([])
  })

  test('that is a partition can be read only through its parent', async () => {
    const reachable = (await tables()).filter((table) => table.partition && table.readable)
    expect(reachable.map(({ name }) => name)).toEqual([])
  })

  test('that a function can read is open only to the roles that the function names', async () => {
    const open = await service().sql<{ name: string }>(
      `select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname in ('public', 'engine') and p.prosecdef and has_function_privilege('public', p.oid, 'execute')`,
    )
    expect(open).toEqual([])
  })
})
