import { beforeAll, describe, expect, test } from 'vitest'
import { makeDataset, makeJob } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorkflow } from '#test/harness/widget'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let colleague: TestPerson
beforeAll(async () => {
  world = await makeWorld(service())
  colleague = await makePerson(service(), { name: 'Cleo Colleague' })
  await addMember(service(), world.workspace, colleague, 'member')
})

const constant = { nodes: [], edges: [], output: 1 }
const running = (workflow_id: string) => ({
  nodes: [{ id: 'sub', type: 'subworkflow', args: { workflow_id } }],
  edges: [],
  output: { $ref: 'nodes.sub.output' },
})
const path = (id: string) => `/api/workflows/${id}`
const offer = (from: TestPerson, id: string, to: TestPerson) =>
  from.call('POST', `${path(id)}/transfer`, { body: { user_id: to.id } })
const run = (as: TestPerson, id: string) => as.call('POST', `${path(id)}/run?wait_s=60`, { body: {} })
const told = async (who: TestPerson, kind: string, workflow: string) =>
  (await who.call('GET', '/api/notifications?limit=200')).body.items.find(
    (item: { kind: string; data: { workflow_id?: string } }) =>
      item.kind === kind && item.data?.workflow_id === workflow,
  )
const activate = async (who: TestPerson, id: string) => {
  const { active_version_id } = (await who.call('GET', path(id))).body
  return who.call('POST', `${path(id)}/versions/${active_version_id}/activate`, { body: {} })
}

