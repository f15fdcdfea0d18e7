import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyRoute } from '#platform/http/route'
import { newId, prefixes, toWire } from '#platform/ids'
import { type Answer, type Service, startService } from '#test/harness/service'
import { isWhole } from '#test/harness/slow'
import { cases } from './cases.ts'
import { type Fixtures, makeFixtures } from './fixtures.ts'
import { type Case, type Cast, type Kind, makeCast, type Prepared, pathOf } from './matrix.ts'

// What holds for every operation there is, seen on those that the access matrix makes.

const OPERATOR = 'operator@example.com'
let service: Service
let cast: Cast
/** Nobody changes what these are asked for: each call is refused. */
let fixtures: Fixtures
let routes: AnyRoute[]

beforeAll(async () => {
  service = await startService({ env: { HEDDLE_OPERATORS: OPERATOR } })
  routes = service.app.routes
  cast = await makeCast(service, OPERATOR)
  fixtures = makeFixtures(cast)
})
afterAll(() => service.stop())

const able = ({ expect }: Case): Exclude<Kind, 'nobody' | 'wrongToken'> | undefined =>
  (['author', 'workspaceOwner', 'operator'] as const).find((kind) => expect[kind] === 'ok')

function callAs(
  kind: Exclude<Kind, 'nobody' | 'wrongToken'>,
  route: AnyRoute,
  prepared: Prepared,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return service.call(route.method, pathOf(route, prepared), {
    token: prepared.token ?? cast[kind].key,
    ...(prepared.body !== undefined && { body: prepared.body }),
    ...(prepared.raw !== undefined && { raw: prepared.raw }),
    headers: { ...prepared.headers, ...headers },
  })
}

/** Changes of what is nowhere shown alone, so that nobody has an ETag of it. */
const withoutCurrent = {
  clearWorkflowState: 'all of them at once',
  endSessions: 'all of them at once',
  receiveByDelete: 'a call of a webhook, whatever its method, starts a workflow',
  receiveByPatch: 'likewise',
  receiveByPut: 'likewise',
  trustWorkspace: 'operators see it nowhere alone',
  unlinkOidc: 'a link has no fields',
}

describe('If-Match', () => {
  test('is honoured by every change: what was not read is not changed', async () => {
    const changes = routes.filter(({ method }) => ['PATCH', 'PUT', 'DELETE'].includes(method))
    expect(changes.flatMap(({ current, operation }) => (current ? [] : [operation])).sort()).toEqual(
      Object.keys(withoutCurrent),
    )
    const seen: Record<string, number> = {}
    const nobodys: string[] = []
    for (const route of changes) {
      const one = cases[route.operation]!
      const kind = able(one)
      if (kind === undefined) {
        nobodys.push(route.operation)
        continue
      }
      const { status } = await callAs(kind, route, await fixtures.give(one), { 'if-match': '"of-another"' })
      seen[route.operation] = status
    }
    expect(nobodys).toEqual(['unlinkOidc'])
    expect(Object.entries(seen).filter(([, status]) => status !== 412)).toEqual([])
  })
})

describe('what is refused is refused in the order 401, 404 or 403, 422', () => {
  const wrong = { no_such_field: 1 }
  /** What proves who is calling is in the body, so the body is read first. */
  const proofInBody = new Set(['answerInteraction', 'confirmEmail', 'confirmSignUp', 'resetPassword'])

  test('anyone who may not do it is told so, whatever they send', async () => {
    const unlike: unknown[] = []
    for (const route of routes.filter(({ method, access }) => method !== 'GET' && access.word !== 'token')) {
      if (proofInBody.has(route.operation)) continue
      const one = cases[route.operation]!
      const refused = (Object.keys(cast) as (keyof Cast)[]).filter(
        (kind) => kind !== 'service' && kind !== 'workspace' && [403, 404].includes(one.expect[kind] as number),
      ) as Exclude<Kind, 'nobody' | 'wrongToken'>[]
      if (refused.length === 0) continue
      const { params, query } = await fixtures.give(one)
      /** One of those who are told that they may not, and one of those to whom it is not there. */
      const few = [403, 404].flatMap((status) => refused.find((kind) => one.expect[kind] === status) ?? [])
      for (const kind of isWhole ? refused : few) {
        const { status } = await callAs(kind, route, { params, query, body: wrong } as Prepared)
        if (status !== one.expect[kind]) unlike.push([route.operation, kind, status, one.expect[kind]])
      }
    }
    expect(unlike).toEqual([])
  })

  test('what is not there is not there, whatever is sent to it', async () => {
    const unlike: unknown[] = []
    for (const route of routes.filter(({ method, access }) => method !== 'GET' && access.word !== 'token')) {
      const one = cases[route.operation]!
      const kind = able(one)
      if (kind === undefined || !route.path.includes(':')) continue
      const { params, query } = await fixtures.give(one)
      for (const [name, id] of Object.entries(params ?? {})) {
        if (one.plainParameters?.includes(name)) continue
        const prefix = prefixes.find((candidate) => id.startsWith(`${candidate}_`))!
        const unknown = { ...params, [name]: toWire(prefix, newId()) }
        const { status } = await callAs(kind, route, { params: unknown, query, body: wrong } as Prepared)
        if (status !== 404) unlike.push([route.operation, name, status])
      }
    }
    expect(unlike).toEqual([])
  })
})

describe('what was made', () => {
  test('is where Location says, with the ETag that it was given', async () => {
    const unlike: unknown[] = []
    // These need a mail, a passkey or an invitation, and have tests of their own.
    const elsewhere = new Set(['acceptInvitation', 'addPasskey', 'confirmSignUp'])
    /** Indexed in the background, which changes it. */
    const moving = new Set(['addKnowledgeDocument'])
    for (const route of routes.filter(({ status, operation }) => status === 201 && !elsewhere.has(operation))) {
      const one = cases[route.operation]!
      const kind = able(one)
      if (kind === undefined) throw new Error(`nobody may call ${route.operation}`)
      const prepared = await fixtures.make(one)
      // Recorded again it is not made.
      if (route.operation === 'recordPresence') await service.sql('delete from presence')
      const made = await callAs(kind, route, prepared)
      const location = made.headers.get('location')
      if (made.status !== 201 || location === null) {
        unlike.push([route.operation, made.status, location])
        continue
      }
      // A ticket is for a socket, which answers no GET.
      if (location.startsWith('/ws/')) continue
      // Each encoding has an ETag of its own; what a POST answers is not encoded.
      const found = await cast[kind].call('GET', location, { headers: { 'accept-encoding': 'identity' } })
      if (found.status !== 200) unlike.push([route.operation, location, found.status])
      const [etag, read] = [made.headers.get('etag'), found.headers.get('etag')]
      if (moving.has(route.operation)) continue
      if (etag !== null && read !== null && etag !== read) unlike.push([route.operation, made.text, found.text])
    }
    expect(unlike).toEqual([])
  })
})
