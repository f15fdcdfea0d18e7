import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAudited } from '#platform/http/auditing'
import type { AnyRoute } from '#platform/http/route'
import { newId, newSecret, prefixes, toWire } from '#platform/ids'
import { differencesOf } from '#test/harness/described'
import { makeRecorder } from '#test/harness/examples'
import { type Answer, type Service, startService } from '#test/harness/service'
import { isSlowRun } from '#test/harness/slow'
import { makeWorkspace, type TestWorkspace } from '#test/harness/world'
import { hasWords } from '#web/features/audit/actions.ts'
import { cases } from './cases.ts'
import {
  ableOf,
  auditedElsewhere,
  fieldsOf,
  forgedCursors,
  hasCursor,
  isChange,
  makesSomething,
  moving,
  readerOf,
  refusedFirst,
  stolen,
  takesFields,
  WRONG_BODY,
  withoutCurrent,
} from './conventions.ts'
import { type Fixtures, makeFixtures } from './fixtures.ts'
import {
  type Case,
  type Cast,
  castOfStranger,
  type Expected,
  type Kind,
  kinds,
  makeCast,
  type Prepared,
  pathOf,
} from './matrix.ts'

const OPERATOR = 'operator@example.com'
const examples = makeRecorder(process.env.HEDDLE_RECORD_EXAMPLES)
let service: Service
let cast: Cast
let own: Fixtures
let foreign: Fixtures
let elsewhere: TestWorkspace
let routes: AnyRoute[]

beforeAll(async () => {
  service = await startService({ env: { HEDDLE_OPERATORS: OPERATOR } })
  routes = service.app.routes
  cast = await makeCast(service, OPERATOR)
  elsewhere = await makeWorkspace(service, cast.stranger, 'Second tenant')
  own = makeFixtures(cast)
  foreign = makeFixtures(castOfStranger(cast, elsewhere))
  await service.sql(`delete from memberships where user_id = $1 and workspace_id <> $2`, [
    cast.stranger.uuid,
    elsewhere.uuid,
  ])
})
afterAll(async () => {
  examples.write()
  await service.stop()
})

const wrongToken = (route: AnyRoute): string => {
  if (route.access.word !== 'token') return newSecret('hk')
  return newSecret(route.access.scope === 'webhook' ? 'whs' : 'ems')
}

function callAs(
  kind: Kind,
  route: AnyRoute,
  prepared: Prepared,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const token =
    kind === 'nobody' ? undefined : kind === 'wrongToken' ? wrongToken(route) : (prepared.token ?? cast[kind].key)
  return service.call(route.method, pathOf(route, prepared), {
    ...(token !== undefined && { token }),
    ...(prepared.body !== undefined && { body: prepared.body }),
    ...(prepared.raw !== undefined && { raw: prepared.raw }),
    headers: { ...prepared.headers, ...headers },
  })
}

const isRefusedInput = (status: number): boolean => [400, 415, 422].includes(status)

/**
 * Returns the first kind (the one with the fewest rights) and the author, for `npm test`. `npm run test:slow` checks
 * all kinds.
 */
const few = (letIn: Kind[]): Kind[] => letIn.filter((kind, at) => at === 0 || kind === 'author')

const idsOf = (route: AnyRoute, { plainParameters = [] }: Case): string[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!).filter((name) => !plainParameters.includes(name))

function prefixOf(operation: string, name: string, { params }: Prepared): (typeof prefixes)[number] {
  const prefix = prefixes.find((candidate) => params![name]!.startsWith(`${candidate}_`))
  if (prefix === undefined) throw new Error(`${operation}: ${name} is not an id; list it in plainParameters`)
  return prefix
}

/** Returns the actions recorded after this id. Ids of one process increase. */
const entriesSince = (entryId: string): Promise<{ action: string }[]> =>
  service.sql('select action from audit_log where entry_id > $1', [entryId])

