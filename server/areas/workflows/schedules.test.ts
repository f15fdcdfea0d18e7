import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
/** A schedule that never fires during the tests. */
let other: string
beforeAll(async () => {
  world = await makeWorld(service())
  const workflow = await make()
  other = `${workflow}/schedules/${(await add(workflow, { at: '2199-01-01T00:00:00Z' })).schedule_id}`
})

const told = {
  inputs: { type: 'object', properties: { region: { type: 'string' } } },
  nodes: [
    {
      id: 'a',
      type: 'set',
      args: { values: { for: { $ref: 'execution.scheduled_at' }, region: { $ref: 'input.region' } } },
    },
  ],
  edges: [],
  output: { $ref: 'nodes.a.output' },
}
const asking = { nodes: [{ id: 'q', type: 'clarification', args: { question: '?' } }], edges: [] }

async function make(definition: unknown = told): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Scheduled', definition } })
  expect(made.status, made.text).toBe(201)
  return `/api/workflows/${made.body.workflow_id}`
}
const add = async (workflow: string, body: object) => {
  const made = await world.owner.call('POST', `${workflow}/schedules`, { body })
  expect(made.status, made.text).toBe(201)
  return made.body
}
const read = async (path: string) => (await world.owner.call('GET', path)).body
const runsOf = async (workflow: string) => (await read(`${workflow}/executions`)).items
const waitingRuns = (workflow: string, count: number) =>
  until(async () => {
    const runs = await runsOf(workflow)
    const asks = runs.filter(
      ({ waiting_for }: { waiting_for: { kind: string }[] }) => waiting_for[0]?.kind === 'clarification',
    )
    return asks.length === count ? asks : undefined
  }, `${count} runs that wait`)
/**
 * Sets columns of a schedule. The scheduler polls immediately when any schedule is changed; otherwise every few
 * seconds.
 */
const set = async (schedule_id: string, columns: string) => {
  await service().sql(`update schedules set ${columns} where schedule_id = $1`, [fromWire('sch', schedule_id)])
  expect((await world.owner.call('PATCH', other, { body: { enabled: true } })).status).toBe(200)
}
/** Makes the schedule due. */
const due = (schedule_id: string) => set(schedule_id, 'next_run_at = now(), planned_at = now()')
const hourly = { cron: '0 * * * *' }

describe('the schedules of a workflow', () => {
  test('can be several; each shows its next five times; `/schedule` refers to the first with a cron pattern', async () => {
    const workflow = await make()
    await add(workflow, { every_s: 600 })
    const put = await world.owner.call('PUT', `${workflow}/schedule`, { body: { cron: '0 9 * * *' } })
    await add(workflow, { ...hourly, timezone: 'Europe/Amsterdam', input: { region: 'eu' } })
    const at = new Date(Date.now() + 86_400_000).toISOString()
    const once = await add(workflow, { at })
    expect(once).toMatchObject({ next_run_at: at, next_runs: [at], cron: null, every_s: null })
    const { items } = await read(`${workflow}/schedules`)
    expect(items).toMatchObject([
      { every_s: 600, overlap: 'allow', catch_up: 'last', enabled: true },
      { cron: '0 9 * * *', next_run_at: put.body.next_run_at },
      { cron: '0 * * * *', timezone: 'Europe/Amsterdam', input: { region: 'eu' } },
      { at },
    ])
    for (const { next_runs, next_run_at } of items.slice(0, 3)) {
      expect(next_runs).toHaveLength(5)
      expect(next_runs[0]).toBe(next_run_at)
      expect([...next_runs].sort()).toEqual(next_runs)
    }
    expect((await world.owner.call('DELETE', `${workflow}/schedule`)).status).toBe(204)
    expect((await read(`${workflow}/schedule`)).cron).toBe('0 * * * *')
  })

  test('can be changed and removed; each has one of three kinds of times; a disabled schedule has no next time', async () => {
    const workflow = await make()
    const { schedule_id } = await add(workflow, hourly)
    const path = `${workflow}/schedules/${schedule_id}`
    const patch = async (body: object) => (await world.owner.call('PATCH', path, { body })).body
    expect(await patch({ every_s: 3600, overlap: 'skip' })).toMatchObject({
      cron: null,
      every_s: 3600,
      overlap: 'skip',
    })
    expect(await patch({ enabled: false })).toMatchObject({ enabled: false, next_run_at: null, next_runs: [] })
    expect((await patch({ enabled: true })).next_runs).toHaveLength(5)
    expect((await world.owner.call('DELETE', path)).status).toBe(204)
    expect((await world.owner.call('GET', path)).status).toBe(404)
  })

  test.each([
    { body: {}, path: '/cron' },
    { body: { cron: '0 9 * * *', every_s: 60 }, path: '/cron' },
    { body: { cron: '@daily' }, path: '/cron' },
    { body: { cron: '0 0 30 2 *' }, path: '/cron' },
    { body: { every_s: 59 }, path: '/every_s' },
    { body: { at: '2020-01-01T00:00:00Z' }, path: '/at' },
    { body: { ...hourly, timezone: 'Mars/Olympus' }, path: '/timezone' },
    { body: { ...hourly, overlap: 'maybe' }, path: '/overlap' },
    { body: { ...hourly, input: { region: 7 } }, path: '/input/region' },
  ])('refuse invalid settings: $body', async ({ body, path }) => {
    const workflow = await make()
    const refused = await world.owner.call('POST', `${workflow}/schedules`, { body })
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([422, path])
    expect((await read(`${workflow}/schedules`)).items).toEqual([])
  })

  test('keep a time that has just become due when the input changes', async () => {
    const workflow = await make()
    const { schedule_id } = await add(workflow, hourly)
    await inOtherTransaction(service(), async (passing) => {
      await passing.sql('update schedules set next_run_at = now(), planned_at = now() where schedule_id = $1', [
        fromWire('sch', schedule_id),
      ])
      const body = { input: { region: 'eu' } }
      const change = world.owner.call('PATCH', `${workflow}/schedules/${schedule_id}`, { body })
      await until(() => waitsForLock(service(), '%schedules%'), 'the change')
      await passing.commit()
      expect((await change).body).toMatchObject({ input: { region: 'eu' }, enabled: true })
    })
    await until(async () => (await runsOf(workflow)).length === 1, 'the run')
  })

  test('are not found under another workflow', async () => {
    const { schedule_id } = await add(await make(), hourly)
    expect((await world.owner.call('DELETE', `${await make()}/schedules/${schedule_id}`)).status).toBe(404)
  })
})

