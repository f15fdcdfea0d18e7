import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import {
  getJob,
  hurryRetries,
  makeDataset,
  makeJob,
  makeWorkflow,
  numbered,
  recipe,
  runJob,
  untilRan,
} from '#test/harness/jobs'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const slow = { nodes: [{ id: 'wait', type: 'wait', args: { for_s: 0.3 } }], edges: [], output: null }
const endless = { nodes: [{ id: 'wait', type: 'wait', args: { for_s: 3600 } }], edges: [], output: null }
/** Fails for records that say `bad`. */
const picky = {
  nodes: [
    { id: 'look', type: 'branch', args: { cases: [{ port: 'bad', when: { $cel: 'input.bad == true' } }] } },
    { id: 'boom', type: 'fail', args: { code: 'spoiled', message: 'This one is bad' } },
    { id: 'fine', type: 'set', args: { values: { ok: true } } },
  ],
  edges: [
    { from: { node: 'look', port: 'bad' }, to: 'boom' },
    { from: { node: 'look', port: 'default' }, to: 'fine' },
  ],
  output: { $ref: 'nodes.fine.output' },
}
const runNow = (job: string) => world.member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
const counts = async (job: string) =>
  (await world.member.call('GET', `/api/enrichment-jobs/${job}/records`)).body.counts

