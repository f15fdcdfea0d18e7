import { beforeAll, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { isSlowRun } from '#test/harness/slow'
import { makeWorld, type World } from '#test/harness/world'
import { MAX_PAGE_BYTES, toPage } from './page.ts'

// A response stays small for any requested number of rows: a page ends early, and its cursor continues with the next
// row.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Item = Record<string, unknown>

/** Reads every page of a list with the maximum number of rows per page. */
async function pagesOf(path: string): Promise<{ items: Item[]; bytes: number }[]> {
  const pages: { items: Item[]; bytes: number }[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const answer = await world.owner.call('GET', `${path}?limit=200${cursor && `&cursor=${cursor}`}`)
    expect(answer.status).toBe(200)
    pages.push({ items: answer.body.items, bytes: answer.text.length })
    cursor = answer.body.next_cursor
  }
  return pages
}

const filler = (length: number): string => 'x'.repeat(length)

/** `npm test` uses only the first list, because the handler limits every list in the same way. */
const lists: [name: string, path: string, id: string, body: (n: number) => object][] = [
  [
    'notifications',
    '/api/notifications',
    'notification_id',
    (n: number) => ({ title: `n${n}`, data: { text: filler(900_000) } }),
  ],
  [
    'companies',
    '/api/companies',
    'company_id',
    (n: number) => ({ name: `c${n}`, metadata: { text: filler(900_000) } }),
  ],
  [
    'subscriptions',
    '/api/subscriptions',
    'subscription_id',
    (n: number) => ({ name: `s${n}`, metadata: { text: filler(900_000) } }),
  ],
]

test.each(isSlowRun ? lists : lists.slice(0, 1))('pages of %s stay within the limit', async (_name, path, id, body) => {
  for (let n = 0; n < 7; n += 1) {
    const made = await world.owner.call('POST', path, { body: body(n) })
    expect(made.status).toBe(201)
  }
  const pages = await pagesOf(path)
  expect(pages.length).toBeGreaterThanOrEqual(4)
  for (const { bytes } of pages) expect(bytes).toBeLessThan(MAX_PAGE_BYTES + 1_200_000)
  const ids = pages.flatMap(({ items }) => items.map((item) => item[id]))
  expect(new Set(ids).size).toBe(ids.length)
  expect(pages.flatMap(({ items }) => items).filter((item) => JSON.stringify(item).length > 900_000)).toHaveLength(7)
})

test('pages of workflow versions stay within the limit', async () => {
  const definition = (n: number) => ({
    nodes: [{ id: 'n', type: 'set', args: { values: { n, text: filler(900_000) } } }],
    edges: [],
  })
  const { body } = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Large', definition: definition(1) },
  })
  const path = `/api/workflows/${body.workflow_id}/versions`
  for (let n = 2; n <= 6; n += 1) {
    expect((await world.owner.call('POST', path, { body: { definition: definition(n) } })).status).toBe(201)
  }
  const pages = await pagesOf(path)
  expect(pages.length).toBeGreaterThanOrEqual(3)
  expect(pages.flatMap(({ items }) => items.map(({ number }) => number))).toEqual([6, 5, 4, 3, 2, 1])
})

test('a row that is larger than a page is a page of its own', () => {
  const rows = [1, 2, 3].map((n) => ({ n, text: filler(MAX_PAGE_BYTES + 1) }))
  const page = toPage(rows, 10, ({ n }) => [n])
  expect(page.items.map(({ n }) => n)).toEqual([1])
  expect(page.next_cursor).not.toBeNull()
  expect(toPage(rows.slice(2), 10, ({ n }) => [n])).toMatchObject({ items: [{ n: 3 }], next_cursor: null })
})