describe('a schedule that is due', () => {
  test('gives the execution its time and its id, and moves to the next time', async () => {
    const workflow = await make()
    const { schedule_id } = await add(workflow, { ...hourly, input: { region: 'eu' } })
    await due(schedule_id)
    const run = await until(
      async () => (await runsOf(workflow)).find(({ status }: { status: string }) => status === 'succeeded'),
      'the run',
    )
    const { results, trigger, scheduled_at } = await read(`/api/workflows/executions/${run.execution_id}`)
    expect(trigger).toEqual({ kind: 'schedule', id: schedule_id })
    expect(results).toEqual({ for: scheduled_at, region: 'eu' })
    const after = await read(`${workflow}/schedules/${schedule_id}`)
    expect(after.last_execution_id).toBe(run.execution_id)
    expect(new Date(after.next_run_at).getTime()).toBeGreaterThan(Date.now())
  })

  test.each([
    { overlap: 'allow', running: 2, error: null },
    { overlap: 'skip', running: 1, error: 'The previous run had not ended, so this time was skipped.' },
    { overlap: 'cancel', running: 1, error: null },
  ])('with overlap $overlap has $running executions after the second start', async ({ overlap, running, error }) => {
    const workflow = await make(asking)
    const { schedule_id } = await add(workflow, { ...hourly, overlap })
    await due(schedule_id)
    const [first] = await waitingRuns(workflow, 1)
    const path = `${workflow}/schedules/${schedule_id}`
    const before = (await read(path)).last_run_at
    await due(schedule_id)
    await until(async () => (await read(path)).last_run_at !== before, 'the second scheduled time')
    const [newest] = await waitingRuns(workflow, running)
    expect((await read(path)).last_error).toBe(error)
    expect(newest.execution_id === first.execution_id).toBe(overlap === 'skip')
    if (overlap === 'cancel')
      await until(
        async () => (await read(`/api/workflows/executions/${first.execution_id}`)).status === 'cancelled',
        'the cancellation',
      )
  })

  test('with overlap queue starts the second execution after the first has ended', async () => {
    const workflow = await make(asking)
    const { schedule_id } = await add(workflow, { ...hourly, overlap: 'queue' })
    await due(schedule_id)
    const [first] = await waitingRuns(workflow, 1)
    await due(schedule_id)
    await until(
      async () =>
        (
          await service().sql(`select from schedules where schedule_id = $1 and next_run_at > planned_at`, [
            fromWire('sch', schedule_id),
          ])
        ).length > 0,
      'the schedule to wait',
    )
    expect(await runsOf(workflow)).toHaveLength(1)
    await world.owner.call('POST', `/api/workflows/executions/${first.execution_id}/cancel`)
    await until(
      async () => (await read(`/api/workflows/executions/${first.execution_id}`)).status === 'cancelled',
      'the end',
    )
    await set(schedule_id, 'next_run_at = now()')
    await until(async () => (await runsOf(workflow)).length === 2, 'the second execution')
  })

  test.each(['none', 'last'])('with overlap queue and catch_up %s leaves no time out', async (catch_up) => {
    const workflow = await make(asking)
    const { schedule_id } = await add(workflow, { every_s: 3600, overlap: 'queue', catch_up })
    await due(schedule_id)
    await waitingRuns(workflow, 1)
    // Three hourly times passed while the first run had not ended. The third was half an hour ago.
    await set(
      schedule_id,
      `created_at = now() - interval '5.5 hours', next_run_at = now(), planned_at = now() - interval '2.5 hours'`,
    )
    const scheduled: string[] = []
    for (let runs = 1; runs <= 4; runs += 1) {
      const [newest] = await waitingRuns(workflow, 1)
      scheduled.push(newest.scheduled_at)
      await world.owner.call('POST', `/api/workflows/executions/${newest.execution_id}/cancel`)
      if (runs === 4) break
      await until(async () => {
        await set(schedule_id, 'next_run_at = case when planned_at < now() then now() else next_run_at end')
        return (await runsOf(workflow)).length > runs
      }, 'the next execution')
    }
    const [, second, third, last] = scheduled.map((at) => new Date(at).getTime())
    expect([third! - second!, last! - third!]).toEqual([3_600_000, 3_600_000])
    expect(new Date((await read(`${workflow}/schedules/${schedule_id}`)).next_run_at).getTime()).toBe(last! + 3_600_000)
  })

  test.each([
    { catch_up: 'none', runs: 0 },
    { catch_up: 'last', runs: 1 },
    { catch_up: 'all', runs: 3 },
  ])('with catch_up $catch_up runs $runs of three missed times', async ({ catch_up, runs }) => {
    const workflow = await make()
    const { schedule_id } = await add(workflow, { every_s: 3600, catch_up })
    // The third of three hourly times was half an hour ago.
    await set(
      schedule_id,
      `created_at = now() - interval '5.5 hours', next_run_at = now() - interval '2.5 hours', planned_at = now() - interval '2.5 hours'`,
    )
    const path = `${workflow}/schedules/${schedule_id}`
    await until(async () => new Date((await read(path)).next_run_at).getTime() > Date.now(), 'the schedule to catch up')
    const found = await runsOf(workflow)
    expect(found).toHaveLength(runs)
    expect(new Set(found.map(({ scheduled_at }: { scheduled_at: string }) => scheduled_at)).size).toBe(runs)
  })
})