describe('a run', () => {
  test('parks a record that fails five times with its reason, and the rest go on', async () => {
    const { member } = world
    const records = numbered(40).map(({ n }) => ({ n, bad: n === 3 || n === 17 }))
    const job = await makeJob(member, {
      definition: picky,
      dataset_id: await makeDataset(member, records),
      output: { new: 'Picked' },
    })
    const ran = await runJob(member, job, {}, () => hurryRetries(service()))
    expect(ran).toMatchObject({
      status: 'idle',
      last_run: { status: 'succeeded', counts: { succeeded: 38, failed: 2 } },
    })
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed&limit=10`)
    expect(
      body.items.map(({ position, attempt, error }: never) => ({
        position,
        attempt,
        error: (error as { code: string }).code,
      })),
    ).toEqual([
      { position: 3, attempt: 5, error: 'spoiled' },
      { position: 17, attempt: 5, error: 'spoiled' },
    ])
    const [{ tries }] = (await service().sql('select count(*)::int as tries from executions where trigger_id = $1', [
      job,
    ])) as [{ tries: number }]
    expect(tries).toBe(38 + 2 * 5)
    const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}`)
    expect(output.body.records[3]).toEqual({ n: 3, bad: true, result: null })
    // The next run tries again what failed, and nothing else.
    await runNow(job)
    const tried = await until(async () => {
      const rows = await service().sql<{ position: number }>(
        `select position from ledger_records join ledger_runs r using (workspace_id, run_id)
         where r.job_id = $1 and r.run_id <> $2 and execution_id is not null order by position`,
        [fromWire('job', job), fromWire('run', ran.last_run.run_id)],
      )
      return rows.length === 2 && rows
    }, 'another try of both')
    expect(tried).toEqual([{ position: 3 }, { position: 17 }])
    await member.call('POST', `/api/enrichment-jobs/${job}/cancel`)
    const again = await untilRan(member, job, ran.last_run.run_id)
    expect(again.last_run.counts).toMatchObject({ succeeded: 0, skipped: 38 })
  }, 120_000)

  test('skips what only_if does not want, and parks what cannot be mapped without trying it', async () => {
    const { member } = world
    const definition = {
      ...recipe,
      inputs: { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] },
    }
    const job = await makeJob(member, {
      definition,
      only_if: 'record.n > 1',
      mapping: { size: { $ref: 'record.size' } },
      dataset_id: await makeDataset(member, [{ n: 1 }, { n: 2, size: 5 }, { n: 3 }, { size: 4 }]),
    })
    const ran = await runJob(member, job)
    expect(ran.last_run.counts).toMatchObject({ succeeded: 1, skipped: 1, failed: 2 })
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
    expect(body.items.map(({ error }: { error: { code: string } }) => error.code)).toEqual([
      'invalid_input',
      'only_if_failed',
    ])
  }, 60_000)

  test('ends with dataset_changed and both fingerprints when its dataset is replaced under it', async () => {
    const { member } = world
    const dataset = await makeDataset(member, numbered(60))
    const was = (await member.call('GET', `/api/datasets/${dataset}`)).body.sha256
    const job = await makeJob(member, { definition: slow, dataset_id: dataset, concurrency: 1 })
    await runNow(job)
    await until(async () => (await counts(job)).succeeded > 0, 'the first record')
    const { body } = await member.call('PATCH', `/api/datasets/${dataset}`, { body: { records: numbered(2) } })
    const ran = await untilRan(member, job)
    expect(ran.status).toBe('failed')
    expect(ran.last_run.error.code).toBe('dataset_changed')
    expect(ran.last_run.error.message).toContain(was)
    expect(ran.last_run.error.message).toContain(body.sha256)
    expect(ran.last_run.counts.succeeded).toBeLessThan(60)
  }, 120_000)

  test('refuses without a dataset, and again once its dataset was deleted, until it is bound to another', async () => {
    const { member } = world
    const job = await makeJob(member, { definition: recipe })
    expect((await runNow(job)).body.code).toBe('dataset_unbound')
    const dataset = await makeDataset(member, numbered(1))
    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { dataset_id: dataset } })
    await runJob(member, job)
    await member.call('DELETE', `/api/datasets/${dataset}`)
    expect((await getJob(member, job)).dataset_id).toBeNull()
    const refused = await runNow(job)
    expect([refused.status, refused.body.code]).toEqual([409, 'dataset_unbound'])
    await member.call('PUT', `/api/enrichment-jobs/${job}`, {
      body: { dataset_id: await makeDataset(member, numbered(1)) },
    })
    expect((await runNow(job)).status).toBe(202)
  }, 60_000)

  test('can be paused, resumed and cancelled; asked for while running, one further run follows', async () => {
    const { member } = world
    const job = await makeJob(member, {
      definition: slow,
      dataset_id: await makeDataset(member, numbered(30)),
      concurrency: 2,
    })
    await runNow(job)
    await until(async () => (await counts(job)).succeeded > 0, 'a record')
    const paused = await member.call('POST', `/api/enrichment-jobs/${job}/pause`)
    expect(paused.body).toMatchObject({ status: 'paused', paused_reason: 'manual' })
    const still = await until(async () => {
      const now = await counts(job)
      return now.running === 0 && now
    }, 'the records under way')
    expect(still.succeeded).toBeLessThan(30)
    expect((await member.call('POST', `/api/enrichment-jobs/${job}/resume`)).body.status).toBe('running')
    for (let times = 0; times < 3; times++) expect((await runNow(job)).status).toBe(202)
    const first = (await getJob(member, job)).last_run.run_id
    const second = await untilRan(member, job, first)
    expect(second.last_run.counts).toMatchObject({ skipped: 30 })
    const runs = await service().sql('select from ledger_runs where job_id = $1', [fromWire('job', job)])
    expect(runs).toHaveLength(2)

    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { definition: endless } })
    await runNow(job)
    await until(async () => (await counts(job)).running > 0, 'the endless run')
    expect((await member.call('POST', `/api/enrichment-jobs/${job}/cancel`)).status).toBe(200)
    const ended = await untilRan(member, job, second.last_run.run_id)
    expect(ended).toMatchObject({ status: 'idle', last_run: { status: 'cancelled' } })
    const again = await member.call('POST', `/api/enrichment-jobs/${job}/cancel`)
    expect([again.status, again.body.code]).toEqual([409, 'conflict'])
  }, 120_000)

  test('stops when more records fail than the job allows', async () => {
    const { member } = world
    const records = numbered(400).map(({ n }) => ({ n, size: n % 2 === 0 ? 1 : 'none' }))
    const definition = { ...recipe, inputs: { type: 'object', properties: { size: { type: 'number' } } } }
    const job = await makeJob(member, {
      definition,
      dataset_id: await makeDataset(member, records),
      stop_on_error_rate: 0.2,
      concurrency: 8,
    })
    const ran = await runJob(member, job)
    expect(ran).toMatchObject({ status: 'failed', last_run: { status: 'failed', error: { code: 'error_rate' } } })
  }, 60_000)

  test('begins by itself when its schedule says so', async () => {
    const { member } = world
    const job = await makeJob(member, {
      definition: recipe,
      dataset_id: await makeDataset(member, numbered(3)),
      schedule: { cron: '0 6 * * *', timezone: 'Europe/Amsterdam' },
    })
    const { due_at } = await getJob(member, job)
    expect(new Date(due_at).getTime()).toBeGreaterThan(Date.now())
    await service().sql(
      `update enrichment_jobs set due_at = now() + interval '300 milliseconds' where cron is not null`,
    )
    // Anyone who changes a schedule says so; then the service sleeps until exactly that time.
    await service().sql(`select pg_notify('jobs_due', '')`)
    const ran = await untilRan(member, job)
    expect(ran.last_run.counts.succeeded).toBe(3)
    expect(new Date(ran.due_at).getTime()).toBeGreaterThan(Date.now())
    for (const cron of ['0 0 31 2 *', '@daily', '2099-12-01T00:00:00']) {
      const never = await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { schedule: { cron } } })
      expect([never.status, never.body.errors?.[0].path], cron).toEqual([422, '/schedule/cron'])
    }
  }, 60_000)

  test('over a source pauses when its connection is revoked, tells the owner, and resumes with a new credential', async () => {
    const { member, owner } = world
    const connection = await member.call('POST', '/api/connections', {
      body: { name: 'Warehouse', kind: 'duckdb', config: {} },
    })
    const id = connection.body.connection_id
    const source = await member.call('POST', `/api/connections/${id}/sources`, {
      body: { name: 'Numbers', query: 'select range as n from range(7)' },
    })
    const workflow = await makeWorkflow(member)
    const job = await makeJob(member, {
      workflow_id: workflow,
      source_id: source.body.source_id,
      output: { new: 'Warehoused' },
    })
    const ran = await runJob(member, job)
    expect(ran.last_run.error).toBeNull()
    expect(ran.last_run).toMatchObject({ status: 'succeeded', total: 7, counts: { succeeded: 7 } })
    const [{ kept }] =
      (await service().sql(`select count(*)::int as kept from dataset_versions v where state = 'current'
      and not exists (select from datasets d where d.version_id = v.version_id)`)) as [{ kept: number }]
    expect(kept).toBe(0)

    await owner.call('DELETE', `/api/connections/${id}`)
    expect(await getJob(member, job)).toMatchObject({ status: 'paused', paused_reason: 'connection_revoked' })
    const told = await member.call('GET', '/api/notifications')
    expect(told.body.items.map(({ kind }: { kind: string }) => kind)).toContain('job.paused')
    // The owner of the workspace does not see the job, and hears nothing of it.
    const others = await owner.call('GET', '/api/notifications')
    expect(JSON.stringify(others.body)).not.toContain(job)
    // Nor do those who read the audit log, not even that there was one.
    const { body: log } = await owner.call('GET', '/api/audit-log')
    const entry = log.items.find(({ action }: { action: string }) => action === 'connection.revoked')
    expect(entry).toMatchObject({ subject: id, data: {} })
    expect(Object.keys(entry.data)).toEqual([])
    const refused = await runNow(job)
    expect([refused.status, refused.body.code]).toEqual([409, 'connection_revoked'])
    const rearmed = await member.call('PUT', `/api/connections/${id}/credential`, { body: { secrets: {} } })
    expect(rearmed.status, rearmed.text).toBe(200)
    expect((await getJob(member, job)).status).toBe('idle')
    expect((await runJob(member, job)).last_run.counts).toMatchObject({ skipped: 7 })
  }, 60_000)

  test('a mapping to a field that is not there, and expressions that mean nothing, are refused when saved', async () => {
    const { member } = world
    const dataset_id = await makeDataset(member, numbered(2))
    const closed = { ...recipe, inputs: { type: 'object', properties: { n: {} }, additionalProperties: false } }
    const paths = async (body: object): Promise<string[]> => {
      const answer = await member.call('POST', '/api/enrichment-jobs', { body: { name: 'Wrong', ...body } })
      expect(answer.status).toBe(422)
      return answer.body.errors.map(({ path }: { path: string }) => path)
    }
    expect(await paths({ definition: recipe, dataset_id, mapping: { a: { $ref: 'record.missing' } } })).toEqual([
      '/mapping/a',
    ])
    expect(await paths({ definition: closed, mapping: { other: 1 } })).toEqual(['/mapping/other'])
    expect(await paths({ definition: recipe, mapping: { a: { $cel: 'nodes.x' } } })).toEqual(['/mapping/a'])
    expect(await paths({ definition: recipe, only_if: 'record.n >' })).toEqual(['/only_if'])
    expect(await paths({})).toEqual(['/workflow_id'])
    expect(await paths({ definition: { nodes: [{ id: 'x', type: 'nonsense' }], edges: [] } })).toEqual([
      '/definition/nodes/0/type',
    ])
    expect(await paths({ definition: recipe, dataset_id, output: { dataset_id } })).toEqual(['/output/dataset_id'])
  })
})
