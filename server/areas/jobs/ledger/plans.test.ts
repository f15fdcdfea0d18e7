import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase, type Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { insertRecords, readOutcomes } from './records.ts'

// With row security, only some expressions can become index conditions. The others are evaluated row by row.

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: pino({ level: 'fatal' }) })
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

/**
 * Returns the conditions by which a statement finds results of earlier runs, with the plan of a tenant's connection.
 */
async function conditionsOf(ask: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  let text = ''
  const note = async (sql: string) => {
    text = sql
    return []
  }
  await ask({ row: note, rows: note } as unknown as Tx)
  const { rows } = await db.appPool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan, costs off) ${text}`)
  const plan = rows.map((row) => row['QUERY PLAN'])
  return plan.flatMap((line, at) => (/ on ledger_results x$/.test(line) ? [plan[at + 1] as string] : []))
}

const run = { workspace_id: newId(), run_id: newId(), job_id: newId(), legacy_recipe_sha256: null } as never

test.each([
  ['planning', (tx: Tx) => insertRecords(tx, run, 0, [])],
  ['reading the results of records', (tx: Tx) => readOutcomes(tx, run, 0, 100)],
])('%s finds a result by the hash of its record, without reading all results of the job', async (_what, ask) => {
  const conditions = await conditionsOf(ask)
  expect(conditions).not.toEqual([])
  for (const condition of conditions) expect(condition).toMatch(/Index Cond: .*record_sha256 = /)
})
