import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyRoute } from '#platform/http/route'
import { newId, newSecret, prefixes, toWire } from '#platform/ids'
import { makeRecorder } from '#test/harness/examples'
import { type Answer, type Service, startService } from '#test/harness/service'
import { isWhole } from '#test/harness/slow'
import { makeWorkspace, type TestWorkspace } from '#test/harness/world'
import { cases } from './cases.ts'
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
let routes: AnyRoute[]

beforeAll(async () => {
  service = await startService({ env: { HEDDLE_OPERATORS: OPERATOR } })
  routes = service.app.routes
  cast = await makeCast(service, OPERATOR)
  const elsewhere: TestWorkspace = await makeWorkspace(service, cast.stranger, 'Second tenant')
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

/** In short the first of those who may call it, who has the fewest rights, and the author. The other ones are let in by `npm run test:slow`. */
const few = (letIn: Kind[]): Kind[] => letIn.filter((kind, at) => at === 0 || kind === 'author')

const idsOf = (route: AnyRoute, { plainParameters = [] }: Case): string[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!).filter((name) => !plainParameters.includes(name))

describe('the access matrix', () => {
  test('covers every operation there is, and no other', () => {
    expect(Object.keys(cases).sort()).toEqual(routes.map(({ operation }) => operation).sort())
  })

  for (const [operation, one] of Object.entries(cases)) {
    const routeOf = (): AnyRoute => routes.find((candidate) => candidate.operation === operation)!
    const refused = kinds.filter((kind) => one.expect[kind] !== 'ok')
    const able = kinds.filter((kind) => one.expect[kind] === 'ok')
    const letIn = isWhole ? able : few(able)

    test(`${operation}: anyone who may not call it gets what the table says`, async () => {
      const route = routeOf()
      const prepared = await own.give(one)
      const seen: Partial<Expected> = {}
      for (const kind of refused) seen[kind] = (await callAs(kind, route, prepared)).status
      expect(seen).toEqual(Object.fromEntries(refused.map((kind) => [kind, one.expect[kind]])))
    })

    test(`${operation}: an id of another workspace is answered as a random one`, async () => {
      const route = routeOf()
      const ids = idsOf(route, one)
      if (ids.length === 0 || route.access.word === 'token' || route.access.word === 'anyone') return
      const prepared = await own.give(one)
      const theirs = await foreign.give(one)
      for (const name of ids) {
        const prefix = prefixes.find((candidate) => theirs.params![name]!.startsWith(`${candidate}_`))
        if (prefix === undefined) throw new Error(`${operation}: ${name} is not an id; list it in plainParameters`)
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

    // They come last, because they change what was prepared. It serves until one of them has used it up.
    test(`${operation}: anyone who may call it is let in`, async () => {
      const route = routeOf()
      const seen: Partial<Expected> = {}
      let prepared = await own.give(one)
      for (const [at, kind] of letIn.entries()) {
        if (at > 0 && one.afterFirst) {
          const { status } = await callAs(kind, route, { ...prepared, ...one.afterFirst })
          seen[kind] = isRefusedInput(status) ? 'ok' : status
          continue
        }
        let answer = await callAs(kind, route, prepared)
        if (answer.status >= 400 && at > 0) {
          prepared = await own.make(one)
          answer = await callAs(kind, route, prepared)
        }
        if (answer.status < 300) examples.keep(operation, prepared.body, answer.body)
        if (route.method !== 'GET') own.drop(one)
        seen[kind] = answer.status < 400 ? 'ok' : answer.status
      }
      expect(seen).toEqual(Object.fromEntries(letIn.map((kind) => [kind, 'ok'])))
    })
  }
})