describe('a workflow that is offered to another person', () => {
  test('changes its owner when they accept, and runs with their rights after they have activated it', async () => {
    const id = await makeWorkflow(world.member, 'Gift', constant)
    const { body: hook } = await world.member.call('POST', `${path(id)}/tokens`, { body: {} })
    await world.member.call('PUT', `${path(id)}/schedule`, { body: { cron: '0 3 1 1 *' } })
    const job = await makeJob(world.member, {
      workflow_id: id,
      dataset_id: await makeDataset(world.member, [{ n: 1 }]),
    })
    const before = (await run(world.member, id)).body.execution_id
    const offered = await offer(world.member, id, colleague)
    expect([offered.status, offered.body]).toMatchObject([
      201,
      {
        workflow_id: id,
        workflow_name: 'Gift',
        from_user_id: world.member.id,
        to_user_id: colleague.id,
        state: 'pending',
      },
    ])
    expect((await offer(world.member, id, colleague)).status).toBe(200)
    expect((await offer(world.member, id, world.owner)).body.code).toBe('conflict')
    expect(await told(colleague, 'workflow.transfer_offered', id)).toBeDefined()
    const inbox = (await colleague.call('GET', '/api/workflow-transfers')).body.items
    expect(inbox.map(({ workflow_id }: { workflow_id: string }) => workflow_id)).toContain(id)
    expect((await world.member.call('GET', path(id))).body).toMatchObject({
      owner_id: world.member.id,
      pending_owner_id: colleague.id,
    })
    expect((await run(world.member, id)).status).toBe(200)

    const accepted = await colleague.call('POST', `${path(id)}/transfer/accept`)
    expect([accepted.status, accepted.body.state]).toEqual([200, 'accepted'])
    expect((await colleague.call('POST', `${path(id)}/transfer/accept`)).status).toBe(404)
    expect((await colleague.call('GET', path(id))).body).toMatchObject({
      owner_id: colleague.id,
      pending_owner_id: null,
      activation_required: true,
    })
    expect(await told(world.member, 'workflow.transfer_accepted', id)).toBeDefined()
    expect((await told(colleague, 'workflow.activation_required', id)).body).toContain(
      '1 schedules, 1 webhook tokens, 1 jobs',
    )
    for (const refused of [
      await run(colleague, id),
      await colleague.call('POST', `/api/workflows/executions/${before}/retry`, { body: {} }),
      await service().call('POST', `/api/webhooks/workflow/${id}/trigger`, { token: hook.token, body: {} }),
      await colleague.call('POST', `/api/enrichment-jobs/${job}/run-now`, { body: {} }),
    ])
      expect([refused.status, refused.body.code]).toEqual([409, 'activation_required'])
    expect((await activate(colleague, id)).body.activated_by).toBe(colleague.id)
    expect((await run(colleague, id)).body).toMatchObject({ status: 'succeeded', principal_id: colleague.id })
    await until(
      async () =>
        (await service().call('POST', `/api/webhooks/workflow/${id}/trigger`, { token: hook.token, body: {} }))
          .status === 202,
      'the webhook to run again',
    )
  })

  test('cannot be accepted by other users, and the offer can be declined and withdrawn', async () => {
    const id = await makeWorkflow(world.member, 'Unwanted', constant)
    for (const [to, status] of [
      [world.member, 422],
      [world.viewer, 422],
      [world.guest, 422],
      [world.stranger, 422],
    ] as const)
      expect((await offer(world.member, id, to)).status).toBe(status)
    expect((await offer(colleague, id, colleague)).status).toBe(403)
    await offer(world.member, id, colleague)
    expect((await world.owner.call('POST', `${path(id)}/transfer/accept`)).status).toBe(404)
    expect((await colleague.call('POST', `${path(id)}/transfer/decline`)).body.state).toBe('declined')
    expect(await told(world.member, 'workflow.transfer_declined', id)).toBeDefined()
    expect((await colleague.call('POST', `${path(id)}/transfer/accept`)).status).toBe(404)
    await offer(world.member, id, colleague)
    expect((await world.member.call('DELETE', `${path(id)}/transfer`)).status).toBe(204)
    expect((await world.member.call('DELETE', `${path(id)}/transfer`)).status).toBe(404)
    expect(await told(colleague, 'workflow.transfer_withdrawn', id)).toBeDefined()
    expect((await colleague.call('POST', `${path(id)}/transfer/accept`)).status).toBe(404)
    expect((await world.member.call('GET', path(id))).body.owner_id).toBe(world.member.id)
  })

  test('can be accepted once, and not after it was deleted', async () => {
    const id = await makeWorkflow(world.member, 'Twice', constant)
    await offer(world.member, id, colleague)
    const both = await Promise.all([1, 2].map(() => colleague.call('POST', `${path(id)}/transfer/accept`)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
    const gone = await makeWorkflow(world.member, 'Gone', constant)
    await offer(world.member, gone, colleague)
    await world.member.call('DELETE', path(gone))
    expect((await colleague.call('POST', `${path(gone)}/transfer/accept`)).status).toBe(404)
  })

  test('with `owner_id` is only offered', async () => {
    const id = await makeWorkflow(world.member, 'Patched', constant)
    const patched = await world.member.call('PATCH', path(id), { body: { owner_id: colleague.id } })
    expect([patched.status, patched.body]).toMatchObject([
      200,
      { owner_id: world.member.id, pending_owner_id: colleague.id },
    ])
    const foreign = await world.member.call('PATCH', path(id), { body: { owner_id: world.stranger.id } })
    expect([foreign.status, foreign.body.errors[0].path]).toEqual([422, '/owner_id'])
    const back = await world.member.call('PATCH', path(id), { body: patched.body })
    expect(back.status, back.text).toBe(200)
  })

  test('gives its previous owner no access to workflows of the new owner', async () => {
    const theirs = await makeWorkflow(colleague, 'Private', { nodes: [], edges: [], output: 'private' })
    const trap = await makeWorkflow(world.member, 'Trap', constant, {
      members: [{ user_id: colleague.id, role: 'viewer' }],
    })
    const named = await world.member.call('POST', `${path(trap)}/versions`, { body: { definition: running(theirs) } })
    expect(named.status).toBe(422)
    await offer(world.member, trap, colleague)
    expect((await run(world.member, trap)).body.principal_id).toBe(world.member.id)
    await colleague.call('POST', `${path(trap)}/transfer/accept`)
    expect((await world.member.call('POST', `${path(trap)}/run`, { body: {} })).status).toBe(403)
    expect((await colleague.call('GET', `${path(theirs)}/executions`)).body.items).toEqual([])
  })
})

describe('an editor', () => {
  test('can change and activate a workflow without owning it, and its executions then act for them', async () => {
    const mine = await makeWorkflow(colleague, 'Only Cleo may run this', { nodes: [], edges: [], output: 'ran' })
    const id = await makeWorkflow(world.member, 'Shared', constant, {
      members: [{ user_id: colleague.id, role: 'editor' }],
    })
    expect((await colleague.call('PATCH', path(id), { body: { name: 'Renamed' } })).body.name).toBe('Renamed')
    const made = await colleague.call('POST', `${path(id)}/versions`, { body: { definition: running(mine) } })
    expect([made.status, made.body.active]).toEqual([201, false])
    expect((await run(world.member, id)).body).toMatchObject({ results: 1, principal_id: world.member.id })
    await colleague.call('POST', `${path(id)}/versions/${made.body.version_id}/activate`, { body: {} })
    expect((await run(world.member, id)).body).toMatchObject({ results: 'ran', principal_id: colleague.id })
    await activate(world.member, id)
    expect((await run(colleague, id)).body).toMatchObject({
      principal_id: world.member.id,
      error: { code: 'workflow_not_allowed' },
    })
  })

  test('cannot share, transfer or delete the workflow, or create tokens for it', async () => {
    const id = await makeWorkflow(world.member, 'Kept', constant, {
      members: [{ user_id: colleague.id, role: 'editor' }],
    })
    for (const [method, rest, body] of [
      ['PATCH', '', { members: [] }],
      ['PATCH', '', { owner_id: colleague.id }],
      ['POST', '/transfer', { user_id: colleague.id }],
      ['DELETE', '', undefined],
      ['POST', '/tokens', {}],
      ['POST', '/embed-tokens', {}],
      ['PUT', '/schedule', { cron: '0 3 1 1 *' }],
    ] as const)
      expect([rest, (await colleague.call(method, path(id) + rest, { body })).status]).toEqual([rest, 403])
  })
})

describe('when the person for whom a workflow acts leaves', () => {
  test('it acts for its owner, who is notified immediately of what they may not use', async () => {
    const leaver = await makePerson(service(), { name: 'Lea Leaver' })
    await addMember(service(), world.workspace, leaver, 'member')
    const secret = await makeWorkflow(world.owner, 'For Lea alone', constant, {
      members: [{ user_id: leaver.id, role: 'member' }],
    })
    const id = await makeWorkflow(world.member, 'Edited by Lea', constant, {
      members: [{ user_id: leaver.id, role: 'editor' }],
    })
    await leaver.call('POST', `${path(id)}/versions`, { body: { definition: running(secret), activate: true } })
    expect((await run(world.member, id)).body).toMatchObject({ status: 'succeeded', principal_id: leaver.id })
    const removed = await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    expect(removed.status).toBe(204)
    expect(await told(world.member, 'workflow.not_allowed', id)).toMatchObject({ data: { not_allowed: [secret] } })
    expect((await run(world.member, id)).body).toMatchObject({
      principal_id: world.member.id,
      error: { code: 'workflow_not_allowed' },
    })
  })

  test('an execution in progress also acts for the owner', async () => {
    const leaver = await makePerson(service())
    await addMember(service(), world.workspace, leaver, 'member')
    const dataset = await makeDataset(world.owner, [{ n: 1 }])
    const id = await makeWorkflow(leaver, 'Waits', {
      nodes: [
        { id: 'ask', type: 'clarification', args: { question: 'Go on?', schema: {} } },
        { id: 'read', type: 'dataset.read', args: { dataset_id: dataset } },
      ],
      edges: [{ from: { node: 'ask' }, to: 'read' }],
      output: { $ref: 'nodes.read.output.records' },
    })
    const { execution_id } = (await leaver.call('POST', `${path(id)}/run`, { body: {} })).body
    await until(
      async () => (await leaver.call('GET', `/api/workflows/executions/${execution_id}`)).body.status === 'waiting',
      'the question',
    )
    await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    await world.owner.call('POST', `/api/workflows/executions/${execution_id}/respond`, { body: { response: 1 } })
    const ended = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution_id}`)
      return body.finished_at ? body : undefined
    }, 'the end')
    expect(ended).toMatchObject({ status: 'succeeded', results: [{ n: 1 }] })
  })
})

describe('a node whose resource the principal may no longer use', () => {
  test.each([
    ['dataset.read', (ids: Ids) => ({ dataset_id: { $cel: `"${ids.ds}"` } }), 'guest', 'dataset_not_allowed'],
    ['dataset.write', () => ({ name: 'New', records: [] }), 'viewer', 'dataset_not_allowed'],
    [
      'warehouse.query',
      (ids: Ids) => ({ connection_id: ids.conn, query: 'select 1' }),
      'viewer',
      'connection_not_allowed',
    ],
    ['channel.send', (ids: Ids) => ({ config_id: ids.chan, to: 'x', text: 'y' }), 'viewer', 'channel_not_allowed'],
  ] as const)('%s fails with its own code', async (type, args, role, code) => {
    const author = await makePerson(service())
    await addMember(service(), world.workspace, author, 'member')
    const ids: Ids = {
      ds: await makeDataset(world.owner, [{ n: 1 }]),
      conn: { $cel: '"conn_01kf3v6h2he3wtpk1fw5c0wz9d"' },
      chan: { $cel: '"chan_01kf3v6h2he3wtpk1fw5c0wz9d"' },
    }
    const definition = { nodes: [{ id: 'use', type, args: args(ids) }], edges: [] }
    const id = await makeWorkflow(author, 'Uses', definition, {
      members: [{ user_id: world.owner.id, role: 'member' }],
    })
    // Changed in the database, since the API would transfer the workflow.
    await addMember(service(), world.workspace, author, role)
    expect((await run(world.owner, id)).body).toMatchObject({ status: 'failed', error: { code, node_id: 'use' } })
    await addMember(service(), world.workspace, author, 'member')
    expect((await run(world.owner, id)).body.error?.code).not.toBe(code)
  })
})

type Ids = { ds: string; conn: unknown; chan: unknown }
