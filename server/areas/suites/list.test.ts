import { beforeAll, describe, expect, test } from 'vitest'
import { makeDataset, makeWorkflow } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
const made: Record<string, string> = {}

async function makeSuite(person: TestPerson, workflowId: string, name: string, more: object = {}): Promise<void> {
  const body = { name, checks: [{ kind: 'cel', expression: 'results.seen.n >= 0' }], ...more }
  const answer = await person.call('POST', `/api/workflows/${workflowId}/suites`, { body })
  if (answer.status !== 201) throw new Error(answer.text)
  made[name] = answer.body.suite_id
}

type Found = { suite_id: string; name: string; role: string; workflow_name: string; last_run: unknown }
const list = async (person: TestPerson, query = ''): Promise<Found[]> =>
  (await person.call('GET', `/api/suites${query}`)).body.items
const namesOf = async (person: TestPerson, query = '?sort=name'): Promise<string[]> =>
  (await list(person, query)).map(({ name }) => name)

beforeAll(async () => {
  world = await makeWorld(service())
  const { owner, member, viewer, guest, stranger } = world
  const shared = [
    { user_id: viewer.id, role: 'viewer' },
    { user_id: guest.id, role: 'member' },
  ]
  const refunds = await makeWorkflow(member, { name: 'Refunds', members: shared })
  await makeSuite(member, refunds, 'Cheap', { dataset_id: await makeDataset(member, [{ n: 1 }, { n: -1 }]) })
  await makeSuite(member, refunds, 'Dear')
  await makeSuite(member, await makeWorkflow(member, { name: 'Greetings' }), 'Polite')
  await makeSuite(owner, await makeWorkflow(owner, { name: 'Salaries' }), 'Secret')
  await makeSuite(stranger, await makeWorkflow(stranger, { name: 'Foreign' }), 'Elsewhere')
})

describe('the list of all suites', () => {
  test('has the suites of every workflow in which the caller has a role, with that role, and no others', async () => {
    const { owner, member, viewer, guest, stranger } = world
    expect(await namesOf(member)).toEqual(['Cheap', 'Dear', 'Polite'])
    expect(await namesOf(owner)).toEqual(['Secret'])
    expect(await namesOf(stranger)).toEqual(['Elsewhere'])
    const shared = async (person: TestPerson) =>
      (await list(person, '?sort=name')).map(({ name, role, workflow_name }) => [name, role, workflow_name])
    expect(await shared(viewer)).toEqual([
      ['Cheap', 'viewer', 'Refunds'],
      ['Dear', 'viewer', 'Refunds'],
    ])
    expect(await shared(guest)).toEqual([
      ['Cheap', 'member', 'Refunds'],
      ['Dear', 'member', 'Refunds'],
    ])
    expect((await list(member, '?q=polite')).map(({ role }) => role)).toEqual(['owner'])
  })

  test('is searched by the name of the suite and of its workflow, and read page by page', async () => {
    const { member } = world
    expect(await namesOf(member, '?q=chea')).toEqual(['Cheap'])
    expect(await namesOf(member, '?q=refunds&sort=-name')).toEqual(['Dear', 'Cheap'])
    expect(await namesOf(member, '?q=salaries')).toEqual([])
    const first = await member.call('GET', '/api/suites?limit=2')
    expect(first.body.items.map(({ name }: Found) => name)).toEqual(['Polite', 'Dear'])
    const second = await member.call('GET', `/api/suites?limit=2&cursor=${first.body.next_cursor}`)
    expect(second.body).toMatchObject({ items: [{ name: 'Cheap' }], next_cursor: null })
  })

  test('shows the newest run of each suite as the report does', async () => {
    const { member } = world
    const started = await member.call('POST', `/api/suites/${made.Cheap}/run`)
    const { run_id } = started.body
    await until(async () => {
      const { body } = await member.call('GET', `/api/suites/${made.Cheap}/runs/${run_id}`)
      return body.finished_at !== null
    }, 'the report')
    const [cheap] = await list(member, '?q=cheap')
    expect(cheap!.last_run).toEqual({ run_id, status: 'succeeded', total: 2, passed: 1, pass_rate: 0.5 })
    const [dear] = await list(member, '?q=dear')
    expect(dear!.last_run).toBeNull()
  })

  test('has no suites of a deleted workflow', async () => {
    const { member } = world
    const workflowId = await makeWorkflow(member, { name: 'Short-lived' })
    await makeSuite(member, workflowId, 'Gone')
    expect(await namesOf(member, '?q=gone')).toEqual(['Gone'])
    await member.call('DELETE', `/api/workflows/${workflowId}`)
    expect(await namesOf(member, '?q=gone')).toEqual([])
  })
})