/** Checks that the new resource is at the address in `Location` and has the same ETag as in the first response. */
async function expectAtLocation(route: AnyRoute, made: Answer, kind: Kind, { token }: Prepared): Promise<void> {
  const { operation } = route
  const location = made.headers.get('location')
  expect([operation, made.status, location]).toEqual([operation, 201, expect.any(String)])
  // A ticket is for a socket, which answers no GET.
  if (location!.startsWith('/ws/')) return
  // Each content encoding has its own ETag; the response to a POST is not encoded.
  const found = await cast[readerOf(kind, token)].call('GET', location!, { headers: { 'accept-encoding': 'identity' } })
  expect([operation, kind, location, found.status]).toEqual([operation, kind, location, 200])
  const [etag, read] = [made.headers.get('etag'), found.headers.get('etag')]
  if (etag !== null && read !== null && !moving.has(operation)) expect([operation, etag]).toEqual([operation, read])
}

// This suite also checks the rules for every operation and every caller (`conventions.ts`), because all fixtures are
// prepared here.
describe('the access matrix', () => {
  test('covers every operation of the API, and no other', () => {
    expect(Object.keys(cases).sort()).toEqual(routes.map(({ operation }) => operation).sort())
  })

  test('has an ETag to compare for every change, except changes of things that no GET returns alone', () => {
    const without = routes.filter((route) => isChange(route) && !route.current)
    expect(without.map(({ operation }) => operation).sort()).toEqual(Object.keys(withoutCurrent))
  })

  for (const [operation, one] of Object.entries(cases)) {
    const routeOf = (): AnyRoute => routes.find((candidate) => candidate.operation === operation)!
    const refused = kinds.filter((kind) => one.expect[kind] !== 'ok')
    const able = kinds.filter((kind) => one.expect[kind] === 'ok')
    const letIn = isSlowRun ? able : few(able)
    const theAble = ableOf(one)

    test(`${operation}: refuses every kind of caller without access with the status of the table`, async () => {
      const route = routeOf()
      const prepared = await own.give(one)
      const seen: Partial<Expected> = {}
      for (const kind of refused) seen[kind] = (await callAs(kind, route, prepared)).status
      expect(seen).toEqual(Object.fromEntries(refused.map((kind) => [kind, one.expect[kind]])))
    })

    test(`${operation}: answers an id of another workspace like a random id`, async () => {
      const route = routeOf()
      const ids = idsOf(route, one)
      if (ids.length === 0 || route.access.word === 'token' || route.access.word === 'anyone') return
      const prepared = await own.give(one)
      const theirs = await foreign.give(one)
      for (const name of ids) {
        const prefix = prefixOf(operation, name, theirs)
        const as = (value: string): Promise<Answer> => {
          const params = { ...prepared.params, [name]: value }
          return callAs('author', route, { ...prepared, params }, { 'x-request-id': 'the-same' })
        }
        const [withForeign, withRandom, illFormed] = [
          await as(theirs.params![name]!),
          await as(toWire(prefix, newId())),
          await as(`${prefix}_nonsense`),
        ]
        expect({ name, status: withForeign.status, text: withForeign.text }).toEqual({
          name,
          status: 404,
          text: withRandom.text,
        })
        expect(illFormed.text).toBe(withRandom.text)
      }
    })

    test(`${operation}: checks 401 first, then 404 or 403, then the body`, async () => {
      const route = routeOf()
      if (route.method === 'GET' || route.access.word === 'token') return
      const { params, query } = await own.give(one)
      const send = async (kind: Kind, changed = params): Promise<number> => {
        const wrong = { ...(changed && { params: changed }), ...(query !== undefined && { query }), body: WRONG_BODY }
        return (await callAs(kind, route, wrong)).status
      }
      for (const kind of refusedFirst(operation, one, isSlowRun))
        expect([kind, await send(kind)]).toEqual([kind, one.expect[kind]])
      if (theAble === undefined) return
      for (const name of idsOf(route, one)) {
        const unknown = toWire(prefixOf(operation, name, { params: params! }), newId())
        expect([name, await send(theAble, { ...params, [name]: unknown })]).toEqual([name, 404])
      }
    })

    test(`${operation}: changes nothing for a caller that has read another version`, async () => {
      const route = routeOf()
      if (!isChange(route) || operation === 'unlinkOidc') return
      const { status } = await callAs(theAble!, route, await own.give(one), { 'if-match': '"of-another"' })
      expect(status).toBe(412)
    })

    // `npm run test:slow` sends each field alone. `npm test` sends all fields at once: a refusal names the unknown
    // fields first, and the read-only fields only if no field is unknown. So the test sends the fields again that the
    // refusal did not name.
    test(`${operation}: refuses fields that the server owns in a body`, async () => {
      const route = routeOf()
      if (!takesFields(route) || theAble === undefined) return
      const prepared = await own.give(one)
      if (prepared.raw !== undefined) return
      const known = fieldsOf(route)
      const theirs = { user: cast.stranger.id, workspace: elsewhere.id }
      let left = Object.entries(stolen(theirs)).filter(([field]) => !known.has(field))
      while (left.length > 0) {
        const sent = isSlowRun ? left.slice(0, 1) : left
        const body = { ...(prepared.body as object), ...Object.fromEntries(sent) }
        const answer = await callAs(theAble, route, { ...prepared, body })
        const named = new Set(answer.body?.errors?.map((error: { path: string }) => error.path))
        const refusedNow = new Set(sent.map(([field]) => field).filter((field) => named.has(`/${field}`)))
        expect([operation, sent, answer.status, refusedNow.size > 0]).toEqual([operation, sent, 422, true])
        left = left.filter(([field]) => !refusedNow.has(field))
      }
    })

    test(`${operation}: refuses or ignores a forged cursor, and does not fail`, async () => {
      const route = routeOf()
      if (!hasCursor(route)) return
      const prepared = await own.give(one)
      for (const cursor of forgedCursors) {
        const { status } = await callAs(theAble!, route, { ...prepared, query: `?cursor=${cursor}` })
        expect([operation, cursor, status < 500]).toEqual([operation, cursor, true])
      }
    })

    // This test is last, because its calls change the fixture. A fixture is reused until a caller has used it up.
    test(`${operation}: accepts every kind of caller with access, answers as described, and writes an entry to the audit log`, async () => {
      const route = routeOf()
      const seen: Partial<Expected> = {}
      let prepared = await own.give(one)
      for (const [at, kind] of letIn.entries()) {
        if (at > 0 && one.afterFirst) {
          const { status } = await callAs(kind, route, { ...prepared, ...one.afterFirst })
          seen[kind] = isRefusedInput(status) ? 'ok' : status
          continue
        }
        // A second call within the lifetime of a presence creates nothing, so its row is deleted first.
        if (operation === 'recordPresence') await service.sql('delete from presence')
        const before = newId()
        let answer = await callAs(kind, route, prepared)
        if (answer.status >= 400 && at > 0) {
          prepared = await own.make(one)
          answer = await callAs(kind, route, prepared)
        }
        if (answer.status < 300) {
          examples.keep(operation, prepared.body, answer.body)
          expect(differencesOf(operation, answer.status, answer.body), `the answer of ${operation}`).toEqual([])
        }
        if (at === 0 && isAudited(route) && !auditedElsewhere.has(operation))
          expect((await entriesSince(before)).length, `entries of ${operation}`).toBeGreaterThan(0)
        // A later caller may get the resource that the first caller created.
        if (makesSomething(route) && (at === 0 || answer.status === 201))
          await expectAtLocation(route, answer, kind, prepared)
        if (route.method !== 'GET') own.drop(one)
        seen[kind] = answer.status < 400 ? 'ok' : answer.status
      }
      expect(seen).toEqual(Object.fromEntries(letIn.map((kind) => [kind, 'ok'])))
    })
  }

  test('leaves only entries in the audit log for which the console has a text', async () => {
    const kept = await service.sql<{ action: string }>('select distinct action from audit_log')
    expect(kept.length).toBeGreaterThan(70)
    expect(kept.map(({ action }) => action).filter((action) => !hasWords(action))).toEqual([])
  })
})
