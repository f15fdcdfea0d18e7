import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import {
  echoWorkflow,
  getJob,
  makeDataset,
  makeJob,
  makeRetriesDue,
  makeWorkflow,
  numbered,
  runJob,
  waitForRun,
} from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

/** A vendor that responds with the status in the path. */
const vendor = createServer(({ url }, response) => response.writeHead(Number(url!.slice(1))).end('{}'))
await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
const vendorAt = `127.0.0.1:${(vendor.address() as AddressInfo).port}`

const service = useSharedService()
let world: World
beforeAll(async () => {
  service().allow(vendorAt)
  world = await makeWorld(service())
})
afterAll(() => vendor.close())

const slow = { nodes: [{ id: 'wait', type: 'wait', args: { for_s: 0.3 } }], edges: [], output: null }
const endless = { nodes: [{ id: 'wait', type: 'wait', args: { for_s: 3600 } }], edges: [], output: null }
/** Fails for records with `bad`. */
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
/** Calls the vendor, which responds with the status in the record. */
const asking = {
  nodes: [
    { id: 'ask', type: 'http.request', args: { url: { $cel: `"http://${vendorAt}/" + string(int(input.says))` } } },
    { id: 'fine', type: 'set', args: { values: { ok: true } } },
  ],
  edges: [{ from: { node: 'ask' }, to: 'fine' }],
  output: { $ref: 'nodes.fine.output' },
}
const executionsOf = async (job: string): Promise<number> =>
  (
    await service().sql<{ made: number }>('select count(*)::int as made from executions where trigger_id = $1', [job])
  )[0]!.made
const runNow = (job: string) => world.member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
const counts = async (job: string) =>
  (await world.member.call('GET', `/api/enrichment-jobs/${job}/records`)).body.counts

