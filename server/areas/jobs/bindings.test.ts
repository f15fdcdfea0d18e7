import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import {
  echoWorkflow,
  getJob,
  makeDataset,
  makeJob,
  makeWorkflow,
  numbered,
  runJob,
  waitForRun,
} from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type World } from '#test/harness/world'

// The bindings of a job, and the effects of deleting what it is bound to.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const put = (job: string, body: object) => world.member.call('PUT', `/api/enrichment-jobs/${job}`, { body })
const runNow = (job: string) => world.member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
/** Simulates that the time of the job's schedule has come. */
const becomeDue = (job: string) =>
  service().sql('update enrichment_jobs set due_at = now() where job_id = $1', [fromWire('job', job)])

describe('the output dataset of a job', () => {
  test('stops the job after it was deleted, until the job gets another output', async () => {
    const { member } = world
    const [from, into] = [await makeDataset(member, numbered(2)), await makeDataset(member, [])]
    const job = await makeJob(member, { definition: echoWorkflow, dataset_id: from, output: { dataset_id: into } })
    expect((await runJob(member, job)).last_run.status).toBe('succeeded')
    await member.call('DELETE', `/api/datasets/${into}`)
    expect((await getJob(member, job)).output).toMatchObject({ dataset_id: null })
    const refused = await runNow(job)
    expect([refused.status, refused.body.code]).toEqual([409, 'dataset_unbound'])
    const before = (await getJob(member, job)).last_run.run_id
    await becomeDue(job)
    expect((await waitForRun(member, job, before)).last_run.error.code).toBe('dataset_unbound')
    // A client can send back a job as it read it, but cannot bind a missing dataset otherwise.
    expect((await put(job, { output: { dataset_id: null } })).body.output).toMatchObject({ dataset_id: null })
    expect((await put(job, { output: null })).body.output).toBeNull()
    expect((await put(job, { output: { dataset_id: null } })).status).toBe(422)
    expect((await runJob(member, job)).last_run.status).toBe('succeeded')
  })

  test('does not name the job that created it, because its readers may not know about the job', async () => {
    const { member, viewer } = world
    const job = await makeJob(member, {
      name: 'Secret plan',
      definition: echoWorkflow,
      dataset_id: await makeDataset(member, numbered(1)),
      output: { new: 'Results' },
    })
    const { output } = await runJob(member, job)
    const { body } = await viewer.call('GET', `/api/datasets/${output.dataset_id}`)
    expect([body.name, body.description]).toEqual(['Results', null])
  })
})

describe('a change of a job', () => {
  test('is not refused because of fields that it leaves unchanged', async () => {
    const { member } = world
    const dataset = await makeDataset(member, [{ n: 1, v: 2 }])
    const mapping = { v: { $ref: 'record.v' } }
    const job = await makeJob(member, { definition: echoWorkflow, dataset_id: dataset, mapping })
    await member.call('PATCH', `/api/datasets/${dataset}`, { body: { records: [{ n: 1 }] } })
    expect((await put(job, { concurrency: 3 })).status).toBe(200)
    expect((await put(job, { concurrency: 4, mapping })).status).toBe(200)
    const refused = await put(job, { mapping: { w: { $ref: 'record.v' } } })
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/mapping/w'])
  })
})

describe('a scheduled run', () => {
  test('fails if there is nothing to read, and notifies the owner of the job', async () => {
    const { member } = world
    const schedule = { cron: '0 6 1 1 *', timezone: 'UTC' }
    const job = await makeJob(member, { name: 'Yearly', definition: echoWorkflow, schedule })
    await becomeDue(job)
    expect((await waitForRun(member, job)).last_run.error.code).toBe('dataset_unbound')
    const { body } = await member.call('GET', '/api/notifications')
    expect(body.items[0]).toMatchObject({ kind: 'job.failed', data: { job_id: job, code: 'dataset_unbound' } })
  })
})

describe('a job whose workflow was deleted', () => {
  test('stays paused manually when it gets another workflow', async () => {
    const { member } = world
    const workflow = await makeWorkflow(member)
    const schedule = { cron: '0 6 1 1 *', timezone: 'UTC' }
    const dataset_id = await makeDataset(member, numbered(1))
    const job = await makeJob(member, { workflow_id: workflow, dataset_id, schedule })
    await member.call('POST', `/api/enrichment-jobs/${job}/pause`)
    await member.call('DELETE', `/api/workflows/${workflow}`)
    expect((await runNow(job)).body.code).toBe('workflow_deleted')
    const given = await put(job, { workflow_id: await makeWorkflow(member) })
    expect(given.body).toMatchObject({ status: 'paused', paused_reason: 'manual' })
    expect((await member.call('POST', `/api/enrichment-jobs/${job}/resume`)).body.status).toBe('idle')
  })
})

