import { beforeAll, describe, expect, test } from 'vitest'
import { areasOfScopes, grants, scopeVerbs } from '#model/scopes'
import type { AnyRoute } from '#platform/http/route'
import { hashSecret, newId, newSecret, toWire } from '#platform/ids'
import { useSharedService } from '#test/harness/service'
import { isSlowRun } from '#test/harness/slow'
import { makeWorld, type World } from '#test/harness/world'

// Calls every operation with a key of each scope. The scope is checked before anything else in the request, so no
// resource has to exist.

const service = useSharedService()
let world: World
let routes: AnyRoute[]
const keys = new Map<string, string>()

beforeAll(async () => {
  world = await makeWorld(service())
  routes = service().app.routes
  for (const area of ['*', ...areasOfScopes]) for (const verb of scopeVerbs) await keyOf(`${area}:${verb}`)
})

async function keyOf(scope: string): Promise<void> {
  const key = newSecret('hk')
  keys.set(scope, key)
  await service().sql(
    `insert into api_keys (key_id, user_id, name, prefix, token_hash, scopes) values ($1, $2, $3, 'hk_', $4, array[$3::text])`,
    [newId(), world.owner.uuid, scope, hashSecret(key)],
  )
}

const somewhere = (path: string): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => (name.endsWith('_id') ? toWire('usr', newId()) : 'none'))

/**
 * Returns the required scope and one that does not grant it, for `npm test`. model/scopes.test.ts covers all scopes.
 */
const few = (area: string, wanted: string): string[] => {
  const without = scopeVerbs.map((verb) => `${area}:${verb}`).find((scope) => !grants([scope], wanted))
  return without === undefined ? [wanted] : [wanted, without]
}

const isRefused = async (route: AnyRoute, scope: string): Promise<boolean> => {
  const { status, body } = await service().call(route.method, somewhere(route.path), {
    token: keys.get(scope)!,
    ...(route.method !== 'GET' && { body: { no_such_field: true } }),
  })
  if (body?.code !== 'insufficient_scope') return false
  expect(status).toBe(403)
  expect(body.detail).toBe(`This needs the scope ${route.scope}; the key has ${scope}.`)
  return true
}

describe('the scope of an operation', () => {
  test('is declared for every operation that a key can call', () => {
    const without = routes.filter(({ scope }) => scope === null)
    const called = without.filter(({ access }) => access.word !== 'anyone' && access.word !== 'token')
    expect(called.map(({ operation }) => operation).sort()).toEqual(['getMe', 'signOut'])
  })

  test('is read only for operations that change nothing, and admin for operations of workspace owners and operators', () => {
    const tickets = /^(?:create\w+Ticket|searchKnowledge)$/
    for (const { operation, method, scope, access } of routes.filter((route) => route.scope !== null)) {
      const verb = scope!.split(':')[1]
      if (method !== 'GET' && verb === 'read') expect(operation).toMatch(tickets)
      if (access.word === 'operator') expect([operation, verb]).toEqual([operation, 'admin'])
      if (access.word === 'role' && access.of === 'workspace' && access.least === 'owner')
        expect([operation, verb]).toEqual([operation, 'admin'])
    }
  })

  test('is checked for every key: each scope grants its operations and no others', async () => {
    const unlike: string[] = []
    for (const route of routes.filter(({ scope }) => scope !== null)) {
      const [area] = route.scope!.split(':')
      const other = area === 'datasets' ? 'teams' : 'datasets'
      const all = [area, '*'].flatMap((of) => scopeVerbs.map((verb) => `${of}:${verb}`))
      for (const scope of [...(isSlowRun ? all : few(area!, route.scope!)), '*:read', `${other}:admin`])
        if ((await isRefused(route, scope)) === grants([scope], route.scope!))
          unlike.push(`${route.operation} ${scope}`)
    }
    expect(unlike).toEqual([])
  })

  test('is not checked for a session or a key without scopes', async () => {
    const unlike: string[] = []
    for (const route of routes.filter(({ scope, method }) => scope !== null && method === 'GET')) {
      const { body } = await world.owner.call('GET', somewhere(route.path))
      if (body?.code === 'insufficient_scope') unlike.push(route.operation)
    }
    expect(unlike).toEqual([])
  })
})
