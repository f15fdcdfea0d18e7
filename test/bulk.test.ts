import { beforeEach, describe, expect, test } from 'vitest'
import { newId, toWire } from '#platform/ids'
import { type Answer, useSharedService } from '#test/harness/service'
import { openSocket } from '#test/harness/socket'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

// Operations on several things at once: what they change, what they refuse, and what they leave unchanged.

const service = useSharedService()
let world: World
beforeEach(async () => {
  world = await makeWorld(service())
})

describe('notifications', () => {
  const note = async (person: TestPerson, title: string, workspace?: string): Promise<string> =>
    (await person.call('POST', '/api/notifications', { body: { title }, ...(workspace && { workspace }) })).body
      .notification_id
  const titles = async (person: TestPerson, query = ''): Promise<string[]> =>
    (await person.call('GET', `/api/notifications${query}`)).body.items.map(({ title }: Answer['body']) => title)
  const read = (person: TestPerson, body: object) => person.call('POST', '/api/notifications/read', { body })
  const remove = (person: TestPerson, body: object) => person.call('POST', '/api/notifications/delete', { body })

  test('of the caller are all marked as read with one call', async () => {
    const { owner, member } = world
    for (const title of ['a', 'b', 'c']) await note(owner, title)
    await note(member, 'theirs')
    expect((await read(owner, {})).body).toEqual({ changed: 3, more: false })
    expect(await titles(owner, '?unread=true')).toEqual([])
    expect(await titles(member, '?unread=true')).toEqual(['theirs'])
    expect((await read(owner, {})).body).toEqual({ changed: 0, more: false })
  })

  test('are marked as read up to a given one, or by id', async () => {
    const { owner, member } = world
    const [a, b] = [await note(owner, 'a'), await note(owner, 'b')]
    const c = await note(owner, 'c')
    const foreign = await note(member, 'theirs')
    expect((await read(owner, { up_to: b })).body.changed).toBe(2)
    expect(await titles(owner, '?unread=true')).toEqual(['c'])
    expect((await read(owner, { notification_ids: [a, c, c, foreign, toWire('ntf', newId())] })).body.changed).toBe(1)
    expect(await titles(member, '?unread=true')).toEqual(['theirs'])
  })

  test('are deleted by id, or all that are read', async () => {
    const { owner, member } = world
    const ids = [await note(owner, 'a'), await note(owner, 'b'), await note(owner, 'c'), await note(owner, 'd')]
    const foreign = await note(member, 'theirs')
    expect((await remove(owner, { notification_ids: [ids[0], foreign] })).body).toEqual({ changed: 1, more: false })
    await read(owner, { notification_ids: [ids[1], ids[2]] })
    expect((await remove(owner, { all_read: true })).body.changed).toBe(2)
    expect(await titles(owner)).toEqual(['d'])
    expect(await titles(member)).toEqual(['theirs'])
  })

  test.each([
    [{}],
    [{ all_read: false }],
    [{ notification_ids: [] }],
    [{ notification_ids: ['no id'] }],
    [{ notification_ids: Array.from({ length: 101 }, () => toWire('ntf', newId())) }],
    [{ all_read: true, notification_ids: [toWire('ntf', newId())] }],
  ])('are not deleted with %j', async (body) => {
    await note(world.owner, 'a')
    await read(world.owner, {})
    expect((await remove(world.owner, body)).status).toBe(422)
    expect(await titles(world.owner)).toEqual(['a'])
  })

  test('are updated on the person’s other devices, in order and once each', async () => {
    const { owner } = world
    const ids = [await note(owner, 'a'), await note(owner, 'b')]
    const { ticket, url } = (await owner.call('POST', '/auth/notification-ticket')).body
    const live = openSocket(url, ticket)
    const { seq } = await live.frame(({ type }) => type === 'snapshot')
    await read(owner, {})
    const last = await live.frame((frame) => frame.seq === seq + 2)
    const frames = live.frames.filter((frame) => frame.type === 'notification.updated')
    expect(last.type).toBe('notification.updated')
    expect(new Set(frames.map(({ data }) => (data as Answer['body']).notification_id))).toEqual(new Set(ids))
    await remove(owner, { notification_ids: ids })
    expect((await live.frame((frame) => frame.seq === seq + 4)).type).toBe('notification.deleted')
    live.socket.terminate()
  })
})

const plain = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
const asking = {
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which?', schema: { type: 'string' } } }],
  edges: [],
}
const workflow = async (person: TestPerson, definition: object = plain, members: object[] = []): Promise<string> =>
  (await person.call('POST', '/api/workflows', { body: { name: 'W', definition, members } })).body.workflow_id

