import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorkflow } from '#test/harness/widget'
import { addMember, makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { MAX_SERVICE_ACCOUNTS } from './service.ts'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Account = { user_id: string; key: string; key_id: string }

async function makeAccount(body: object = {}, key: object = {}, owner: TestPerson = world.owner): Promise<Account> {
  const made = await owner.call('POST', '/api/service-accounts', { body: { name: 'Robot', ...body } })
  expect(made.status).toBe(201)
  const { user_id } = made.body
  const minted = await owner.call('POST', `/api/service-accounts/${user_id}/keys`, { body: { name: 'CI', ...key } })
  expect(minted.status).toBe(201)
  return { user_id, key: minted.body.key, key_id: minted.body.key_id }
}

const call = (account: Account, method: string, path: string, options = {}) =>
  service().call(method, path, { token: account.key, ...options })

const nothing = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }

describe('a service account', () => {
  test('works in its workspace with its role, and is listed as a member that is not a person', async () => {
    const account = await makeAccount({ name: 'Deployments', description: 'Pushes from git' })
    const me = (await call(account, 'GET', '/auth/me')).body
    expect(me).toMatchObject({ user: { user_id: account.user_id, name: 'Deployments' }, operator: false })
    expect(me.workspaces).toMatchObject([{ workspace_id: world.workspace.id, role: 'member' }])
    const made = await call(account, 'POST', '/api/teams', { body: { name: 'Made by a robot' } })
    expect(made.status).toBe(201)
    const members = (await world.owner.call('GET', `/api/workspaces/${world.workspace.id}/members`)).body.items
    expect(members.find(({ user_id }: Account) => user_id === account.user_id)).toMatchObject({
      kind: 'service_account',
      role: 'member',
    })
    expect(members.find(({ user_id }: Account) => user_id === world.owner.id).kind).toBe('person')
    const log = (await world.owner.call('GET', `/api/audit-log?actor_id=${account.user_id}`)).body.items
    expect(log[0]).toMatchObject({ action: 'team.created', actor_id: account.user_id, actor_kind: 'service_account' })
    const viewer = await makeAccount({ role: 'viewer' })
    expect((await call(viewer, 'GET', '/api/teams')).status).toBe(200)
    expect((await call(viewer, 'POST', '/api/teams', { body: { name: 'No' } })).body.code).toBe('forbidden')
  })

  test('cannot be an owner, sign in, or join another workspace', async () => {
    const account = await makeAccount()
    const email = (await call(account, 'GET', '/auth/me')).body.user.email
    for (const role of ['owner', 'guest']) {
      const path = `/api/workspaces/${world.workspace.id}/members/${account.user_id}`
      expect((await world.owner.call('PATCH', path, { body: { role } })).body.errors[0].path).toBe('/role')
    }
    expect(
      (await world.owner.call('POST', '/api/service-accounts', { body: { name: 'x', role: 'owner' } })).status,
    ).toBe(422)
    await expect(service().sql(`update users set password_hash = 'x' where email = $1`, [email])).rejects.toThrow(
      'service_accounts_have_no_password',
    )
    expect((await service().call('POST', '/auth/sign-in', { body: { email, password: 'anything' } })).status).toBe(401)
    expect((await call(account, 'POST', '/api/workspaces', { body: { name: 'Mine' } })).status).toBe(403)
    expect(
      (
        await call(account, 'POST', '/auth/password', {
          body: { current_password: 'x', new_password: 'correct horse battery' },
        })
      ).status,
    ).toBe(403)
    const elsewhere = await makePerson(service())
    const other = await makeWorkspace(service(), elsewhere)
    const invited = await elsewhere.call('POST', `/api/workspaces/${other.id}/members/invite`, { body: { email } })
    const token = invited.body.link.split('/').at(-1)
    expect((await call(account, 'POST', `/auth/invitations/${token}/accept`, { body: {} })).status).toBe(403)
    expect((await call(account, 'GET', '/api/teams', { headers: { 'x-workspace-id': other.id } })).status).toBe(404)
  })

  test('remains when the person who created it leaves', async () => {
    const founder = await makePerson(service())
    await addMember(service(), world.workspace, founder, 'owner')
    const account = await makeAccount({}, {}, founder)
    await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${founder.id}`)
    expect((await call(account, 'GET', '/api/teams')).status).toBe(200)
    expect((await world.owner.call('GET', `/api/service-accounts/${account.user_id}`)).body.created_by).toBe(founder.id)
  })

  test('that is disabled is refused immediately, and works again when it is enabled', async () => {
    const account = await makeAccount()
    const path = `/api/service-accounts/${account.user_id}`
    expect((await call(account, 'GET', '/api/teams')).status).toBe(200)
    expect((await world.owner.call('PATCH', path, { body: { disabled: true } })).body.disabled).toBe(true)
    expect((await call(account, 'GET', '/api/teams')).status).toBe(401)
    expect((await world.owner.call('POST', `${path}/keys`, { body: { name: 'More' } })).status).toBe(409)
    await world.owner.call('PATCH', path, { body: { disabled: false, name: 'Back' } })
    expect((await call(account, 'GET', '/auth/me')).body.user.name).toBe('Back')
    const log = (await world.owner.call('GET', `/api/audit-log?subject=${account.user_id}`)).body.items
    expect(log.map(({ action }: { action: string }) => action)).toEqual([
      'service_account.enabled',
      'service_account.disabled',
      'service_account.created',
    ])
  })

  test('that is deleted leaves its workflows to an owner, and its keys are deleted', async () => {
    const account = await makeAccount()
    const made = await call(account, 'POST', '/api/workflows', { body: { name: 'Orphan', definition: nothing } })
    expect((await world.owner.call('DELETE', `/api/service-accounts/${account.user_id}`)).status).toBe(204)
    expect((await call(account, 'GET', '/auth/me')).status).toBe(401)
    expect((await world.owner.call('GET', `/api/service-accounts/${account.user_id}`)).status).toBe(404)
    const workflow = (await world.owner.call('GET', `/api/workflows/${made.body.workflow_id}`)).body
    expect(workflow.owner_id).toBe(world.owner.id)
    const log = (await world.owner.call('GET', '/api/audit-log?action=service_account.deleted')).body.items
    expect(log[0].subject).toBe(account.user_id)
  })

  test('needs no second factor when people do', async () => {
    const owner = await makePerson(service())
    const workspace = await makeWorkspace(service(), owner)
    const account = await makeAccount({}, {}, owner)
    await service().sql('update workspaces set require_second_factor = true where workspace_id = $1', [workspace.uuid])
    expect((await owner.call('GET', '/api/variables')).body.code).toBe('second_factor_required')
    expect((await call(account, 'GET', '/api/variables')).status).toBe(200)
    expect((await call(account, 'GET', '/api/teams')).status).toBe(200)
  })

  test('does not count as a member in the plan, and their number per workspace is limited', async () => {
    const owner = await makePerson(service())
    await makeWorkspace(service(), owner)
    const membersOf = async () =>
      (await owner.call('GET', '/api/payments/usage')).body.quotas.find(
        ({ quota }: { quota: string }) => quota === 'members',
      ).used
    const before = await membersOf()
    for (let made = 0; made < MAX_SERVICE_ACCOUNTS; made += 1)
      await owner.call('POST', '/api/service-accounts', { body: { name: `Robot ${made}` } })
    expect(await membersOf()).toBe(before)
    const refused = await owner.call('POST', '/api/service-accounts', { body: { name: 'One more' } })
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
    const found = await owner.call('GET', '/api/service-accounts?q=robot%2049')
    expect(found.body.items.map(({ name }: { name: string }) => name)).toEqual(['Robot 49'])
  })

  test('of another workspace is not found', async () => {
    const account = await makeAccount()
    const stranger = await makePerson(service())
    await makeWorkspace(service(), stranger)
    const path = `/api/service-accounts/${account.user_id}`
    for (const [method, address] of [
      ['GET', path],
      ['PATCH', path],
      ['DELETE', path],
      ['GET', `${path}/keys`],
      ['POST', `${path}/keys`],
      ['GET', `${path}/keys/${account.key_id}`],
      ['DELETE', `${path}/keys/${account.key_id}`],
    ] as const)
      expect((await stranger.call(method, address, method === 'POST' ? { body: { name: 'x' } } : {})).status).toBe(404)
    // A person of the workspace is not found as a service account either.
    expect((await world.owner.call('DELETE', `/api/service-accounts/${world.member.id}`)).status).toBe(404)
  })
})

describe('keys of a service account', () => {
  test('have scopes, are listed and deleted by owners, and give access only to the workspace', async () => {
    const account = await makeAccount({}, { scopes: ['executions:run'] })
    expect((await call(account, 'GET', '/api/teams')).body.code).toBe('insufficient_scope')
    const path = `/api/service-accounts/${account.user_id}/keys`
    const listed = await world.owner.call('GET', path)
    expect(listed.body.items).toMatchObject([
      { key_id: account.key_id, workspace_id: world.workspace.id, scopes: ['executions:run'] },
    ])
    expect(listed.text).not.toContain(account.key)
    expect((await world.owner.call('DELETE', `${path}/${account.key_id}`)).status).toBe(204)
    expect((await call(account, 'GET', '/auth/me')).status).toBe(401)
  })

  test('have no more rights than the key that creates them, which must be allowed to create keys', async () => {
    const scoped = async (scopes: string[]): Promise<string> =>
      (await world.owner.call('POST', '/auth/api-keys', { body: { name: 'scoped', scopes } })).body.key
    const { user_id } = await makeAccount()
    const path = `/api/service-accounts/${user_id}/keys`
    const token = await scoped(['service-accounts:admin', 'workflows:read'])
    const mint = (body: object, as = token) => service().call('POST', path, { token: as, body: { name: 'k', ...body } })
    expect((await mint({})).body.scopes).toEqual(['service-accounts:admin', 'workflows:read'])
    expect((await mint({ scopes: ['workflows:write'] })).body.errors[0].path).toBe('/scopes')
    expect((await mint({}, await scoped(['*:write']))).body.code).toBe('insufficient_scope')
    // An account cannot create a key with more rights than its own key either.
    const narrow = await makeAccount({}, { scopes: ['identity:admin'] })
    const wider = await call(narrow, 'POST', '/auth/api-keys', { body: { name: 'wide', scopes: ['*:admin'] } })
    expect(wider.body.errors[0].path).toBe('/scopes')
  })
})

describe('a service account in executions and approvals', () => {
  const gateFor = (approvers: unknown[], more: object = {}) => ({
    nodes: [{ id: 'gate', type: 'approval', args: { title: 'Pay?', payload: 5, policy: { approvers, ...more } } }],
    edges: [],
  })
  const run = async (account: Account, workflow: string): Promise<string> => {
    const started = await call(account, 'POST', `/api/workflows/${workflow}/run`, { body: {} })
    expect(started.status).toBe(202)
    return started.body.execution_id
  }
  const gateOf = (execution: string) =>
    until(
      async () => (await world.owner.call('GET', `/api/workflows/executions/${execution}/approvals`)).body.items[0],
      'the gate',
    )
  const voted = (account: Account, gate: { request_id: string; payload_sha256: string }) =>
    call(account, 'POST', `/api/approvals/${gate.request_id}/votes`, {
      body: { decision: 'approve', payload_sha256: gate.payload_sha256 },
    })

  test('activates versions and becomes their principal, and is the initiator of executions it starts', async () => {
    const account = await makeAccount()
    const made = await call(account, 'POST', '/api/workflows', { body: { name: 'Pushed', definition: nothing } })
    const version = await call(account, 'POST', `/api/workflows/${made.body.workflow_id}/versions`, {
      body: { definition: { ...nothing, output: 1 } },
    })
    const { version_id } = version.body
    const path = `/api/workflows/${made.body.workflow_id}/versions/${version_id}/activate`
    expect((await call(account, 'POST', path)).status).toBe(200)
    const started = await call(account, 'POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, { body: {} })
    expect(started.body).toMatchObject({
      status: 'succeeded',
      version_id,
      principal_id: account.user_id,
      initiated_by: [{ kind: 'service_account', id: account.user_id, user_id: account.user_id }],
    })
  })

  test('has no vote through a role or a team, but has a vote if a policy names it', async () => {
    const account = await makeAccount()
    const { body: team } = await world.owner.call('POST', '/api/teams', { body: { name: 'Payers' } })
    const added = await world.owner.call('POST', `/api/teams/${team.team_id}/add_users`, {
      body: { user_ids: [account.user_id, world.viewer.id] },
    })
    expect(added.status).toBe(200)
    const members = { members: [{ user_id: account.user_id, role: 'member' }] }
    const start = async (approvers: unknown[], more: object = {}) => {
      const workflow = await makeWorkflow(world.owner, 'Gate', gateFor(approvers, more), members)
      const started = await world.owner.call('POST', `/api/workflows/${workflow}/run`, { body: {} })
      return gateOf(started.body.execution_id)
    }
    const gate = await start([
      { kind: 'team', id: team.team_id },
      { kind: 'role', id: 'member' },
    ])
    const waiting = gate.outstanding.map(({ id }: { id: string }) => id)
    expect(waiting).toEqual(expect.arrayContaining([world.viewer.id, world.member.id]))
    expect(waiting).not.toContain(account.user_id)
    expect((await voted(account, gate)).status).toBe(403)
    expect((await call(account, 'GET', '/api/approvals/inbox')).body.items).toEqual([])
    const handed = await world.member.call('POST', `/api/approvals/${gate.request_id}/delegate`, {
      body: { user_id: account.user_id },
    })
    expect([handed.status, handed.body.errors[0].path]).toEqual([422, '/user_id'])
    const named = await start([{ kind: 'user', id: account.user_id }])
    expect((await voted(account, named)).status).toBe(201)
  })

  test('excludes everyone who created a key of it from approving its executions, even after the key is deleted', async () => {
    const second = await makePerson(service())
    await addMember(service(), world.workspace, second, 'owner')
    const account = await makeAccount()
    const path = `/api/service-accounts/${account.user_id}/keys`
    const { body: other } = await second.call('POST', path, { body: { name: 'Mine' } })
    const approvers = [world.owner, second, world.viewer].map(({ id }) => ({ kind: 'user', id }))
    const workflow = await makeWorkflow(world.owner, 'Pay', gateFor(approvers), {
      members: [{ user_id: account.user_id, role: 'member' }],
    })
    await second.call('DELETE', `${path}/${other.key_id}`)
    const gate = await gateOf(await run(account, workflow))
    expect(gate.excluded.map(({ user_id }: Account) => user_id).sort()).toEqual([world.owner.id, second.id].sort())
    expect(gate.outstanding).toMatchObject([{ id: world.viewer.id }])
  })
})
