import { beforeAll, describe, expect, test } from 'vitest'
import { makeDataset, makeJob, runJob } from '#test/harness/jobs'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { join, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Workflows that run other workflows: nobody reaches through one of their own what they may not run themselves.

const service = useService()
let world: World
let colleague: TestPerson
beforeAll(async () => {
  world = await makeWorld(service())
  colleague = await makePerson(service(), { name: 'Cleo Colleague' })
  await join(service(), world.workspace, colleague, 'member')
})

const secret = {
  nodes: [{ id: 'a', type: 'set', args: { values: { value: 'secret' } } }],
  edges: [],
  output: { $ref: 'nodes.a.output.value' },
}
const failing = { nodes: [{ id: 'f', type: 'fail', args: { message: 'broken' } }], edges: [] }
const running = (workflow_id: unknown) => ({
  nodes: [{ id: 'sub', type: 'subworkflow', args: { workflow_id, input: {} } }],
  edges: [],
  output: { $ref: 'nodes.sub.output' },
})

const save = (as: TestPerson, definition: unknown, more: Record<string, unknown> = {}) =>
  as.call('POST', '/api/workflows', { body: { name: 'W', definition, ...more } })
async function make(as: TestPerson, definition: unknown, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body, text } = await save(as, definition, more)
  expect(status, text).toBe(201)
  return body.workflow_id
}
const run = (as: TestPerson, id: string, input: unknown = {}) =>
  as.call('POST', `/api/workflows/${id}/run?wait_s=20`, { body: { input } })
const share = (id: string, members: { user_id: string; role: string }[]) =>
  world.owner.call('PATCH', `/api/workflows/${id}`, { body: { members } })
const runsOf = async (id: string): Promise<unknown[]> =>
  (await world.owner.call('GET', `/api/workflows/${id}/executions`)).body.items

describe('a workflow that names another', () => {
  test('is saved only by whoever may run that one: its owner or a member', async () => {
    const id = await make(world.owner, secret)
    const random = await save(colleague, running('wf_01kf3v6h2he3wtpk1fw5c0wz9d'))
    const bytes = ({ text }: { text: string }) => text.replace(/"request_id":"[^"]*"/, '')
    for (const role of [undefined, 'viewer']) {
      await share(id, role === undefined ? [] : [{ user_id: colleague.id, role }])
      const refused = await save(colleague, running(id))
      expect(refused.status, refused.text).toBe(422)
      expect(refused.body).toMatchObject({
        code: 'unknown_reference',
        errors: [{ path: '/definition/nodes/0/args/workflow_id' }],
      })
      expect(bytes(refused)).toBe(bytes(random))
      const handler = await save(colleague, failing, { settings: { error_workflow_id: id } })
      expect(handler.status, handler.text).toBe(422)
      expect(handler.body).toMatchObject({
        code: 'unknown_reference',
        errors: [{ path: '/settings/error_workflow_id' }],
      })
      const job = await colleague.call('POST', '/api/enrichment-jobs', {
        body: { name: 'J', definition: running(id) },
      })
      expect(job.status, job.text).toBe(422)
    }
    await share(id, [{ user_id: colleague.id, role: 'member' }])
    const mine = await make(colleague, running(id), { settings: { error_workflow_id: id } })
    expect((await run(colleague, mine)).body).toMatchObject({ status: 'succeeded', results: 'secret' })
    expect((await run(colleague, await make(colleague, running('echo')))).body.status).toBe('succeeded')
  })

  test('runs it in the name of its own owner, whoever started it and wherever the id came from', async () => {
    const id = await make(world.owner, secret)
    const named = { $ref: 'input.id' }
    const theirs = await make(colleague, running(named), { members: [{ user_id: world.owner.id, role: 'member' }] })
    for (const starter of [colleague, world.owner]) {
      const { body } = await run(starter, theirs, { id })
      expect(body).toMatchObject({ status: 'failed', error: { code: 'workflow_not_allowed', node_id: 'sub' } })
    }
    expect(await runsOf(id)).toEqual([])
    const ours = await make(world.owner, running(named), { members: [{ user_id: colleague.id, role: 'member' }] })
    expect((await run(colleague, ours, { id })).body).toMatchObject({ status: 'succeeded', results: 'secret' })
  })

  test('runs it no more once its owner is a member no longer; nor does a job', async () => {
    const id = await make(world.owner, secret, { members: [{ user_id: colleague.id, role: 'member' }] })
    const theirs = await make(colleague, running(id))
    const job = await makeJob(colleague, {
      definition: running(id),
      dataset_id: await makeDataset(colleague, [{ name: 'Ada' }]),
    })
    await runJob(colleague, job)
    expect(await runsOf(id)).toHaveLength(1)
    await share(id, [])
    expect((await run(colleague, theirs)).body.error).toMatchObject({ code: 'workflow_not_allowed' })
    await colleague.call('POST', `/api/enrichment-jobs/${job}/run-now`, { body: { full: true } })
    await until(async () => {
      const { body } = await colleague.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
      return body.items?.[0]?.error?.code === 'workflow_not_allowed'
    }, 'the refusal')
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('an error workflow that its owner may run no more is not started, and the owner is told why', async () => {
    const id = await make(world.owner, secret, { members: [{ user_id: colleague.id, role: 'member' }] })
    const theirs = await make(colleague, failing, { settings: { error_workflow_id: id } })
    await share(id, [])
    await run(colleague, theirs)
    const told = await until(async () => {
      const { body } = await colleague.call('GET', '/api/notifications?limit=200')
      return body.items.find(({ data }: { data: { workflow_id?: string } }) => data?.workflow_id === theirs)
    }, 'the notification')
    expect(told.body).toContain('error workflow was not started')
    expect(await runsOf(id)).toEqual([])
  })
})
