import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { doubleArray, integerArray, jsonArray, textArray, uuidArray } from './binary-arrays.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await makeTestDatabase()
  client = await database.superuser()
})
afterAll(() => database.drop())

const TEXTS = ['', 'null', 'NULL', '{"a,b"}', '\\x00', 'a"b\\c', 'żółć 日本 🧵', '\n\t', 'x'.repeat(70_000)]

test.each<[type: string, (values: never[]) => Buffer, values: unknown[]]>([
  ['uuid', uuidArray, [newId(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']],
  ['uuid', uuidArray, ['ABCDEF01-2345-6789-abcd-EF0123456789'.toLowerCase()]],
  ['integer', integerArray, [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)]],
  ['double precision', doubleArray, [0, 1.5, -1e300, 1_800_000_000_123.25]],
  ['text', textArray, TEXTS],
  ['json', jsonArray, TEXTS.map((text) => ({ text }))],
])('an array of %s arrives as it was sent', async (type, encode, values) => {
  const sent = type === 'json' ? values.map((value) => JSON.stringify(value)) : values
  for (const count of [values.length, 1, 0]) {
    const { rows } = await client.query(
      `select coalesce(array_agg(value order by at), '{}') as arrived, cardinality($1::${type}[]) as count
       from unnest($1::${type}[]) with ordinality as sent (value, at)`,
      [encode(sent.slice(0, count) as never[])],
    )
    expect(rows).toEqual([{ arrived: values.slice(0, count), count }])
  }
})

test('JSON that is not valid is refused', async () => {
  await expect(client.query('select $1::json[]', [jsonArray(['{"a":'])])).rejects.toMatchObject({ code: '22P02' })
})
