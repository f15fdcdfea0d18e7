import { beforeAll, describe, expect, test } from 'vitest'
import { listConversations } from '#areas/inbox/store'
import { listOutside } from '#areas/threads/store'
import { listAudit } from '#areas/workspaces/store'
import type { Tx } from '#platform/db/pool'
import { useService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

// Lists of a tenant with a long history read about as many rows as they show. The database counts the rows.

const MANY = 20_000
const PAGE = 50
const HOUR = 3_600_000

const service = useService()
let world: World

beforeAll(async () => {
  world = await makeWorld(service())
  const { workspace, owner } = world
  await service().sql(
    `insert into audit_log (entry_id, workspace_id, actor_id, action, at)
     select uuidv7(at - now()), $1, $2, 'test.done', at
     from generate_series(1, $3::integer) n, lateral (select now() - n * interval '1 minute' as at) as t`,
    [workspace.uuid, owner.uuid, MANY],
  )
  // The times of the last change are not in the order of creation.
  await service().sql(
    `insert into threads (workspace_id, thread_id, kind, visitor_id, created_at, updated_at)
     select $1, uuidv7(), 'embed', uuidv7(), now(), now() - ((n * 7919) % $2::integer) * interval '1 minute'
     from generate_series(1, $2::integer) n`,
    [workspace.uuid, MANY],
  )
  await service().sql('analyze audit_log')
  await service().sql('analyze threads')
})

const looked = (
  table: string,
): string => `select (coalesce(sum(seq_tup_read), 0) + coalesce(sum(idx_tup_fetch), 0))::integer as n
  from pg_stat_xact_user_tables where relname = '${table}'`

const reading = <T>(table: string, read: (tx: Tx) => Promise<T>) =>
  service().db.tenant({ workspaceId: world.workspace.uuid, userId: world.owner.uuid }, async (tx) => {
    const before = await tx.row<{ n: number }>(looked(table))
    const found = await read(tx)
    return { found, looked: (await tx.row<{ n: number }>(looked(table))).n - before.n }
  })

const ago = (hours: number): Date => new Date(Date.now() - hours * HOUR)

test.each<[string, { created_after?: Date; created_before?: Date; sort: string }]>([
  ['from a day long ago, newest first', { created_before: ago(200), sort: '-created_at' }],
  ['of one day long ago', { created_after: ago(224), created_before: ago(200), sort: '-created_at' }],
  ['of the last day, oldest first', { created_after: ago(24), sort: 'created_at' }],
])('a list of entries of the audit log %s reads few rows', async (_what, asked) => {
  const { found, looked } = await reading('audit_log', (tx) =>
    listAudit(tx, world.workspace.uuid, {}, { limit: PAGE, ...asked }),
  )
  expect(found.items).toHaveLength(PAGE)
  for (const { at } of found.items) {
    if (asked.created_after) expect(at >= asked.created_after).toBe(true)
    if (asked.created_before) expect(at < asked.created_before).toBe(true)
  }
  // The range of ids is one hour wider than the range of times.
  expect(looked).toBeLessThan(6 * PAGE)
})

test.each([
  ['last change', '-updated_at'],
  ['creation', '-created_at'],
])('a list of conversations with visitors by their %s reads few rows on every page', async (_what, sort) => {
  const reader = { user_id: world.owner.uuid, role: 'owner' }
  const seen: string[] = []
  for (let cursor: string | undefined; seen.length < 3 * PAGE; ) {
    const { found, looked } = await reading('threads', (tx) =>
      listOutside(tx, world.workspace.uuid, reader, { limit: PAGE, sort, cursor }),
    )
    expect(looked).toBeLessThan(6 * PAGE)
    seen.push(
      ...found.items.map((row) => (sort === '-updated_at' ? (row.updated_at as Date).toISOString() : row.thread_id)),
    )
    cursor = found.next_cursor!
  }
  expect(seen).toEqual(seen.toSorted().reverse())
  expect(new Set(seen).size).toBe(3 * PAGE)
})

describe('a search in the messages of conversations', () => {
  const TALKS = 3_000
  const reader = () => ({ user_id: world.owner.uuid, role: 'owner' })
  const search = (q: string) =>
    reading('messages', (tx) => listConversations(tx, world.workspace.uuid, reader(), { limit: 200, q }))

  beforeAll(async () => {
    await service().sql(
      `insert into messages (workspace_id, message_id, thread_id, seq, turn, role, text)
       select workspace_id, uuidv7(), thread_id, 1, 1, 'visitor', 'Where is parcel number ' || row_number() over (order by updated_at desc)
       from threads where workspace_id = $1 and kind = 'embed' order by updated_at desc limit $2`,
      [world.workspace.uuid, TALKS],
    )
    await service().sql('analyze messages')
  })

  test('reads only messages that may contain the text', async () => {
    const { found, looked } = await search('PARCEL number 2999')
    expect(found.items.map(({ last_message }) => last_message!.text)).toEqual(['Where is parcel number 2999'])
    expect(looked).toBeLessThan(PAGE)
    expect((await search('parcel number 3001')).found.items).toEqual([])
  })

  test.each(['where is parcel number', 'rc'])(
    'shows the newest conversations for %j, which every message contains',
    async (q) => {
      const { found, looked } = await search(q)
      const newest = found.items.slice(0, 3).map(({ last_message }) => last_message!.text)
      expect(newest).toEqual([1, 2, 3].map((n) => `Where is parcel number ${n}`))
      expect(looked).toBeLessThan(TALKS / 2)
    },
  )
})
