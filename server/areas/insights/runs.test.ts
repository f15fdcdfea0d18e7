import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeDataset, makeJob, numbered, runJob } from '#test/harness/jobs'
import { type Answer, useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'
import { bucketOf } from './buckets.ts'
import { codeOf, waitedForPeople } from './rollup.ts'

const service = useService()
let world: World

beforeEach(async () => {
  world = await makeWorld(service())
})

async function made(nodes: object[], person: TestPerson = world.owner, name = 'Work'): Promise<string> {
  const { status, body, text } = await person.call('POST', '/api/workflows', {
    body: { name, definition: { nodes, edges: [] } },
  })
  expect(status, text).toBe(201)
  return body.workflow_id
}
const run = (workflowId: string, person: TestPerson = world.owner, waitS = 20): Promise<Answer> =>
  person.call('POST', `/api/workflows/${workflowId}/run?wait_s=${waitS}`, { body: { input: {} } })
const read = async (query = '', person: TestPerson = world.owner): Promise<Answer['body']> => {
  const { status, body, text } = await person.call('GET', `/api/insights/executions?${query}`)
  expect(status, text).toBe(200)
  return body
}
/** Waits for the figures, which follow the end of an execution within a second or two. */
const counted = (runs: number): Promise<unknown> =>
  until(async () => (await read()).total.total === runs || undefined, 'the figures')

const set = { id: 'set', type: 'set', args: { values: {} } }
const fail = { id: 'stop', type: 'fail', args: { code: 'out_of_stock', message: 'None left' } }

describe('figures of executions', () => {
  test('omit executions of jobs unless they are requested', async () => {
    const { owner } = world
    const id = await made([set])
    await run(id)
    const job = await makeJob(owner, { workflow_id: id, dataset_id: await makeDataset(owner, numbered(5)) })
    expect((await runJob(owner, job)).last_run.counts.succeeded).toBe(5)
    await until(async () => (await read('include_jobs=true')).total.total === 6 || undefined, 'the figures')
    expect((await read()).total).toMatchObject({ total: 1, succeeded: 1 })
    expect((await read('group_by=workflow')).items).toMatchObject([{ workflow_id: id, total: 1 }])
    expect((await read('group_by=trigger&include_jobs=true')).items).toMatchObject([
      { trigger: 'job', total: 5 },
      { trigger: 'user', total: 1 },
    ])
    const steps = async (query: string) => (await owner.call('GET', `/api/insights/steps?${query}`)).body.items
    expect(await steps('')).toMatchObject([{ workflow_id: id, node_id: 'set', runs: 1 }])
    expect(await steps('include_jobs=true')).toMatchObject([{ workflow_id: id, node_id: 'set', runs: 6 }])
    const times = await service().sql(
      `select measure, sum(runs)::integer as runs from run_times where workspace_id = $1 and span = 'd' group by 1 order by 1`,
      [world.workspace.uuid],
    )
    expect(times).toEqual([
      { measure: 'duration', runs: 1 },
      { measure: 'job_duration', runs: 5 },
    ])
    expect((await owner.call('GET', '/api/insights/executions?include_jobs=yes')).status).toBe(422)
  })

  test('count the executions by outcome in their hour and day, by workflow, trigger and error', async () => {
    const good = await made([set], world.owner, 'Good')
    const bad = await made([fail], world.owner, 'Bad')
    for (const id of [good, good, bad]) await run(id)
    await counted(3)

    const days = await read()
    expect(days).toMatchObject({ bucket: 'day', group_by: null })
    expect(days.items).toHaveLength(1)
    expect(days.items[0]).toMatchObject({ total: 3, succeeded: 2, failed: 1, cancelled: 0, timed_out: 0, name: null })
    expect(days.items[0].at).toMatch(/T00:00:00.000Z$/)
    expect(days.total.duration_ms.p50).toBeGreaterThan(0)
    expect(days.total.waiting_for_people_ms).toBeNull()

    const hours = await read('bucket=hour')
    expect(hours.items.reduce((sum: number, { total }: { total: number }) => sum + total, 0)).toBe(3)
    expect(hours.items[0].at).toMatch(/:00:00.000Z$/)

    const workflows = await read('group_by=workflow')
    expect(workflows.items).toMatchObject([
      { at: null, workflow_id: good, name: 'Good', total: 2, succeeded: 2 },
      { at: null, workflow_id: bad, name: 'Bad', total: 1, failed: 1 },
    ])
    expect(workflows.items[0].duration_ms.p95).toBeGreaterThan(0)

    const errors = await read('group_by=error')
    expect(errors.items).toMatchObject([
      { error_code: null, succeeded: 2, duration_ms: null },
      { error_code: 'out_of_stock', failed: 1 },
    ])
    expect((await read('group_by=trigger')).items).toMatchObject([{ trigger: 'user', total: 3 }])
    expect((await read(`workflow_id=${bad}`)).total).toMatchObject({ total: 1, failed: 1 })
    expect((await read('bucket=day&group_by=workflow')).items[0].at).not.toBeNull()
  })

  test('include the time that executions waited for people', async () => {
    const id = await made([
      { id: 'ask', type: 'clarification', args: { question: 'How many?', schema: { type: 'integer' } } },
    ])
    const { body } = await run(id, world.owner, 0)
    const path = `/api/workflows/executions/${body.execution_id}`
    const question = await until(
      async () =>
        (await world.owner.call('GET', path)).body.waiting_for?.find(
          ({ kind }: { kind: string }) => kind === 'clarification',
        ),
      'the question',
    )
    const answered = await world.owner.call('POST', `${path}/respond`, {
      body: { clarification_id: question.clarification_id, response: 3 },
    })
    expect(answered.status, answered.text).toBeLessThan(300)
    await counted(1)
    expect((await read()).total.waiting_for_people_ms.p50).toBeGreaterThan(0)
  })

  test('name the slowest steps and the failing steps', async () => {
    const id = await made([set, fail])
    await run(id)
    await counted(1)
    const { body } = await world.owner.call('GET', `/api/insights/steps?workflow_id=${id}&sort=failed`)
    expect(body.items).toMatchObject([
      { workflow_id: id, name: 'Work', node_id: 'stop', type: 'fail', runs: 1, failed: 1 },
      { node_id: 'set', type: 'set', runs: 1, failed: 0 },
    ])
  })

  test('omit trials', async () => {
    const id = await made([set])
    const tried = await world.owner.call('POST', `/api/workflows/${id}/try?wait_s=60`, {
      body: { definition: { nodes: [set], edges: [] }, input: {} },
    })
    expect(tried.status, tried.text).toBeLessThan(300)
    await run(id)
    await counted(1)
  })

  test('include only workflows that the caller may see', async () => {
    const mine = await made([set])
    const theirs = await made([set], world.member)
    await run(mine)
    await run(theirs, world.member)
    await counted(2)
    expect((await read('group_by=workflow', world.member)).items).toMatchObject([{ workflow_id: theirs, total: 1 }])
    expect((await read('', world.stranger)).total.total).toBe(0)
    const hourly = await read('bucket=hour', world.member)
    expect(hourly.total).toMatchObject({ total: 1, succeeded: 1, duration_ms: { p50: expect.any(Number) } })
    expect(hourly.items).toHaveLength(1)
    expect((await read(`workflow_id=${theirs}`, world.member)).total.total).toBe(1)
    expect((await read(`workflow_id=${mine}`, world.member)).total.total).toBe(0)
    expect((await read(`workflow_id=${theirs}`)).total.total).toBe(1)
  })

  test('cover 35 days by the hour for an owner or one workflow, and 7 days for the sum of many workflows', async () => {
    const theirs = await made([set], world.member)
    const statusOf = async (days: number, query: string, caller = world.member): Promise<number> => {
      const to = new Date()
      const from = new Date(to.getTime() - days * 24 * 3600 * 1000)
      const range = `bucket=hour&from=${from.toISOString()}&to=${to.toISOString()}`
      return (await caller.call('GET', `/api/insights/executions?${range}${query}`)).status
    }
    expect(await statusOf(7, '')).toBe(200)
    expect(await statusOf(8, '')).toBe(422)
    expect(await statusOf(35, `&workflow_id=${theirs}`)).toBe(200)
    expect(await statusOf(36, `&workflow_id=${theirs}`)).toBe(422)
    expect(await statusOf(35, '', world.owner)).toBe(200)
    expect(await statusOf(36, '', world.owner)).toBe(422)
  })

  test.each([
    'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z',
    'from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z',
    'bucket=hour&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
    'bucket=minute',
    'group_by=colour',
  ])('refuse the query %s', async (query) => {
    expect((await world.owner.call('GET', `/api/insights/executions?${query}`)).status).toBe(422)
  })

  test('are deleted when they are old, hours much earlier than days', async () => {
    await service().sql('truncate run_counts')
    await run(await made([set]))
    await counted(1)
    await service().sql(`update run_counts set at = at - interval '40 days'`)
    await service().sql('select forget_run_figures(35, 800, 1000)')
    expect(await service().sql('select span from run_counts order by 1')).toEqual([{ span: 'D' }, { span: 'd' }])
    await service().sql('select forget_run_figures(35, 30, 1000)')
    expect(await service().sql('select span from run_counts')).toEqual([])
  })
})

describe('figures of many executions', () => {
  beforeAll(async () => {
    await service().sql('truncate run_counts, run_times')
  })

  test('give the percentiles of a year with an error of at most a tenth', async () => {
    await service().sql(
      `insert into run_times (workspace_id, span, at, workflow_id, measure, bucket, runs)
       select $1, 'D', date_trunc('day', now(), 'utc') - make_interval(days => d), null, 'duration', b, 10
       from generate_series(0, 364) d, unnest($2::smallint[]) b`,
      [world.workspace.uuid, [bucketOf(100), bucketOf(1_000), bucketOf(10_000)]],
    )
    const from = new Date(Date.now() - 364 * 24 * 3600 * 1000).toISOString()
    const { total } = await read(`from=${from}`)
    expect(total.duration_ms.p50 / 1_000).toBeCloseTo(1, 0)
    expect(total.duration_ms.p99 / 10_000).toBeCloseTo(1, 0)
  })
})

describe('the time an execution waited for people', () => {
  const node = (startedAt: number | null, finishedAt: number | null, type = 'approval') => ({
    id: 'n',
    type,
    status: 'succeeded' as const,
    attempt: 1,
    startedAt,
    finishedAt,
    errorCode: null,
  })
  test.each([
    ['no gate', [node(0, 50, 'set')], undefined],
    ['one gate', [node(10, 50)], 40],
    ['one gate that was open at the end', [node(10, null)], 90],
    ['two gates at the same time', [node(10, 50), node(20, 60, 'clarification')], 50],
    ['one gate within another', [node(10, 50), node(20, 30)], 40],
    ['one gate after another', [node(30, 40), node(10, 20)], 20],
    ['a gate that was kept from the execution it retries', [node(null, 50)], undefined],
  ])('is measured for: %s', (_what, nodes, expected) => {
    expect(waitedForPeople({ nodes, finishedAt: 100 })).toBe(expected)
  })
})

test('an error code that the database could not store is made storable', () => {
  expect(codeOf('out_of_stock')).toBe('out_of_stock')
  expect(codeOf(`a\0\u0007${'x'.repeat(96)}😀`)).toBe(`a  ${'x'.repeat(96)}\ufffd`)
})
