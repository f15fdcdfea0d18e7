import { describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { newId } from '../ids.ts'
import { anyOf, defineList, type ListInput, readList } from './list.ts'
import { encodeCursor } from './page.ts'

// Keyset pages for each kind of sort: no row is omitted or repeated, even with equal and missing values.

const service = useSharedService()

const list = defineList({
  id: 'id',
  search: ['name', 'note'],
  sort: { created_at: 'id', name: 'text', seen_at: 'time', amount: 'number' },
  order: '-created_at',
  filters: { state: anyOf(['on', 'off']) },
})

type Row = {
  id: string
  name: string | null
  note: string | null
  seen_at: string | null
  amount: number | null
  state: string
  created_at: string
}

const rows: Row[] = Array.from({ length: 23 }, (_, n) => ({
  id: newId(),
  name: n % 7 === 0 ? null : ['beta', 'Alpha', 'Ängström', 'alpha', '', 'x_%'][n % 6]!,
  note: n % 2 === 0 ? `Note ${n}` : null,
  seen_at: n % 5 === 0 ? null : new Date(Date.UTC(2026, 0, 1 + (n % 4))).toISOString().replace('000Z', `000${n % 3}Z`),
  amount: n % 6 === 0 ? null : (n % 4) - 1.5,
  state: n % 3 === 0 ? 'on' : 'off',
  created_at: new Date(Date.UTC(2026, 5, 1 + n)).toISOString(),
}))

const sql = `select * from json_to_recordset($1) as r(id uuid, name text, note text, seen_at timestamptz, amount numeric, state text, created_at timestamptz)`

const read = (asked: ListInput & Record<string, unknown>, each?: string) =>
  service().db.tenant({ workspaceId: null, userId: null }, (tx) =>
    readList<{ id: string }>(tx, list, asked, { sql, values: [JSON.stringify(rows)], ...(each && { each }) }),
  )

async function walk(asked: Record<string, unknown>, limit: number, each?: string): Promise<string[]> {
  const seen: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await read({ ...asked, limit, cursor }, each)
    seen.push(...page.items.map(({ id }) => id))
    if (page.next_cursor === null) return seen
    cursor = page.next_cursor
  }
}

const orders = Object.keys(list.sort).flatMap((name) => [name, `-${name}`])

describe('pages', () => {
  test.each(orders)('by %s contain every row once, in the same order for every page size', async (sort) => {
    const whole = await walk({ sort }, 100)
    expect([...whole].sort()).toEqual(rows.map(({ id }) => id).sort())
    for (const limit of [1, 2, 5, 22, 23]) expect(await walk({ sort }, limit)).toEqual(whole)
    const column = sort.replace('-', '') as keyof Row
    const values = whole.map((id) => rows.find((row) => row.id === id)![column])
    const present = values.filter((value) => value !== null)
    expect(values.slice(0, present.length)).toEqual(present)
    if (column === 'amount' || column === 'seen_at') {
      const sorted = [...present].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
      expect(values).toEqual([
        ...(sort.startsWith('-') ? sorted.reverse() : sorted),
        ...values.filter((v) => v === null),
      ])
    }
  })

  test.each(orders)('by %s are the same if the list is read once per row of another statement', async (sort) => {
    const each = 'select n from generate_series(1, 1) n'
    for (const limit of [3, 100]) expect(await walk({ sort }, limit, each)).toEqual(await walk({ sort }, limit))
  })
})

describe('conditions', () => {
  const found = async (asked: Record<string, unknown>) => new Set(await walk({ ...asked }, 4))
  const wanted = (is: (row: Row) => boolean) => new Set(rows.filter(is).map(({ id }) => id))

  test('q searches every named column, ignores case and treats wildcards as plain characters', async () => {
    expect(await found({ q: 'ALPHA' })).toEqual(wanted(({ name }) => name?.toLowerCase() === 'alpha'))
    expect(await found({ q: 'note 1' })).toEqual(wanted(({ note }) => note?.startsWith('Note 1') ?? false))
    expect(await found({ q: '_%' })).toEqual(wanted(({ name }) => name === 'x_%'))
    expect(await found({ q: "'; drop table users" })).toEqual(new Set())
  })

  test('times and filters can be combined, with every sort order', async () => {
    const [after, before] = [new Date(Date.UTC(2026, 5, 4)), new Date(Date.UTC(2026, 5, 20))]
    const asked = { created_after: after, created_before: before, state: ['on'] }
    const right = wanted(
      (row) => row.state === 'on' && row.created_at >= after.toISOString() && row.created_at < before.toISOString(),
    )
    expect(right.size).toBeGreaterThan(3)
    for (const sort of orders) expect(await found({ ...asked, sort })).toEqual(right)
  })
})

test.each([
  ['seen_at', ['2026-13-40 25:00:00+00']],
  ['seen_at', ['soon']],
  ['amount', ['many']],
  ['amount', ['1e999999999']],
  ['name', [7]],
  ['created_at', ['x']],
])('a cursor by %s that contains %j is refused', async (sort, key) => {
  await expect(read({ sort, limit: 1, cursor: encodeCursor([...key, rows[0]!.id]) })).rejects.toMatchObject({
    code: 'invalid',
  })
})
