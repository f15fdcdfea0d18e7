import { beforeAll, describe, expect, test } from 'vitest'
import { signUp } from '#test/harness/browser'
import { useSharedService } from '#test/harness/service'
import { addMember, makeOperator, makePerson, makeWorkspace, makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const make = async (body: Record<string, unknown>, token = world.owner.key) =>
  service().call('POST', '/auth/api-keys', { token, body: { name: 'script', ...body } })

describe('API keys', () => {
  test('are shown once, work at once, and stop working when deleted', async () => {
    const { browser } = await signUp(service().base)
    const made = await browser.call('POST', '/auth/api-keys', { body: { name: 'script' } })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'script', workspace_id: null, expires_at: null, last_used_at: null })
    expect(made.body.key).toMatch(/^hk_[\w]{38}$/)
    expect(made.body.key.startsWith(made.body.prefix)).toBe(true)
    expect((await service().call('GET', '/auth/me', { token: made.body.key })).status).toBe(200)
    const list = await browser.call('GET', '/auth/api-keys')
    expect(list.body.items).toHaveLength(1)
    expect(list.text).not.toContain(made.body.key)
    const stored = await service().sql(`select key_id::text, token_hash::text, prefix from api_keys`)
    expect(JSON.stringify(stored)).not.toContain(made.body.key)
    expect((await browser.call('DELETE', `/auth/api-keys/${made.body.key_id}`)).status).toBe(204)
    expect((await service().call('GET', '/auth/me', { token: made.body.key })).status).toBe(401)
    expect((await browser.call('DELETE', `/auth/api-keys/${made.body.key_id}`)).status).toBe(404)
  })

  test('stop working when they expire', async () => {
    const { body } = await make({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })
    expect((await service().call('GET', '/auth/me', { token: body.key })).status).toBe(200)
    await service().sql(`update api_keys set expires_at = now() - interval '1 second' where prefix = $1`, [body.prefix])
    expect((await service().call('GET', '/auth/me', { token: body.key })).status).toBe(401)
    expect((await make({ expires_at: '2020-01-01T00:00:00Z' })).body.errors[0].path).toBe('/expires_at')
    expect((await make({ expires_at: 'tomorrow' })).status).toBe(422)
  })

  test('bound to a workspace give no access to the person’s other workspaces', async () => {
    const other = await makeWorkspace(service(), world.owner, 'Other')
    await world.owner.call('POST', '/api/teams', { body: { name: 'There' }, headers: { 'x-workspace-id': other.id } })
    const { body: bound } = await make({ workspace_id: world.workspace.id })
    const call = (method: string, path: string, options = {}) =>
      service().call(method, path, { token: bound.key, ...options })
    const me = await call('GET', '/auth/me')
    expect(me.body.selected_workspace_id).toBe(world.workspace.id)
    expect(me.body.workspaces.map(({ workspace_id }: { workspace_id: string }) => workspace_id)).toEqual([
      world.workspace.id,
    ])
    expect((await call('GET', '/auth/me', { workspace: other.id })).status).toBe(404)
    expect((await call('GET', `/api/workspaces/${other.id}`)).status).toBe(404)
    expect((await call('GET', '/api/workspaces')).body.items).toHaveLength(1)
    expect((await call('GET', '/api/teams')).body.items).toEqual([])
    const companies = (await call('GET', '/api/companies')).body.items
    expect(companies.map(({ company_id }: { company_id: string }) => company_id)).toEqual([world.workspace.company.id])
    for (const [method, path] of [
      ['GET', '/auth/sessions'],
      ['DELETE', '/auth/sessions'],
    ] as const)
      expect((await call(method, path)).status).toBe(403)
    expect((await call('POST', '/api/workspaces', { body: { name: 'Out' } })).status).toBe(403)
    expect((await call('POST', '/api/companies', { body: { name: 'Out' } })).status).toBe(403)
    const keys = (await call('GET', '/auth/api-keys')).body.items
    expect(keys.map(({ key_id }: { key_id: string }) => key_id)).toEqual([bound.key_id])
  })

  test('bound to a workspace give no operator rights', async () => {
    const operator = await makeOperator(service())
    const workspace = await makeWorkspace(service(), operator, 'Of the operator')
    const { body: bound } = await make({ workspace_id: workspace.id }, operator.key)
    const idsOf = async (token: string, path: string, id: string) =>
      (await service().call('GET', path, { token })).body.items.map((row: Record<string, string>) => row[id])
    expect(await idsOf(operator.key, '/api/companies', 'company_id')).toContain(world.workspace.company.id)
    expect(await idsOf(bound.key, '/api/companies', 'company_id')).toEqual([workspace.company.id])
    expect(new Set(await idsOf(bound.key, '/api/audit-log', 'workspace_id'))).toEqual(new Set([workspace.id]))
    expect((await service().call('GET', '/auth/me', { token: bound.key })).body.operator).toBe(false)
    for (const path of ['/api/operations/engine', '/api/operations/outbox']) {
      expect((await operator.call('GET', path)).status).toBe(200)
      expect((await service().call('GET', path, { token: bound.key })).status).toBe(403)
    }
  })

  test('cannot create a key with a wider scope or a longer lifetime', async () => {
    const other = await makeWorkspace(service(), world.owner, 'Third')
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const { body: bound } = await make({ workspace_id: world.workspace.id, expires_at: soon })
    const child = await make({}, bound.key)
    expect(child.body).toMatchObject({ workspace_id: world.workspace.id, expires_at: soon })
    expect((await make({ workspace_id: other.id }, bound.key)).body.code).toBe('unknown_reference')
    expect((await make({ expires_at: '2999-01-01T00:00:00Z' }, bound.key)).status).toBe(422)
  })

  test('with scopes allow only what the scopes name, and a refusal names the missing scope', async () => {
    const { body: key } = await make({ scopes: ['teams:read', 'teams:read', '*:run'] })
    expect(key.scopes).toEqual(['teams:read', '*:run'])
    const call = (method: string, path: string, body?: unknown) =>
      service().call(method, path, { token: key.key, ...(body !== undefined && { body }) })
    expect((await call('GET', '/auth/me')).status).toBe(200)
    expect((await call('GET', '/api/teams')).status).toBe(200)
    const refused = await call('POST', '/api/teams', { name: 'No' })
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.body.detail).toBe('This needs the scope teams:write; the key has teams:read, *:run.')
    expect((await call('GET', '/auth/api-keys')).body.code).toBe('insufficient_scope')
    const listed = (await world.owner.call('GET', '/auth/api-keys')).body.items
    expect(listed.find(({ key_id }: { key_id: string }) => key_id === key.key_id).scopes).toEqual(key.scopes)
    // A deleted key is refused as such, even if its caller is cached and lacks the scope.
    await world.owner.call('DELETE', `/auth/api-keys/${key.key_id}`)
    expect((await call('POST', '/api/teams', { name: 'No' })).status).toBe(401)
  })

  test('without scopes have all rights, and unknown scopes are refused', async () => {
    expect((await make({})).body.scopes).toBeNull()
    expect((await make({ scopes: null })).body.scopes).toBeNull()
    for (const scopes of [[], ['workflows'], ['nothing:read'], ['workflows:own'], ['*'], 'workflows:read', [1]]) {
      const { status, body } = await make({ scopes })
      expect([status, body.errors[0].path.split('/')[1]]).toEqual([422, 'scopes'])
    }
  })

  test('with scopes cannot create a key with more scopes', async () => {
    const { body: parent } = await make({ scopes: ['identity:admin', 'workflows:write'] })
    expect((await make({}, parent.key)).body.scopes).toEqual(['identity:admin', 'workflows:write'])
    expect((await make({ scopes: ['workflows:read'] }, parent.key)).body.scopes).toEqual(['workflows:read'])
    for (const scopes of [['workflows:run'], ['*:read'], ['workflows:read', 'datasets:read']]) {
      const { status, body } = await make({ scopes }, parent.key)
      expect([status, body.errors[0].path]).toEqual([422, '/scopes'])
      expect(body.errors[0].message).toContain(scopes.at(-1))
    }
    expect((await make({ scopes: null }, parent.key)).body.scopes).toEqual(parent.scopes)
  })

  test('are bound only to workspaces of their person, and every other id gets the same response', async () => {
    const answers = await Promise.all(
      [world.elsewhere.id, 'ws_01kf3v6h2he3wtpk1fw5c0wz9d', 'nonsense'].map((workspace_id) =>
        world.owner.call('POST', '/auth/api-keys', {
          body: { name: 'x', workspace_id },
          headers: { 'x-request-id': 'same' },
        }),
      ),
    )
    expect(answers[0]!.body.code).toBe('unknown_reference')
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('of another person are not found, and invented keys are refused', async () => {
    const { body } = await make({})
    expect((await world.member.call('DELETE', `/auth/api-keys/${body.key_id}`)).status).toBe(404)
    expect((await service().call('GET', '/auth/me', { token: `${body.key.slice(0, -1)}!` })).status).toBe(401)
    expect((await service().call('GET', '/auth/me', { token: 'hk_' })).status).toBe(401)
    expect((await service().call('GET', '/auth/me', { token: body.key.slice(0, -6) })).status).toBe(401)
  })

  test('stop working with the membership that they are bound to', async () => {
    const person = await makePerson(service())
    await addMember(service(), world.workspace, person, 'member')
    const { body } = await make({ workspace_id: world.workspace.id }, person.key)
    await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${person.id}`)
    expect((await service().call('GET', '/auth/me', { token: body.key })).status).toBe(401)
    expect((await person.call('GET', '/auth/me')).status).toBe(200)
  })

  test('leave an entry in the audit log of their workspace', async () => {
    const { body } = await make({ workspace_id: world.workspace.id, name: 'audited' })
    await world.owner.call('DELETE', `/auth/api-keys/${body.key_id}`)
    const log = (await world.owner.call('GET', '/api/audit-log')).body.items
    expect(log.slice(0, 2).map(({ action, subject }: Record<string, string>) => [action, subject])).toEqual([
      ['api_key.deleted', body.key_id],
      ['api_key.created', body.key_id],
    ])
    expect(JSON.stringify(log)).not.toContain(body.key)
  })
})