/** Starts an execution and waits until it waits for an answer. */
async function waiting(person: TestPerson, workflowId: string): Promise<string> {
  const { body } = await person.call('POST', `/api/workflows/${workflowId}/run`, { body: { input: {} } })
  await until(async () => (await statusOf(person, body.execution_id)) === 'waiting', 'the question')
  return body.execution_id
}
const statusOf = async (person: TestPerson, id: string): Promise<string> =>
  (await person.call('GET', `/api/workflows/executions/${id}`)).body.status
const codes = (answer: Answer): Record<string, string | true> =>
  Object.fromEntries(
    answer.body.items.map((item: Answer['body']) => [item.workflow_id, item.done || item.problem.code]),
  )

test('several workflows are deleted under the rules for one, and the response lists those that were not', async () => {
  const { owner, member } = world
  const [mine, live, theirs] = [await workflow(owner), await workflow(owner, asking), await workflow(member)]
  const shared = await workflow(member, plain, [{ user_id: owner.id, role: 'editor' }])
  const gone = toWire('wf', newId())
  await waiting(owner, live)
  const remove = (body: object) => owner.call('POST', '/api/workflows/delete', { body })
  const answer = await remove({ workflow_ids: [mine, live, theirs, shared, gone, mine] })
  expect(answer.status, answer.text).toBe(200)
  expect(codes(answer)).toEqual({
    [mine]: true,
    [live]: 'runs_live',
    [theirs]: 'forbidden',
    [shared]: 'forbidden',
    [gone]: 'not_found',
  })
  expect((await owner.call('GET', `/api/workflows/${mine}`)).status).toBe(404)
  for (const id of [live, theirs, shared]) expect((await owner.call('GET', `/api/workflows/${id}`)).status).toBe(200)
  expect(codes(await remove({ workflow_ids: [live], cancel_runs: true }))).toEqual({ [live]: true })
  expect((await remove({ workflow_ids: ['echo'] })).status).toBe(422)
  expect((await remove({ workflow_ids: [] })).status).toBe(422)

  const { body } = await owner.call('GET', `/api/audit-log?action=workflow.deleted`)
  expect(body.items.map(({ subject }: Answer['body']) => subject).sort()).toEqual([mine, live].sort())
})

test('two people who delete the same workflows at the same time both get a response', async () => {
  const { owner } = world
  const ids = [await workflow(owner), await workflow(owner), await workflow(owner)]
  const answers = await Promise.all(
    [ids, ids.toReversed()].map((workflow_ids) =>
      owner.call('POST', '/api/workflows/delete', { body: { workflow_ids } }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  for (const id of ids) expect(answers.filter((answer) => codes(answer)[id] === true).length).toBeGreaterThan(0)
})

describe('API keys', () => {
  const make = async (person: TestPerson, workspace_id?: string): Promise<{ key_id: string; key: string }> =>
    (await person.call('POST', '/auth/api-keys', { body: { name: 'k', ...(workspace_id && { workspace_id }) } })).body
  const remove = (person: TestPerson, body: object, token?: string) =>
    service().call('POST', '/auth/api-keys/delete', { token: token ?? person.key, body })
  const works = async (key: string): Promise<boolean> =>
    (await service().call('GET', '/auth/me', { token: key })).status === 200

  test('of the caller are deleted by id', async () => {
    const { owner, member } = world
    const [one, two, foreign] = [await make(owner), await make(owner, world.workspace.id), await make(member)]
    expect((await remove(owner, { key_ids: [one.key_id, two.key_id, foreign.key_id] })).body).toEqual({ deleted: 2 })
    expect([await works(one.key), await works(two.key), await works(foreign.key)]).toEqual([false, false, true])
    const { body } = await owner.call('GET', '/api/audit-log?action=api_key.deleted')
    expect(body.items.map(({ subject }: Answer['body']) => subject)).toContain(two.key_id)
  })

  test('are all deleted except the key of the request', async () => {
    const { owner } = world
    const [one, two] = [await make(owner), await make(owner, world.workspace.id)]
    expect((await remove(owner, { all_others: true })).body).toEqual({ deleted: 2 })
    expect([await works(one.key), await works(two.key), await works(owner.key)]).toEqual([false, false, true])
  })

  test('of other workspaces are not deleted by a key for one workspace', async () => {
    const { owner } = world
    const bound = await make(owner, world.workspace.id)
    expect((await remove(owner, { all_others: true }, bound.key)).status).toBe(403)
    expect(await works(owner.key)).toBe(true)
    expect((await remove(owner, {})).status).toBe(422)
  })
})