describe('a run', () => {
  test('retries a record that failed temporarily, keeps its failure with the reason, and continues with the rest', async () => {
    const { member } = world
    const records = numbered(40).map(({ n }) => ({ n, says: n === 3 ? 503 : n === 17 ? 422 : 200 }))
    const job = await makeJob(member, {
      definition: asking,
      dataset_id: await makeDataset(member, records),
      output: { new: 'Asked' },
      retry: { max_attempts: 3 },
    })
    const ran = await runJob(member, job, {}, () => makeRetriesDue(service()))
    expect(ran).toMatchObject({
      status: 'idle',
      last_run: { status: 'succeeded', counts: { succeeded: 38, failed: 2 } },
    })
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed&limit=10`)
    expect(body.items).toMatchObject([
      { position: 3, attempt: 3, error: { code: 'http_status' }, record: { n: 3, says: 503 } },
      { position: 17, attempt: 1, error: { code: 'http_status' }, record: { n: 17, says: 422 } },
    ])
    expect(await executionsOf(job)).toBe(38 + 3 + 1)
    const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}`)
    expect(output.body.records[3]).toMatchObject({ n: 3, says: 503, result: null, error: { code: 'http_status' } })
    expect(output.body.records[4]).toEqual({ n: 4, says: 200, result: { ok: true } })
  })

  test('does not retry a permanent failure, even in the next run, until the record or recipe changes or a retry is requested', async () => {
    const { member } = world
    const records = numbered(10).map(({ n }) => ({ n, bad: n === 3 }))
    const dataset = await makeDataset(member, records)
    const job = await makeJob(member, { definition: picky, dataset_id: dataset, output: { new: 'Picked' } })
    const first = await runJob(member, job)
    expect(first.last_run).toMatchObject({ counts: { succeeded: 9, failed: 1 }, failed_before: 0 })
    expect(await executionsOf(job)).toBe(10)

    const second = await runJob(member, job)
    expect(second.last_run).toMatchObject({ status: 'succeeded', counts: { skipped: 9, failed: 1 }, failed_before: 1 })
    expect(await executionsOf(job)).toBe(10)
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
    expect(body.items).toMatchObject([{ position: 3, attempt: 0, error: { code: 'spoiled' }, record: records[3] }])
    expect(body.items[0].execution_id).toMatch(/^exe_/)

    const asked = await member.call('POST', `/api/enrichment-jobs/${job}/retry-failed`)
    expect(asked.status).toBe(202)
    const third = await waitForRun(member, job, second.last_run.run_id)
    expect(third.last_run).toMatchObject({ retry_failed: true, counts: { skipped: 9, failed: 1 }, failed_before: 0 })
    expect(await executionsOf(job)).toBe(11)

    const changed = records.map((record) => (record.n === 3 ? { ...record, more: 1 } : record))
    await member.call('PATCH', `/api/datasets/${dataset}`, { body: { records: changed } })
    expect((await runJob(member, job)).last_run).toMatchObject({ counts: { skipped: 9, failed: 1 }, failed_before: 0 })
    expect(await executionsOf(job)).toBe(12)

    const definition = {
      ...picky,
      nodes: picky.nodes.with(1, { id: 'boom', type: 'set', args: { values: {} } } as never),
    }
    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { definition } })
    expect((await runJob(member, job)).last_run.counts).toMatchObject({ succeeded: 10, failed: 0 })
  })

  test('does not retry a failure that its node reports as permanent, with any code', async () => {
    const { member } = world
    // A job with its own definition has no workflow, and therefore no state.
    const definition = { nodes: [{ id: 'recall', type: 'state.get', args: { key: 'k' } }], edges: [], output: null }
    const job = await makeJob(member, { definition, dataset_id: await makeDataset(member, numbered(2)) })
    expect((await runJob(member, job)).last_run).toMatchObject({ counts: { failed: 2 } })
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
    expect(body.items).toMatchObject([
      { attempt: 1, error: { code: 'state_unavailable' } },
      { attempt: 1, error: { code: 'state_unavailable' } },
    ])
    expect(await executionsOf(job)).toBe(2)
    const events = await member.call('GET', `/api/workflows/executions/${body.items[0].execution_id}/events`)
    expect(events.body.items.at(-1)).toMatchObject({ type: 'execution.failed', data: { permanent: true } })
  })

  test.each(['a workflow that it calls', 'an item of a map', 'a turn of a loop'])(
    'does not retry a failure that a node inside %s reports as permanent, but retries a temporary one',
    async (where) => {
      const { member } = world
      const inner = {
        nodes: [
          { id: 'look', type: 'branch', args: { cases: [{ port: 'bad', when: { $cel: 'input.says == 0' } }] } },
          { id: 'boom', type: 'fail', args: { code: 'spoiled', message: 'This one is bad' } },
          asking.nodes[0]!,
        ],
        edges: [
          { from: { node: 'look', port: 'bad' }, to: 'boom' },
          { from: { node: 'look', port: 'default' }, to: 'ask' },
        ],
        output: null,
      }
      const called = await makeWorkflow(member, { definition: inner })
      const around: Record<string, object> = {
        'a workflow that it calls': {
          type: 'subworkflow',
          args: { workflow_id: called, input: { $ref: 'input' } },
        },
        'an item of a map': { type: 'map', args: { items: [1], body: inner } },
        'a turn of a loop': { type: 'loop', args: { until: { $cel: 'true' }, max_iterations: 2, body: inner } },
      }
      const definition = { nodes: [{ id: 'around', ...around[where] }], edges: [], output: null }
      const records = [{ says: 0 }, { says: 503 }]
      const job = await makeJob(member, {
        definition,
        dataset_id: await makeDataset(member, records),
        retry: { max_attempts: 2 },
        stop_on_error_rate: null,
      })
      await runJob(member, job, {}, () => makeRetriesDue(service()))
      const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
      expect(body.items).toMatchObject([
        { attempt: 1, error: { code: 'spoiled' }, record: records[0] },
        { attempt: 2, error: { code: 'http_status' }, record: records[1] },
      ])
      // Lists omit executions of the called workflow, like those of the records.
      const listed = async (query: string) =>
        (await member.call('GET', `/api/executions?workflow_id=${called}&${query}`)).body.items
      expect(await listed('')).toEqual([])
      if (where !== 'a workflow that it calls') return
      const kinds = (await listed('include_jobs=true')).map(
        ({ trigger }: { trigger: { kind: string } }) => trigger.kind,
      )
      expect(kinds).toEqual(['job', 'job', 'job'])
    },
    60_000,
  )

  test('filters records that do not fulfil only_if, and fails records that cannot be mapped without trying them', async () => {
    const { member } = world
    const definition = {
      ...echoWorkflow,
      inputs: { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] },
    }
    const job = await makeJob(member, {
      definition,
      only_if: 'record.n > 1',
      mapping: { size: { $ref: 'record.size' } },
      dataset_id: await makeDataset(member, [{ n: 1 }, { n: 2, size: 5 }, { n: 3 }, { size: 4 }]),
    })
    const ran = await runJob(member, job)
    expect(ran.last_run.counts).toMatchObject({ succeeded: 1, skipped: 0, filtered: 1, failed: 2, pending: 0 })
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
    expect(body.items).toMatchObject([
      { error: { code: 'invalid_input' }, record: { n: 3 } },
      { error: { code: 'only_if_failed' }, record: { size: 4 } },
    ])
    const filtered = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=filtered`)
    expect(filtered.body.items).toMatchObject([{ position: 0, status: 'filtered' }])
    // They failed before, so the next run neither counts them as new failures nor tries them.
    expect((await runJob(member, job)).last_run).toMatchObject({
      counts: { skipped: 1, filtered: 1, failed: 2 },
      failed_before: 2,
    })
  })

  test('ends with dataset_changed and both fingerprints if its dataset is replaced', async () => {
    const { member } = world
    const dataset = await makeDataset(member, numbered(60))
    const was = (await member.call('GET', `/api/datasets/${dataset}`)).body.sha256
    const job = await makeJob(member, { definition: slow, dataset_id: dataset, concurrency: 1 })
    await runNow(job)
    await until(async () => (await counts(job)).succeeded > 0, 'the first record')
    const { body } = await member.call('PATCH', `/api/datasets/${dataset}`, { body: { records: numbered(2) } })
    const ran = await waitForRun(member, job)
    expect(ran.status).toBe('failed')
    expect(ran.last_run.error.code).toBe('dataset_changed')
    expect(ran.last_run.error.message).toContain(was)
    expect(ran.last_run.error.message).toContain(body.sha256)
    expect(ran.last_run.counts.succeeded).toBeLessThan(60)
  })

  test('is refused without a dataset, and after its dataset was deleted, until the job is bound to another', async () => {
    const { member } = world
    const job = await makeJob(member, { definition: echoWorkflow })
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
  })

  test('can be paused, resumed and cancelled, and requests while it runs cause one further run', async () => {
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
    const second = await waitForRun(member, job, first)
    expect(second.last_run.counts).toMatchObject({ skipped: 30 })
    const runs = await service().sql('select from ledger_runs where job_id = $1', [fromWire('job', job)])
    expect(runs).toHaveLength(2)

    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { definition: endless } })
    await runNow(job)
    await until(async () => (await counts(job)).running > 0, 'the endless run')
    expect((await member.call('POST', `/api/enrichment-jobs/${job}/cancel`)).status).toBe(200)
    const ended = await waitForRun(member, job, second.last_run.run_id)
    expect(ended).toMatchObject({ status: 'idle', last_run: { status: 'cancelled' } })
    const again = await member.call('POST', `/api/enrichment-jobs/${job}/cancel`)
    expect([again.status, again.body.code]).toEqual([409, 'conflict'])
  })

  test('stops when more records fail than the job allows', async () => {
    const { member } = world
    const records = numbered(400).map(({ n }) => ({ n, size: n % 2 === 0 ? 1 : 'none' }))
    const definition = { ...echoWorkflow, inputs: { type: 'object', properties: { size: { type: 'number' } } } }
    const job = await makeJob(member, {
      definition,
      dataset_id: await makeDataset(member, records),
      stop_on_error_rate: 0.2,
      concurrency: 8,
      output: { new: 'Half' },
    })
    const ran = await runJob(member, job)
    expect(ran).toMatchObject({ status: 'failed', last_run: { status: 'failed', error: { code: 'error_rate' } } })
    // Succeeded records are delivered, and the others are in the output without a result.
    const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}`)
    expect(output.body.record_count).toBe(400)
    const results = output.body.records.filter(({ result }: { result: unknown }) => result !== null)
    expect(results).toHaveLength(ran.last_run.counts.succeeded)
    expect(ran.last_run.counts.succeeded).toBeGreaterThan(0)
  })

  test('continues although many records failed in earlier runs, because only first attempts count', async () => {
    const { member } = world
    const records = numbered(240).map(({ n }) => ({ n, size: n < 110 ? 'none' : 1 }))
    const definition = { ...echoWorkflow, inputs: { type: 'object', properties: { size: { type: 'number' } } } }
    const dataset = await makeDataset(member, records)
    const job = await makeJob(member, {
      definition,
      dataset_id: dataset,
      stop_on_error_rate: null,
      output: { new: 'All' },
    })
    expect((await runJob(member, job)).last_run.counts).toMatchObject({ succeeded: 130, failed: 110 })
    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { stop_on_error_rate: 0.2 } })
    await member.call('PATCH', `/api/datasets/${dataset}`, { body: { records: [...records, { n: 999, size: 1 }] } })
    const ran = await runJob(member, job)
    expect(ran.last_run).toMatchObject({ status: 'succeeded', counts: { succeeded: 1, skipped: 130, failed: 110 } })
    const again = await member.call('POST', `/api/enrichment-jobs/${job}/retry-failed`)
    expect(again.status).toBe(202)
    const retried = await waitForRun(member, job, ran.last_run.run_id)
    expect(retried.last_run).toMatchObject({ status: 'succeeded', counts: { failed: 110 }, failed_before: 0 })
  })

  test('starts automatically by its schedule', async () => {
    const { member } = world
    const job = await makeJob(member, {
      definition: echoWorkflow,
      dataset_id: await makeDataset(member, numbered(3)),
      schedule: { cron: '0 6 * * *', timezone: 'Europe/Amsterdam' },
    })
    const { due_at } = await getJob(member, job)
    expect(new Date(due_at).getTime()).toBeGreaterThan(Date.now())
    await service().sql(`update enrichment_jobs set due_at = now() + interval '300 milliseconds' where job_id = $1`, [
      fromWire('job', job),
    ])
    // A changed schedule causes a notification. Then the service sleeps exactly until that time.
    await service().sql(`select pg_notify('jobs_due', '')`)
    const ran = await waitForRun(member, job)
    expect(ran.last_run.counts.succeeded).toBe(3)
    expect(new Date(ran.due_at).getTime()).toBeGreaterThan(Date.now())
    for (const cron of ['0 0 31 2 *', '@daily', '2099-12-01T00:00:00']) {
      const never = await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { schedule: { cron } } })
      expect([never.status, never.body.errors?.[0].path], cron).toEqual([422, '/schedule/cron'])
    }
  })

  test('over a source pauses when its connection is revoked, notifies the owner, and resumes with a new credential', async () => {
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
    const [{ kept }] = (await service().sql(
      `select count(*)::int as kept from dataset_versions v where state = 'current' and workspace_id = $1
           and not exists (select from datasets d where d.version_id = v.version_id)`,
      [world.workspace.uuid],
    )) as [{ kept: number }]
    expect(kept).toBe(0)

    await owner.call('DELETE', `/api/connections/${id}`)
    expect(await getJob(member, job)).toMatchObject({ status: 'paused', paused_reason: 'connection_revoked' })
    const told = await member.call('GET', '/api/notifications')
    expect(told.body.items.map(({ kind }: { kind: string }) => kind)).toContain('job.paused')
    // The owner of the workspace cannot see the job, and gets no notification about it.
    const others = await owner.call('GET', '/api/notifications')
    expect(JSON.stringify(others.body)).not.toContain(job)
    // The audit log does not reveal the job either, not even that there was one.
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
  })

  test('is refused when the job is saved with a mapping to an unknown field or an invalid expression', async () => {
    const { member } = world
    const dataset_id = await makeDataset(member, numbered(2))
    const closed = { ...echoWorkflow, inputs: { type: 'object', properties: { n: {} }, additionalProperties: false } }
    const paths = async (body: object): Promise<string[]> => {
      const answer = await member.call('POST', '/api/enrichment-jobs', { body: { name: 'Wrong', ...body } })
      expect(answer.status).toBe(422)
      return answer.body.errors.map(({ path }: { path: string }) => path)
    }
    expect(await paths({ definition: echoWorkflow, dataset_id, mapping: { a: { $ref: 'record.missing' } } })).toEqual([
      '/mapping/a',
    ])
    expect(await paths({ definition: closed, mapping: { other: 1 } })).toEqual(['/mapping/other'])
    expect(await paths({ definition: echoWorkflow, mapping: { a: { $cel: 'nodes.x' } } })).toEqual(['/mapping/a'])
    expect(await paths({ definition: echoWorkflow, only_if: 'record.n >' })).toEqual(['/only_if'])
    expect(await paths({})).toEqual(['/workflow_id'])
    expect(await paths({ definition: { nodes: [{ id: 'x', type: 'nonsense' }], edges: [] } })).toEqual([
      '/definition/nodes/0/type',
    ])
    expect(await paths({ definition: echoWorkflow, dataset_id, output: { dataset_id } })).toEqual([
      '/output/dataset_id',
    ])
  })
})