describe('a revoked connection', () => {
  async function makeConnection(): Promise<string> {
    const made = await world.member.call('POST', '/api/connections', {
      body: { name: 'Duck', kind: 'duckdb', config: {} },
    })
    expect(made.status, made.text).toBe(201)
    return made.body.connection_id
  }
  const querying = (connection_id: string) => ({
    nodes: [{ id: 'ask', type: 'warehouse.query', args: { connection_id, query: 'select 1 as n' } }],
    edges: [],
    output: { $ref: 'nodes.ask.output.rows' },
  })
  const calling = (workflow_id: string) => ({
    nodes: [{ id: 'call', type: 'subworkflow', args: { workflow_id, input: {} } }],
    edges: [],
    output: { $ref: 'nodes.call.output' },
  })

  test('pauses the jobs that use it through called workflows, but no job that only mentions it', async () => {
    const { member } = world
    const connection = await makeConnection()
    const inner = await makeWorkflow(member, { definition: querying(connection) })
    const outer = await makeWorkflow(member, { definition: calling(inner) })
    const dataset_id = await makeDataset(member, numbered(1))
    const through = await makeJob(member, { definition: calling(outer), dataset_id })
    const pinned = await makeJob(member, { workflow_id: outer, dataset_id })
    const layout = { note: `Once read from ${connection}` }
    const mentions = await makeJob(member, { definition: { ...echoWorkflow, layout }, dataset_id })
    await member.call('DELETE', `/api/connections/${connection}`)
    for (const job of [through, pinned])
      expect(await getJob(member, job)).toMatchObject({ status: 'paused', paused_reason: 'connection_revoked' })
    expect((await runNow(through)).body.code).toBe('connection_revoked')
    expect((await runJob(member, mentions)).last_run.status).toBe('succeeded')
    await member.call('PUT', `/api/connections/${connection}/credential`, { body: { secrets: {} } })
    for (const job of [through, pinned]) expect((await getJob(member, job)).status).toBe('idle')
    expect((await runJob(member, through)).last_run.status).toBe('succeeded')
  })

  test('pauses a job that uses it later when the job becomes due, and the job runs after a new credential is stored', async () => {
    const { member } = world
    const connection = await makeConnection()
    const workflow = await makeWorkflow(member)
    const job = await makeJob(member, {
      workflow_id: workflow,
      dataset_id: await makeDataset(member, numbered(1)),
    })
    await member.call('DELETE', `/api/connections/${connection}`)
    const definition = querying(connection)
    const version = await member.call('POST', `/api/workflows/${workflow}/versions`, {
      body: { definition, activate: true },
    })
    expect(version.status, version.text).toBe(201)
    await becomeDue(job)
    await until(async () => (await getJob(member, job)).paused_reason === 'connection_revoked', 'the pause')
    expect((await getJob(member, job)).last_run).toBeNull()
    await member.call('PUT', `/api/connections/${connection}/credential`, { body: { secrets: {} } })
    expect((await waitForRun(member, job)).last_run.status).toBe('succeeded')
  })
})

test('bindings are used with the rights of the job’s principal: without these rights, the next run fails', async () => {
  const person = await makePerson(service())
  await addMember(service(), world.workspace, person, 'member')
  const become = (role: string) =>
    service().sql('update memberships set role = $2 where user_id = $1', [person.uuid, role])
  const from = await makeDataset(person, numbered(2))
  const job = await makeJob(person, { definition: echoWorkflow, dataset_id: from, output: { new: 'Out' } })
  expect((await runJob(person, job)).last_run.status).toBe('succeeded')
  const ranAs = async (role: string) => {
    await become(role)
    const before = (await getJob(person, job)).last_run.run_id
    await becomeDue(job)
    return (await waitForRun(person, job, before)).last_run
  }
  expect((await ranAs('viewer')).error).toMatchObject({
    code: 'dataset_not_allowed',
    message: expect.stringContaining('writes'),
  })
  expect((await ranAs('guest')).error).toMatchObject({
    code: 'dataset_not_allowed',
    message: expect.stringContaining('reads'),
  })
  expect((await ranAs('member')).status).toBe('succeeded')
})
