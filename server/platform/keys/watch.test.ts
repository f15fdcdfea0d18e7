import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { readConfig } from '../config.ts'
import { type Database, openDatabase } from '../db/pool.ts'
import { makeVault, type Vault } from '../secrets.ts'
import { type KeyService, watchKeys } from './watch.ts'

const PLACE = ['', 'test', 'row', 'field'] as const
const log = pino({ level: 'silent' })

let own: TestDatabase
let db: Database
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let vault: Vault
let keys: KeyService

beforeEach(async () => {
  own = await makeTestDatabase()
  db = openDatabase({ urls: own.urls, log })
  directory = await makeTemporaryDirectory()
  vault = makeVault(Buffer.alloc(32, 1))
})
afterEach(async () => {
  await keys.stop()
  await db.close()
  await own.drop()
  await directory.remove()
})

const watch = (): void => {
  const config = readConfig({ HEDDLE_DATA_DIR: directory.path })
  const { superuserUrl: adminUrl, urls } = own
  keys = watchKeys({ db, vault, config, log, configured: vault.keys.current(), ownerUrl: urls.owner, adminUrl })
}

describe('a process that watches the keys', () => {
  test('stops without waiting for a check that hangs, and never runs two checks at once', async () => {
    const admin = await own.superuser()
    await admin.query('begin')
    await admin.query('lock table installation in access exclusive mode')
    const waiting = async (): Promise<number> =>
      (
        await admin.query(
          `select count(*)::int as n from pg_locks where relation = 'installation'::regclass and not granted`,
        )
      ).rows[0].n
    watch()
    await until(async () => (await waiting()) > 0, 'a check that waits for the lock')
    await keys.stop()
    expect(await waiting()).toBe(1)
    await admin.query('rollback')
  })

  test('reports each of its keys once', async () => {
    watch()
    const { processes } = await until(async () => {
      const state = await keys.state()
      return state.processes.length === 1 && state
    }, 'the first report')
    expect(processes[0]!.keys).toEqual([vault.keys.current()])
  })

  test('removes its report when it stops', async () => {
    watch()
    await until(async () => (await keys.state()).processes.length === 1, 'the first report')
    await keys.stop()
    expect((await keys.state()).processes).toEqual([])
  })

  test('refuses to seal after the key was replaced by a key that it cannot get', async () => {
    watch()
    expect(vault.open(PLACE, vault.seal(PLACE, 'text'))).toBe('text')
    const before = vault.seal(PLACE, 'before')
    const admin = await own.superuser()
    await admin.query(`insert into installation (name, value) values ('current_key', 'ffffffffffffffff')`)
    await until(async () => {
      try {
        vault.seal(PLACE, 'text')
        return false
      } catch (error) {
        return (error as Error).message.includes('was replaced')
      }
    }, 'the refusal')
    expect(vault.open(PLACE, before)).toBe('before')
  })
})
