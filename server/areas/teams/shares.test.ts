import { beforeAll, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Workflows, templates and jobs shared with teams: team members get the rights, and lose them immediately when they
// leave.

const service = useSharedService()
let world: World
let colleague: TestPerson
let outsider: TestPerson
let team: string
beforeAll(async () => {
  world = await makeWorld(service())
  colleague = await makePerson(service())
  outsider = await makePerson(service())
  for (const person of [colleague, outsider]) await addMember(service(), world.workspace, person, 'member')
})

const definition = { nodes: [{ id: 'n', type: 'set', args: { values: { n: 1 } } }], edges: [] }

/** Creates a team with the colleague in it. */
async function makeTeam(): Promise<string> {
  const { body } = await world.owner.call('POST', '/api/teams', { body: { name: 'Editors' } })
  await world.owner.call('POST', `/api/teams/${body.team_id}/add_users`, { body: { user_ids: [colleague.id] } })
  return body.team_id
}

const make = async (path: string, body: Record<string, unknown>) => {
  const made = await world.owner.call('POST', path, { body: { name: 'Shared', ...body } })
  expect(made.status, made.text).toBe(201)
  return made.body
}

const statuses = (person: TestPerson, calls: [method: string, path: string, body?: unknown][]) =>
  Promise.all(calls.map(async ([method, path, body]) => (await person.call(method, path, body ? { body } : {})).status))

test('a team with a role in a workflow has exactly the rights of a member with that role', async () => {
  team = await makeTeam()
  const { workflow_id } = await make('/api/workflows', { definition, teams: [{ team_id: team, role: 'viewer' }] })
  const path = `/api/workflows/${workflow_id}`
  const asked: [string, string, unknown?][] = [
    ['GET', `${path}/executions`],
    ['POST', `${path}/run`, {}],
    ['POST', `${path}/versions`, { definition }],
    ['PATCH', path, { teams: [] }],
    ['DELETE', path],
  ]
  const share = async (role: string) =>
    expect((await world.owner.call('PATCH', path, { body: { teams: [{ team_id: team, role }] } })).body.teams).toEqual([
      { team_id: team, role },
    ])
  expect(await statuses(colleague, asked)).toEqual([200, 403, 403, 403, 403])
  await share('member')
  expect(await statuses(colleague, asked)).toEqual([200, 202, 403, 403, 403])
  await share('editor')
  expect(await statuses(colleague, asked)).toEqual([200, 202, 201, 403, 403])
  expect(await statuses(outsider, asked)).toEqual([403, 403, 403, 403, 403])
  const listed = async (person: TestPerson) =>
    (await person.call('GET', '/api/workflows')).body.items.some(
      (one: { workflow_id: string }) => one.workflow_id === workflow_id,
    )
  expect([await listed(colleague), await listed(outsider)]).toEqual([true, false])
})

test('an editor through a team who activates a version is its principal; the higher of two roles counts', async () => {
  const shared = await makeTeam()
  const { workflow_id } = await make('/api/workflows', {
    definition,
    members: [{ user_id: colleague.id, role: 'viewer' }],
    teams: [{ team_id: shared, role: 'editor' }],
  })
  const path = `/api/workflows/${workflow_id}`
  const version = await colleague.call('POST', `${path}/versions`, { body: { definition, activate: true } })
  expect(version.body.activated_by).toBe(colleague.id)
  const run = await world.owner.call('POST', `${path}/run?wait_s=60`, { body: {} })
  expect(run.body.principal_id).toBe(colleague.id)
  // Without the team the colleague is a viewer again, and the version that they activated still runs with their rights.
  await world.owner.call('DELETE', `/api/teams/${shared}/members/${colleague.id}`)
  expect(
    await statuses(colleague, [
      ['GET', `${path}/executions`],
      ['POST', `${path}/run`, {}],
    ]),
  ).toEqual([200, 403])
})

test.each(['leaves the team', 'the team is deleted', 'leaves the workspace', 'the share ends'])(
  'access ends immediately when: %s',
  async (how) => {
    const shared = await makeTeam()
    const person = await makePerson(service())
    await addMember(service(), world.workspace, person, 'member')
    await world.owner.call('POST', `/api/teams/${shared}/add_users`, { body: { user_ids: [person.id] } })
    const teams = [{ team_id: shared, role: 'member' }]
    const { workflow_id } = await make('/api/workflows', { definition, teams })
    const { job_id } = await make('/api/enrichment-jobs', { definition, teams })
    const run = await world.owner.call('POST', `/api/workflows/${workflow_id}/run?wait_s=60`, { body: {} })
    const execution = `/api/workflows/executions/${run.body.execution_id}`
    const asked: [string, string, unknown?][] = [
      ['POST', `/api/workflows/${workflow_id}/run`, {}],
      ['GET', execution],
      ['POST', `/auth/workflow-ticket/${run.body.execution_id}`],
      ['GET', `/api/enrichment-jobs/${job_id}`],
      ['PUT', `/api/enrichment-jobs/${job_id}`, { name: 'Renamed' }],
    ]
    const headers = { 'x-workspace-id': world.workspace.id }
    const all = () =>
      Promise.all(
        asked.map(
          async ([method, path, body]) =>
            (await person.call(method, path, { headers, ...(body ? { body } : {}) })).status,
        ),
      )
    expect(await all()).toEqual([202, 200, 201, 200, 200])
    if (how === 'leaves the team') await person.call('DELETE', `/api/teams/${shared}/members/${person.id}`)
    if (how === 'the team is deleted') await world.owner.call('DELETE', `/api/teams/${shared}`)
    if (how === 'leaves the workspace')
      await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${person.id}`)
    if (how === 'the share ends') {
      await world.owner.call('PATCH', `/api/workflows/${workflow_id}`, { body: { teams: null } })
      await world.owner.call('PUT', `/api/enrichment-jobs/${job_id}`, { body: { teams: [] } })
    }
    const outside = how === 'leaves the workspace'
    expect(await all()).toEqual([outside ? 404 : 403, 404, 404, 404, 404])
  },
)

test('a question without named people can be answered by members of the teams', async () => {
  const shared = await makeTeam()
  const asking = { nodes: [{ id: 'q', type: 'clarification', args: { question: 'Which?' } }], edges: [] }
  const { workflow_id } = await make('/api/workflows', {
    definition: asking,
    teams: [{ team_id: shared, role: 'member' }],
  })
  const { body } = await world.owner.call('POST', `/api/workflows/${workflow_id}/run`, { body: {} })
  const path = `/api/workflows/executions/${body.execution_id}`
  await until(
    async () => ((await world.owner.call('GET', path)).body.status === 'waiting' ? true : undefined),
    'the execution to wait for an answer',
  )
  const inbox = await colleague.call('GET', '/api/clarifications/inbox')
  expect(inbox.body.items.map((one: { execution_id: string }) => one.execution_id)).toContain(body.execution_id)
  expect((await outsider.call('POST', `${path}/respond`, { body: { response: {} } })).status).toBe(404)
  expect((await colleague.call('POST', `${path}/respond`, { body: { response: {} } })).status).toBe(202)
})

test('a member of a template’s team can change the template, but cannot share or delete it', async () => {
  const shared = await makeTeam()
  const { template_id, teams } = await make('/api/templates', { teams: [{ team_id: shared }] })
  expect(teams).toEqual([{ team_id: shared, role: 'editor' }])
  const path = `/api/templates/${template_id}`
  const asked: [string, string, unknown?][] = [
    ['PATCH', path, { greeting: 'Hello' }],
    ['PATCH', path, { teams: [] }],
    ['POST', `${path}/embed-tokens`, {}],
    ['DELETE', path],
  ]
  expect(await statuses(colleague, asked)).toEqual([200, 403, 403, 403])
  expect(await statuses(outsider, asked)).toEqual([403, 403, 403, 403])
  await world.owner.call('DELETE', `/api/teams/${shared}`)
  expect(await statuses(colleague, asked)).toEqual([403, 403, 403, 403])
})

test('only its owner shares a job; teams see a pinned job only through its workflow', async () => {
  const shared = await makeTeam()
  const { job_id } = await make('/api/enrichment-jobs', { definition, teams: [{ team_id: shared, role: 'viewer' }] })
  const path = `/api/enrichment-jobs/${job_id}`
  const asked: [string, string, unknown?][] = [
    ['GET', path],
    ['PUT', path, { name: 'Renamed' }],
    ['PUT', path, { teams: [] }],
  ]
  expect(await statuses(colleague, asked)).toEqual([200, 403, 403])
  await world.owner.call('PUT', path, { body: { teams: [{ team_id: shared }] } })
  expect(await statuses(colleague, asked)).toEqual([200, 200, 403])
  const { workflow_id } = await make('/api/workflows', { definition })
  await world.owner.call('PUT', path, { body: { definition: null, workflow_id } })
  expect(await statuses(colleague, asked)).toEqual([404, 404, 404])
  const { items } = (await colleague.call('GET', '/api/enrichment-jobs')).body
  expect(items.map((one: { job_id: string }) => one.job_id)).not.toContain(job_id)
})

test('a team of another workspace, an unknown team and a repeated team are refused without a change', async () => {
  const foreign = (await world.stranger.call('POST', '/api/teams', { body: { name: 'Theirs' } })).body.team_id
  const { workflow_id } = await make('/api/workflows', { definition })
  const share = (...ids: string[]) =>
    world.owner.call('PATCH', `/api/workflows/${workflow_id}`, { body: { teams: ids.map((team_id) => ({ team_id })) } })
  const [one, other, ill] = [
    await share(foreign),
    await share('team_01kf3v6h2he3wtpk1fw5c0wz9d'),
    await share('nonsense'),
  ]
  for (const refused of [one, other, ill]) {
    expect([refused.status, refused.body.code]).toEqual([422, 'unknown_reference'])
    expect(refused.body.errors).toEqual(one.body.errors)
  }
  expect((await share(team, team)).body.errors).toEqual([{ path: '/teams/1/team_id', message: 'is named twice' }])
  expect((await world.owner.call('GET', `/api/workflows/${workflow_id}`)).body.teams).toEqual([])
})
