import { createHash } from 'node:crypto'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Bench, chain, kind, startTestEngine } from './testing.ts'

let database: TestDatabase
let superuser: pg.Client
let bench: Bench
let api: Bench
let letGo: () => void = () => {}
const held = new Promise<void>((resolve) => {
  letGo = resolve
})

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  await superuser.query(`create function no_room() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
  const nodes = [
    kind('held', 'pure', async () => {
      await held
      return { output: 'held' }
    }),
  ]
  bench = await startTestEngine(database.urls, { nodes })
  api = await startTestEngine(database.urls, { engine: { role: 'api' }, definitions: bench.definitions })
})
afterEach(async () => {
  await superuser.query('drop trigger if exists full_disk on events')
  await superuser.query('drop trigger if exists full_disk on executions')
})
afterAll(async () => {
  await bench?.stop()
  await api?.stop()
  await database?.drop()
})

const fillDisk = async (): Promise<void> => {
  for (const table of ['events', 'executions'])
    await superuser.query(
      `create trigger full_disk before insert on ${table} for each statement execute function no_room()`,
    )
}

const succeeded = async (id: string): Promise<void> =>
  expect(await bench.engine.waitFor(bench.workspaceId, id, 60 * SECOND)).toMatchObject({ status: 'succeeded' })

test('on a full disk, starts are refused and running executions wait, and both continue when there is room', async () => {
  const underWay = await bench.run({ nodes: [{ id: 'h', type: 'held' }], edges: [] })
  await fillDisk()
  const ref = bench.define(chain(2))
  await expect(bench.run(ref)).rejects.toMatchObject({ code: 'storage_full' })
  await expect(bench.run(ref)).rejects.toMatchObject({ code: 'storage_full' })
  await expect(api.run(ref)).rejects.toMatchObject({ code: 'storage_full' })
  letGo()
  await superuser.query('drop trigger full_disk on events')
  await superuser.query('drop trigger full_disk on executions')
  await succeeded(underWay)
  await expect
    .poll(() =>
      bench.run(ref).then(
        () => 'started',
        (error: { code: string }) => error.code,
      ),
    )
    .toBe('started')
  await succeeded(await bench.run(ref))
})

test('a database that does not answer keeps no caller waiting, and the start is found by its key', async () => {
  const ref = bench.define(chain(1))
  await succeeded(await bench.run(ref, { value: 0 }))
  const sha256 = (text: string) => createHash('sha256').update(text).digest()
  const idempotency = { credentialHash: sha256('me'), keyHash: sha256('key'), bodySha256: sha256('body') }
  await superuser.query('begin')
  await superuser.query('lock table executions in access exclusive mode')
  await expect(bench.run(ref, { value: 1 }, { idempotency })).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterS: 1,
  })
  // By now the database is known not to answer, so other callers do not wait at all.
  await expect(bench.run(ref)).rejects.toMatchObject({ code: 'unavailable' })
  await superuser.query('commit')
  await expect
    .poll(() =>
      bench.run(ref).then(
        () => 'started',
        (error: { code: string }) => error.code,
      ),
    )
    .toBe('started')
  const again = await bench.run(ref, { value: 1 }, { idempotency })
  await succeeded(again)
  const { rows } = await superuser.query(
    `select from executions e join start_keys k using (workspace_id, execution_id) where k.key_hash = $1`,
    [idempotency.keyHash],
  )
  expect(rows).toHaveLength(1)
})
