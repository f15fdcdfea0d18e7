import { beforeAll, describe, expect, test } from 'vitest'
import { makeDataset, makeJob } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let colleague: TestPerson
beforeAll(async () => {
  world = await makeWorld(service())
  colleague = await makePerson(service(), { name: 'Cleo Colleague' })
  await addMember(service(), world.workspace, colleague, 'member')
})

const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
const make = async (more: Record<string, unknown> = {}, as = world.owner): Promise<string> => {
  const { status, body, text } = await as.call('POST', '/api/workflows', { body: { name: 'W', definition, ...more } })
  expect(status, text).toBe(201)
  return body.workflow_id
}
const listed = async (query: string, as = world.owner) =>
  (await as.call('GET', `/api/workflows?limit=200&${query}`)).body.items as {
    workflow_id: string
    kind: string
    activity?: { last_run: { status: string } | null; next_run_at: string | null; starts: string[] } | null
  }[]
const idsOf = (items: { workflow_id: string }[]) => items.map(({ workflow_id }) => workflow_id)

describe('the activity of workflows', () => {
  test('contains the last execution, the next time and what starts each workflow, if requested', async () => {
    const id = await make({ settings: { on_event: ['order.paid'] } })
    const idle = await make()
    await world.owner.call('POST', `/api/workflows/${id}/run?wait_s=60`, { body: { input: {} } })
    await world.owner.call('POST', `/api/workflows/${id}/schedules`, { body: { cron: '0 9 * * *', timezone: 'UTC' } })
    await world.owner.call('POST', `/api/workflows/${id}/tokens`, { body: {} })
    const off = await world.owner.call('POST', `/api/workflows/${idle}/tokens`, { body: {} })
    await world.owner.call('PATCH', `/api/workflows/${idle}/tokens/${off.body.token_id}`, { body: { enabled: false } })

    const items = await listed('include=activity')
    expect(items.find(({ workflow_id }) => workflow_id === id)?.activity).toMatchObject({
      last_run: { status: 'succeeded', execution_id: expect.stringMatching(/^exe_/) },
      next_run_at: expect.stringContaining('T09:00:00'),
      starts: ['schedule', 'webhook', 'event'],
    })
    expect(items.find(({ workflow_id }) => workflow_id === idle)?.activity).toEqual({
      last_run: null,
      next_run_at: null,
      starts: [],
    })
    expect(items.find(({ kind }) => kind === 'system')?.activity).toBeNull()
    expect((await listed('')).every(({ activity }) => activity === undefined)).toBe(true)
  })

  test('is null for a user who may not see the executions', async () => {
    const id = await make()
    const items = await listed('include=activity&scope=workspace', colleague)
    expect(items.find(({ workflow_id }) => workflow_id === id)?.activity).toBeNull()
  })
})

describe('tags and states of workflows', () => {
  test('filter the list; a patch replaces or removes the tags', async () => {
    const tagged = await make({ tags: ['shop', 'daily'] })
    const draft = await make({ definition: undefined, tags: ['shop'] })
    expect(idsOf(await listed('tag=shop')).toSorted()).toEqual([tagged, draft].toSorted())
    expect(idsOf(await listed('tag=shop&state=live'))).toEqual([tagged])
    expect(idsOf(await listed('tag=shop&state=draft'))).toEqual([draft])
    await world.owner.call('POST', `/api/workflows/${tagged}/pause`)
    expect(idsOf(await listed('tag=shop&state=paused'))).toEqual([tagged])
    const patch = (tags: unknown) => world.owner.call('PATCH', `/api/workflows/${tagged}`, { body: { tags } })
    expect((await patch(['weekly'])).body.tags).toEqual(['weekly'])
    expect((await patch(null)).body.tags).toEqual([])
    for (const wrong of [
      ['a', 'a'],
      [''],
      Array.from({ length: 21 }, (_, n) => `t${n}`),
      ['x'.repeat(51)],
      'shop',
      [1],
    ])
      expect((await patch(wrong)).status).toBe(422)
    expect(await listed('tag=weekly')).toEqual([])
    expect((await world.owner.call('GET', '/api/workflows?state=gone')).status).toBe(422)
  })
})

describe('the use of a workflow', () => {
  test('lists workflows that call it or use it as their error workflow, and jobs', async () => {
    const id = await make({ name: 'Inner' })
    const caller = { nodes: [{ id: 's', type: 'subworkflow', args: { workflow_id: id, input: {} } }], edges: [] }
    const outer = await make({ name: 'Outer', definition: caller })
    const failing = await make({ name: 'Failing', settings: { error_workflow_id: id } })
    const dataset = await makeDataset(world.owner, [{ a: 1 }])
    const job = await makeJob(world.owner, { name: 'Nightly', workflow_id: id, dataset_id: dataset })
    const use = async (as = world.owner) => (await as.call('GET', `/api/workflows/${id}/use`)).body
    expect(await use()).toEqual({
      workflows: [{ workflow_id: outer, name: 'Outer' }],
      error_of: [{ workflow_id: failing, name: 'Failing' }],
      jobs: [{ job_id: job, name: 'Nightly' }],
      templates: [],
      suites: [],
    })
    expect((await colleague.call('GET', `/api/workflows/${id}/use`)).status).toBe(403)
  })

  test('does not show to a guest what they are not a member of', async () => {
    const guest = await makePerson(service(), { name: 'Gil Guest' })
    await addMember(service(), world.workspace, guest, 'guest')
    const id = await make({ name: 'Shared', members: [{ user_id: guest.id, role: 'viewer' }] })
    await make({
      name: 'Hidden',
      definition: { nodes: [{ id: 's', type: 'subworkflow', args: { workflow_id: id, input: {} } }], edges: [] },
    })
    expect((await guest.call('GET', `/api/workflows/${id}/use`)).body).toMatchObject({ workflows: [], templates: [] })
  })
})
