import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { ServerClient } from './client.ts'

let database: TestDatabase
let client: ServerClient
let plain: pg.Client
let described = 0

beforeAll(async () => {
  database = await makeTestDatabase()
  const config = { connectionString: database.superuserUrl, pipeline: true }
  client = new ServerClient(config)
  plain = new pg.Client(config)
  await Promise.all([client.connect(), plain.connect()])
  const { connection } = client as unknown as { connection: { on(event: string, listener: () => void): void } }
  connection.on('rowDescription', () => {
    described += 1
  })
})
afterAll(async () => {
  await Promise.all([client.end(), plain.end()])
  await database.drop()
})

const EVERY_KIND = {
  name: 'every-kind',
  text: `select $1::int as number, null::text as nothing, array['a', 'b'] as list, '{"x": [1]}'::jsonb as json,
    '2026-01-02 03:04:05+00'::timestamptz as time, '\\x0102'::bytea as bytes, 9007199254740991::int8 as long,
    generate_series(1, $1::int) as row`,
}

test('a named statement has the same result as one of the driver, with and without a description', async () => {
  for (const count of [2, 3, 0]) {
    const query = { ...EVERY_KIND, values: [count] }
    const [own, drivers] = await Promise.all([client.query(query), plain.query(query)])
    expect(own.rows).toEqual(drivers.rows)
    expect([own.command, own.rowCount]).toEqual([drivers.command, drivers.rowCount])
  }
})

test('the server describes a statement once per connection', async () => {
  const query = { name: 'described-once', text: 'select $1::int as n' }
  described = 0
  for (const n of [1, 2, 3]) expect((await client.query({ ...query, values: [n] })).rows).toEqual([{ n }])
  expect(described).toBe(1)
})

test('executions that are sent before the description has arrived have their results', async () => {
  const query = { name: 'sent-together', text: 'select $1::int as n' }
  const results = await Promise.all([1, 2, 3].map((n) => client.query({ ...query, values: [n] })))
  expect(results.map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
})

test('a statement without columns reports its count each time', async () => {
  await client.query('create temp table counted (n int)')
  const query = { name: 'no-columns', text: 'insert into counted select generate_series(1, $1::int)' }
  for (const n of [2, 3]) {
    const { rows, rowCount } = await client.query({ ...query, values: [n] })
    expect([rows, rowCount]).toEqual([[], n])
  }
})

test('a statement whose columns have changed is refused', async () => {
  await client.query('create temp table wider (a int); insert into wider values (1)')
  const query = { name: 'wider', text: 'select * from wider' }
  for (let n = 0; n < 2; n += 1) expect((await client.query(query)).rows).toEqual([{ a: 1 }])
  await client.query('alter table wider add column b int')
  await expect(client.query(query)).rejects.toThrow('cached plan must not change result type')
})

test('an error names the caller, and the connection continues', async () => {
  const query = { name: 'divided', text: 'select 1 / $1::int as n' }
  const divide = async (by: number) => (await client.query({ ...query, values: [by] })).rows
  expect(await divide(1)).toEqual([{ n: 1 }])
  const error = await divide(0).catch((error: Error) => error)
  expect(error).toMatchObject({ code: '22012', stack: expect.stringContaining('divide') })
  expect(await divide(1)).toEqual([{ n: 1 }])
})

test('a value that cannot be sent fails its statement alone', async () => {
  const query = { name: 'sent', text: 'select $1::json as value' }
  const endless: { self?: object } = {}
  endless.self = endless
  for (const value of [{ a: 1 }, endless, { a: 2 }]) {
    const answer = client.query({ ...query, values: [value] })
    if (value === endless) await expect(answer).rejects.toThrow('circular')
    else expect((await answer).rows).toEqual([{ value }])
  }
})

test('a callback receives the result, as the pool of the driver expects', async () => {
  const pool = new pg.Pool({ Client: ServerClient as never, connectionString: database.superuserUrl, max: 1 })
  // Its connection may still be open when the database is dropped.
  pool.on('error', () => {})
  const query = { name: 'pooled', text: 'select $1::int as n' }
  for (const n of [1, 2]) expect((await pool.query({ ...query, values: [n] })).rows).toEqual([{ n }])
  await expect(pool.query({ ...query, values: ['x'] })).rejects.toMatchObject({ code: '22P02' })
  await pool.end()
})