describe('a backfill', () => {
  const backfill = (path: string, from: string, to: string) =>
    world.owner.call('POST', `${path}/backfill`, { body: { from, to } })

  test('runs each time of the span once, even if requested twice', async () => {
    const workflow = await make()
    const { schedule_id } = await add(workflow, { cron: '0 6 * * *' })
    const path = `${workflow}/schedules/${schedule_id}`
    const first = await backfill(path, '2026-01-01T06:00:00Z', '2026-01-04T06:00:00Z')
    expect([first.status, first.body.runs?.map(({ scheduled_at }: { scheduled_at: string }) => scheduled_at)]).toEqual([
      202,
      ['2026-01-01T06:00:00.000Z', '2026-01-02T06:00:00.000Z', '2026-01-03T06:00:00.000Z'],
    ])
    expect((await backfill(path, '2026-01-01T06:00:00Z', '2026-01-04T06:00:00Z')).body).toEqual(first.body)
    expect(await runsOf(workflow)).toHaveLength(3)
    const { results } = await until(async () => {
      const one = await read(`/api/workflows/executions/${first.body.runs[0].execution_id}`)
      return one.status === 'succeeded' ? one : undefined
    }, 'the end')
    expect(results.for).toBe('2026-01-01T06:00:00.000Z')
  })

  test.each([
    ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z', '/to'],
    ['2026-01-02T00:00:00Z', '2199-01-01T00:00:00Z', '/to'],
    ['2020-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '/from'],
  ])('from %s to %s is refused', async (from, to, path) => {
    const workflow = await make()
    const { schedule_id } = await add(workflow, { cron: '0 6 * * *' })
    const refused = await backfill(`${workflow}/schedules/${schedule_id}`, from, to)
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([422, path])
    expect(await runsOf(workflow)).toEqual([])
  })
})
