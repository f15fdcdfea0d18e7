import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyRoute } from '#platform/http/route'
import { type Answer, type Service, startService } from '#test/harness/service'
import { isSlowRun } from '#test/harness/slow'
import { cases } from './cases.ts'
import { type Cast, makeCast, type Prepared, pathOf } from './matrix.ts'

// Checks how every list of the API treats `q`, `sort`, `created_after`, `created_before` and its filters.

const OPERATOR = 'operator@example.com'
let service: Service
let cast: Cast
let routes: AnyRoute[]
beforeAll(async () => {
  service = await startService({ env: { HEDDLE_OPERATORS: OPERATOR } })
  routes = service.app.routes
  cast = await makeCast(service, OPERATOR)
})
afterAll(() => service.stop())

const shapeOf = (route: AnyRoute): Record<string, unknown> =>
  (route.query as { shape?: Record<string, unknown> } | undefined)?.shape ?? {}

/** Lists with a fixed order, and what that order is. They cannot be sorted or searched. */
const inTheirOwnOrder = {
  getExecutionNode: 'items of a map and turns of a loop, by their position',
  getReplay: 'the report of a replay, by its executions',
  getSuiteRun: 'records of a report, by their position',
  getWidgetHistory: 'messages, for a visitor who reads on',
  listAgreement: 'figures by agent, workflow and node',
  listExecutionEvents: 'a journal, by its numbers',
  listExecutionLogs: 'lines in the order in which they were written',
  listLedger: 'records of a run, by their position',
  listRecords: 'records of a dataset, by their position',
}

test('every list can be searched and sorted, except lists with a fixed order', () => {
  const lists = routes.filter((route) => route.method === 'GET' && 'cursor' in shapeOf(route))
  expect(lists.length).toBeGreaterThan(40)
  const plain = lists.filter((route) => !('sort' in shapeOf(route))).map(({ operation }) => operation)
  expect(plain.sort()).toEqual(Object.keys(inTheirOwnOrder))
})

type Listed = Record<string, unknown>

function callerOf(route: AnyRoute, prepared: Prepared): (query: Record<string, string>) => Promise<Answer> {
  const { expect: expected } = cases[route.operation]!
  const kind = (['author', 'workspaceOwner', 'operator'] as const).find((one) => expected[one] === 'ok')!
  const [path, given = ''] = pathOf(route, prepared).split('?')
  return (query) => {
    const parameters = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(given)), ...query })
    return service.call('GET', `${path}?${parameters}`, {
      token: prepared.token ?? cast[kind].key,
      headers: { ...prepared.headers },
    })
  }
}

/**
 * Returns what both reads returned. Executions and deliveries go on while the test reads, so it reads again if the first
 * list has changed by the end of the second read.
 */
async function unchanged(readFirst: () => Promise<Listed[]>, readSecond: () => Promise<Listed[]>) {
  for (let first = await readFirst(); ; ) {
    const second = await readSecond()
    const again = await readFirst()
    if (isDeepStrictEqual(first, again)) return [first, second] as const
    first = again
  }
}

type Described = { name: string; schema: { enum?: string[] } }

type Operation = { operationId: string; parameters?: Described[] }

/**
 * Reads the stored document, because the service needs seconds to write it. `npm run check` compares it with the
 * routes.
 */
const operations = Object.values<Record<string, Operation>>(
  JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'openapi.json'), 'utf8')).paths,
).flatMap((methods) => Object.values(methods))

/** The number of pages with one item that the test reads. The second page is the first one that needs a cursor. */
const pages = isSlowRun ? 6 : 2

describe('a list', () => {
  test('has the same items in pages of one and in one page, in each order, and is empty if nothing matches', async () => {
    const lists = routes.filter((route) => route.method === 'GET' && 'sort' in shapeOf(route))
    for (const route of lists) {
      const { operation } = route
      const prepare = cases[operation]!.prepare
      let prepared: Prepared = {}
      for (let n = 0; n < (isSlowRun ? 3 : 2); n += 1) prepared = (await prepare?.(cast)) ?? {}
      const call = callerOf(route, prepared)
      const read = async (query: Record<string, string>): Promise<{ items: Listed[]; next_cursor?: string | null }> => {
        const { status, text, body } = await call(query)
        expect([operation, query, status, status === 200 ? '' : text]).toEqual([operation, query, 200, ''])
        return body
      }
      const { parameters } = operations.find(({ operationId }) => operationId === operation)!
      const all = parameters!.find(({ name }) => name === 'sort')!.schema.enum!
      // `npm test` checks the default order and the next one; the other orders differ only in the column.
      const orders = isSlowRun ? all : all.slice(0, 2)
      const paged = 'cursor' in shapeOf(route)
      for (const sort of orders) {
        const readWhole = async (): Promise<Listed[]> => (await read({ sort, ...(paged && { limit: '200' }) })).items
        const [whole, found] = await unchanged(readWhole, async () => {
          const items: Listed[] = []
          for (let cursor: string | undefined; paged && items.length < pages; ) {
            const page = await read({ sort, limit: '1', ...(cursor !== undefined && { cursor }) })
            items.push(...page.items)
            if (!page.next_cursor) break
            cursor = page.next_cursor
          }
          return items
        })
        expect([operation, sort, found]).toEqual([operation, sort, whole.slice(0, found.length)])
      }
      const nothing: Record<string, string>[] = []
      if ('q' in shapeOf(route)) nothing.push({ q: 'zz no such text zz' })
      if ('created_after' in shapeOf(route))
        nothing.push({ created_after: '2999-01-01T00:00:00Z' }, { created_before: '1999-01-01T00:00:00Z' })
      for (const query of nothing) expect([operation, query, (await read(query)).items]).toEqual([operation, query, []])
      if ('created_after' in shapeOf(route)) {
        const [any, since] = await unchanged(
          async () => (await read({})).items,
          async () => (await read({ created_after: '2000-01-01T00:00:00Z' })).items,
        )
        const dated = any.filter(({ kind }) => kind !== 'system')
        expect([operation, since.length]).toEqual([operation, dated.length])
      }
      expect((await call({ sort: 'nonsense' })).status, operation).toBe(422)
    }
  })
})
