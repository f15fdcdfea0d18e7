import { expect, test } from 'vitest'
import { makeLogger } from '#platform/log'
import { makeTestDatabase } from '#test/harness/postgres'
import { connectionsOfOne, DEFAULT_CONNECTIONS, MIN_CONNECTIONS, type Role, shareConnections } from './connections.ts'
import { openDatabase } from './pool.ts'

const ROLES: Role[] = ['all', 'api', 'worker']
/** PostgreSQL's default limit without the connections reserved for its superuser. */
const ALLOWED = 97

test('two API processes, two workers and two successors fit into the default limit of PostgreSQL', () => {
  expect(3 * (DEFAULT_CONNECTIONS.api + DEFAULT_CONNECTIONS.worker)).toBeLessThanOrEqual(ALLOWED)
})

test('the processes of one program and the successor of one of them fit into the default limit of PostgreSQL', () => {
  for (let processes = 1; (processes + 1) * MIN_CONNECTIONS <= ALLOWED; processes += 1)
    expect((processes + 1) * connectionsOfOne('all', processes)).toBeLessThanOrEqual(ALLOWED)
})

test.each(ROLES)('the role %s has a connection for every kind of work, even with the minimum number', (role) => {
  for (let total = MIN_CONNECTIONS; total <= 100; total += 1) {
    const { app, engine, operator } = shareConnections(role, total)
    expect(Math.min(app - 1, engine - 1, operator)).toBeGreaterThanOrEqual(1)
    expect(app + engine + operator).toBeLessThan(total)
  }
})

test.each(ROLES)('a process of the role %s does not open more connections than allowed', async (role) => {
  const database = await makeTestDatabase()
  const superuser = await database.superuser()
  const db = openDatabase({
    urls: database.urls,
    log: makeLogger('silent'),
    connections: shareConnections(role, MIN_CONNECTIONS),
  })
  const stop = await db.listen('anything', () => {})
  const busy = 'select pg_sleep(0.02)'
  const scope = { workspaceId: null, userId: null }
  await Promise.all(
    Array.from({ length: 3 * MIN_CONNECTIONS }, () => [
      db.tenant(scope, (tx) => tx.rows(busy)),
      db.engine((tx) => tx.rows(busy)),
      db.operator((tx) => tx.rows(busy)),
      ...(role === 'api' ? [] : [db.beatPool.query(busy)]),
    ]).flat(),
  )
  db.hint('anything', 'x')
  const { rows } = await superuser.query<{ n: number }>(
    `select count(*)::integer as n from pg_stat_activity where datname = current_database() and usename like 'heddle%'`,
  )
  expect(rows[0]!.n).toBeLessThanOrEqual(MIN_CONNECTIONS)
  await stop()
  await db.close()
  await database.drop()
})
