import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { makeDataset, makeJob, runJob } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Workflows that run other workflows: a person cannot run through their own workflow what they may not run directly.

const service = useSharedService()
let world: World
let colleague: TestPerson
beforeAll(async () => {
  world = await makeWorld(service())
  colleague = await makePerson(service(), { name: 'Cleo Colleague' })
  await addMember(service(), world.workspace, colleague, 'member')
})

const secret = {
  nodes: [{ id: 'a', type: 'set', args: { values: { value: 'secret' } } }],
  edges: [],
  output: { $ref: 'nodes.a.output.value' },
}
const failing = { nodes: [{ id: 'f', type: 'fail', args: { message: 'broken' } }], edges: [] }
const running = (workflow_id: unknown, more: object = {}) => ({
  nodes: [{ id: 'sub', type: 'subworkflow', args: { workflow_id, input: {}, ...more } }],
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
  as.call('POST', `/api/workflows/${id}/run?wait_s=60`, { body: { input } })
const share = (id: string, members: { user_id: string; role: string }[]) =>
  world.owner.call('PATCH', `/api/workflows/${id}`, { body: { members } })
const runsOf = async (id: string): Promise<unknown[]> =>
  (await world.owner.call('GET', `/api/workflows/${id}/executions?include_jobs=true`)).body.items

describe('a workflow that runs another workflow', () => {
  test('can be saved only by a person who may run the other workflow: its owner or a member', async () => {
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

  test('accepts an id from data only if the author listed the allowed ids', async () => {
    const id = await make(world.owner, secret)
    const other = await make(world.owner, secret)
    const named = { $ref: 'input.id' }
    const open = await save(colleague, running(named))
    expect([open.status, open.body.errors]).toEqual([
      422,
      [
        {
          path: '/definition/nodes/0/args/workflow_id',
          message: 'must be a fixed value; to compute it, list the allowed values in "workflow_ids"',
        },
      ],
    ])
    for (const workflow_ids of [[], [named], named, 'wf', [id, 7]])
      expect((await save(world.owner, running(named, { workflow_ids }))).status).toBe(422)
    const foreign = await save(colleague, running(named, { workflow_ids: ['echo', id] }))
    expect([foreign.status, foreign.body.code, foreign.body.errors[0].path]).toEqual([
      422,
      'unknown_reference',
      '/definition/nodes/0/args/workflow_ids/1',
    ])
    const ours = await make(world.owner, running(named, { workflow_ids: [id] }), {
      members: [{ user_id: colleague.id, role: 'member' }],
    })
    expect((await run(colleague, ours, { id })).body).toMatchObject({ status: 'succeeded', results: 'secret' })
    for (const unlisted of [other, 'echo', 'wf_01kf3v6h2he3wtpk1fw5c0wz9d', ''])
      expect((await run(colleague, ours, { id: unlisted })).body).toMatchObject({
        status: 'failed',
        error: { code: 'unknown_reference', node_id: 'sub' },
      })
    expect(await runsOf(other)).toEqual([])
  })

  test('fails with an explanation if it was saved before this rule; its job can be sent back unchanged', async () => {
    const id = await make(world.owner, secret)
    const old = await make(world.owner, running('echo'))
    const before = JSON.stringify(running({ $ref: 'input.id' }))
    await service().sql('update workflow_versions set definition = $2 where workflow_id = $1', [
      fromWire('wf', old),
      before,
    ])
    const { body } = await run(world.owner, old, { id })
    expect(body).toMatchObject({ status: 'failed', error: { code: 'unknown_reference' } })
    expect(body.error.message).toContain('workflow_ids')
    expect(await runsOf(id)).toEqual([])
    const job = await makeJob(world.owner, { definition: running('echo') })
    await service().sql('update job_definitions set definition = $2 where job_id = $1', [fromWire('job', job), before])
    const present = (await world.owner.call('GET', `/api/enrichment-jobs/${job}`)).body
    const sent = await world.owner.call('PUT', `/api/enrichment-jobs/${job}`, {
      body: { name: 'Renamed', definition: present.definition },
    })
    expect([sent.status, sent.body.name]).toEqual([200, 'Renamed'])
  })

  test('runs it with the rights of the person who activated the version, regardless of who started it', async () => {
    const id = await make(world.owner, secret, { members: [{ user_id: colleague.id, role: 'member' }] })
    const theirs = await make(colleague, running(id), { members: [{ user_id: world.owner.id, role: 'member' }] })
    await share(id, [])
    for (const starter of [colleague, world.owner])
      expect((await run(starter, theirs)).body).toMatchObject({
        status: 'failed',
        principal_id: colleague.id,
        error: { code: 'workflow_not_allowed', node_id: 'sub' },
      })
    expect(await runsOf(id)).toEqual([])
  })

  test('cannot be used by a guest of a job to run other workflows', async () => {
    const id = await make(world.owner, secret)
    const computed = { $cel: `"${id}"` }
    const dataset_id = await makeDataset(world.owner, [{ n: 1 }])
    const job = await makeJob(world.owner, { definition: running('echo'), dataset_id })
    await world.owner.call('POST', `/api/enrichment-jobs/${job}/members/invite`, {
      body: { email: world.guest.email, role: 'member' },
    })
    for (const definition of [running(id), running(computed), running(computed, { workflow_ids: [id] })]) {
      const put = await world.guest.call('PUT', `/api/enrichment-jobs/${job}`, { body: { definition } })
      expect(put.status, put.text).toBe(422)
    }
    await runJob(world.guest, job, { full: true })
    expect(await runsOf(id)).toEqual([])
  })

  test('fails after its owner is no longer a member of the other workflow, as does a job', async () => {
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

  test('does not start an error workflow that its owner may no longer run, and the owner is notified of the reason', async () => {
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
