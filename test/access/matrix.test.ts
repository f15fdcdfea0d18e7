import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyRoute } from '#platform/http/route'
import { newId, newSecret, prefixes, toWire } from '#platform/ids'
import { makeRecorder } from '#test/harness/examples'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeWorkspace, type TestWorkspace } from '#test/harness/world'
import { cases } from './cases.ts'
import { type Cast, castOfStranger, type Kind, kinds, makeCast, type Prepared, pathOf } from './matrix.ts'

const OPERATOR = 'operator@example.com'
const examples = makeRecorder(process.env.HEDDLE_RECORD_EXAMPLES)
let service: Service
let cast: Cast
let foreign: Cast
let routes: AnyRoute[]

beforeAll(async () => {
  service = await startService({ env: { HEDDLE_OPERATORS: OPERATOR } })
  routes = service.app.routes
  cast = await makeCast(service, OPERATOR)
  const elsewhere: TestWorkspace = await makeWorkspace(service, cast.stranger, 'Second tenant')
  foreign = castOfStranger({ ...cast, stranger: cast.stranger }, elsewhere)
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

/** What the last caller of an operation was refused is still there. */
const unused = new Map<string, Prepared>()

describe('the access matrix', () => {
  test('covers every operation there is, and no other', () => {
    expect(Object.keys(cases).sort()).toEqual(routes.map(({ operation }) => operation).sort())
  })

  for (const [operation, one] of Object.entries(cases)) {
    test(`${operation}: each kind of caller gets what the table says`, async () => {
      const route = routes.find((candidate) => candidate.operation === operation)!
      const seen: Record<string, number | 'ok'> = {}
      let prepared: Prepared | undefined
      for (const kind of kinds) {
        prepared ??= (await one.prepare?.(cast)) ?? {}
        const { status, body } = await callAs(kind, route, prepared)
        if (status < 300) examples.keep(operation, prepared.body, body)
        // Anyone who is refused changes nothing: what they were refused is there for the next.
        if (status < 400) prepared = undefined
        seen[kind] = one.expect[kind] === 'ok' && status < 400 ? 'ok' : status
      }
      if (prepared) unused.set(operation, prepared)
      expect(seen).toEqual(one.expect)
    })

    test(`${operation}: an id of another workspace is answered as a random one`, async () => {
      const route = routes.find((candidate) => candidate.operation === operation)!
      const ids = [...route.path.matchAll(/:(\w+)/g)]
        .map(([, name]) => name!)
        .filter((name) => !one.plainParameters?.includes(name))
      if (ids.length === 0 || route.access.word === 'token' || route.access.word === 'anyone') return
      const own = unused.get(operation) ?? (await one.prepare?.(cast)) ?? {}
      const theirs = (await one.prepare?.(foreign)) ?? {}
      for (const name of ids) {
        const prefix = prefixes.find((candidate) => theirs.params![name]!.startsWith(`${candidate}_`))
        if (prefix === undefined) throw new Error(`${operation}: ${name} is not an id; list it in plainParameters`)
        const as = (value: string): Promise<Answer> =>
          callAs('author', route, { ...own, params: { ...own.params, [name]: value } }, { 'x-request-id': 'the-same' })
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
  }
})
