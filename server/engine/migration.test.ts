import pg from 'pg'
import { expect, test } from 'vitest'
import { makeTestDatabase } from '#test/harness/postgres'

test('the migration applies', async () => {
  const db = await makeTestDatabase()
  const c = new pg.Client({ connectionString: db.urls.engine })
  await c.connect()
  expect((await c.query('select * from engine.unaccounted()')).rows).toEqual([])
  await c.end()
  await db.drop()
})
