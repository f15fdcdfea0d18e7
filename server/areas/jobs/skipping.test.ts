import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { canonicalText } from '#model/canonical'
import type { Json } from '#model/definition'
import { fromWire } from '#platform/ids'
import { echoWorkflow, getJob, makeDataset, makeJob, numbered, runJob } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'
import { legacyRecipeHash } from './recipe.ts'

// What a run does not repeat.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const replace = (dataset: string, records: unknown[]) =>
  world.member.call('PATCH', `/api/datasets/${dataset}`, { body: { records } })
const mapping = { size: { $ref: 'record.size' } }

describe('the next run of a job', () => {
  test('skips records with an unchanged input, even if other columns change or rows move', async () => {
    const { member } = world
    const dataset = await makeDataset(member, [
      { id: 'a', size: 1, seen: 1 },
      { id: 'b', size: 2, seen: 1 },
      { id: 'c', size: 3, seen: 1 },
    ])
    const job = await makeJob(member, {
      definition: echoWorkflow,
      dataset_id: dataset,
      mapping,
      output: { new: 'Sized' },
    })
    await runJob(member, job)
    await replace(dataset, [
      { id: 'c', size: 3, seen: 2 },
      { id: 'a', size: 10, seen: 2 },
      { id: 'b', size: 2, seen: 2 },
    ])
    const ran = await runJob(member, job)
    expect(ran.last_run.counts).toMatchObject({ succeeded: 1, skipped: 2 })
    const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}`)
    expect(output.body.records).toEqual([
      { id: 'c', size: 3, seen: 2, result: { seen: { size: 3 } } },
      { id: 'a', size: 10, seen: 2, result: { seen: { size: 10 } } },
      { id: 'b', size: 2, seen: 2, result: { seen: { size: 2 } } },
    ])
    // A condition selects records, but does not make them new.
    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { only_if: 'record.size > 2' } })
    expect((await runJob(member, job)).last_run.counts).toMatchObject({ succeeded: 0, skipped: 2, filtered: 1 })
  })

  test('distinguishes records with the same input by their key, if the job has a key column', async () => {
    const { member } = world
    const records = [
      { id: 'a', size: 1 },
      { id: 'b', size: 2 },
    ]
    const dataset = await makeDataset(member, records)
    const job = await makeJob(member, { definition: echoWorkflow, dataset_id: dataset, mapping, key: 'id' })
    await runJob(member, job)
    await replace(dataset, [{ id: 'new', size: 1 }, ...records.toReversed()])
    expect((await runJob(member, job)).last_run.counts).toMatchObject({ succeeded: 1, skipped: 2 })
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=skipped`)
    expect(body.items.map(({ key }: { key: string }) => key)).toEqual(['b', 'a'])
    const unknown = await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { key: 'nothing' } })
    expect([unknown.status, unknown.body.errors[0].path]).toEqual([422, '/key'])
  })

  test('does not repeat the work of an older release', async () => {
    const { member } = world
    const records = numbered(6).map(({ n }) => ({ n, size: n * 2 }))
    const dataset = await makeDataset(member, records)
    const job = await makeJob(member, {
      definition: echoWorkflow,
      dataset_id: dataset,
      mapping,
      output: { new: 'Kept' },
    })
    await runJob(member, job)
    const jobId = fromWire('job', job)
    const [{ sha256 }] = (await service().sql('select sha256 from job_definitions where job_id = $1', [jobId])) as [
      { sha256: string },
    ]
    const hash = (value: Json): Buffer => createHash('sha256').update(canonicalText(value)).digest()
    // The old format: stored under the whole record, and a recipe that includes the mapping.
    for (const record of records)
      await service().sql(
        'update ledger_results set recipe_sha256 = $2, record_sha256 = $3 where subject_id = $1 and record_sha256 = $4',
        [jobId, legacyRecipeHash(sha256, { mapping, only_if: null }), hash(record), hash({ size: record.size })],
      )
    await service().sql('update enrichment_jobs set legacy_ledger = true where job_id = $1', [jobId])
    await replace(dataset, [...records, { n: 7, size: 99 }])
    const ran = await runJob(member, job)
    expect(ran.last_run.counts).toMatchObject({ succeeded: 1, skipped: 6 })
    const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}`)
    expect(output.body.records[2]).toEqual({ n: 2, size: 4, result: { seen: { size: 4 } } })
    // From this point, only new records count.
    const [state] = await service().sql('select legacy_ledger from enrichment_jobs where job_id = $1', [jobId])
    expect(state).toEqual({ legacy_ledger: false })
    await replace(
      dataset,
      records.map((record) => ({ ...record, other: true })),
    )
    expect((await runJob(member, job)).last_run.counts).toMatchObject({ succeeded: 0, skipped: 6 })
  })
})

describe('a sample', () => {
  test('tries a few records and writes no output, and the whole run then does the rest', async () => {
    const { member } = world
    const dataset = await makeDataset(member, numbered(50))
    const job = await makeJob(member, {
      definition: echoWorkflow,
      dataset_id: dataset,
      only_if: 'record.n >= 10',
      output: { new: 'Sampled' },
    })
    const sampled = await runJob(member, job, { sample: 3 })
    expect(sampled.last_run).toMatchObject({ status: 'succeeded', sample: 3, counts: { succeeded: 3 } })
    expect(sampled.last_run.counts.pending).toBeGreaterThan(0)
    expect(sampled.output.dataset_id).toBeNull()
    const ran = await runJob(member, job)
    expect(ran.last_run).toMatchObject({
      sample: null,
      counts: { succeeded: 37, skipped: 3, filtered: 10, pending: 0 },
    })
    expect(ran.output.dataset_id).not.toBeNull()
    for (const sample of [0, 1.5, 1_001, '3']) {
      const wrong = await member.call('POST', `/api/enrichment-jobs/${job}/run-now`, { body: { sample } })
      expect([wrong.status, wrong.body.errors?.[0].path]).toEqual([422, '/sample'])
    }
  })
})

describe('the runs of a job', () => {
  test('can be read individually, with their records', async () => {
    const { member, stranger } = world
    const dataset = await makeDataset(member, numbered(4))
    const job = await makeJob(member, { definition: echoWorkflow, dataset_id: dataset })
    const first = await runJob(member, job)
    await replace(dataset, numbered(5))
    const second = await runJob(member, job)
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/runs?limit=1`)
    expect(body.items).toEqual([second.last_run])
    const rest = await member.call('GET', `/api/enrichment-jobs/${job}/runs?cursor=${body.next_cursor}`)
    expect([rest.body.items, rest.body.next_cursor]).toEqual([[first.last_run], null])
    const one = await member.call('GET', `/api/enrichment-jobs/${job}/runs/${first.last_run.run_id}`)
    expect(one.body).toEqual(first.last_run)
    const of = (run: string) => member.call('GET', `/api/enrichment-jobs/${job}/records?status=succeeded&run_id=${run}`)
    expect((await of(first.last_run.run_id)).body.items).toHaveLength(4)
    expect((await of(second.last_run.run_id)).body.items).toMatchObject([{ position: 4 }])

    const other = await makeJob(member, { definition: echoWorkflow, dataset_id: dataset })
    const foreign = await member.call('GET', `/api/enrichment-jobs/${other}/runs/${first.last_run.run_id}`)
    expect(foreign.status).toBe(404)
    const elsewhere = await member.call('GET', `/api/enrichment-jobs/${other}/records?run_id=${first.last_run.run_id}`)
    expect([elsewhere.status, elsewhere.body.code]).toEqual([422, 'unknown_reference'])
    expect((await stranger.call('GET', `/api/enrichment-jobs/${job}/runs`)).status).toBe(404)
  })

  test('export their records with result and error, with the columns in the original order', async () => {
    const { member } = world
    const imported = new FormData()
    imported.set('file', new Blob(['zip,name,size\r\n1,Ada,5\r\n2,"=Bob",x\r\n3,Cy,7\r\n']), 'rows.csv')
    const { body: dataset } = await member.call('POST', '/api/datasets/import?infer=true', { raw: imported })
    const job = await makeJob(member, {
      definition: { ...echoWorkflow, inputs: { type: 'object', properties: { size: { type: 'number' } } } },
      dataset_id: dataset.dataset_id,
      mapping: { size: { $ref: 'record.size' } },
      output: { new: 'Ordered' },
    })
    const ran = await runJob(member, job)
    const at = `/api/enrichment-jobs/${job}/records/export`
    const failed = await member.call('GET', `${at}?format=csv`)
    expect(failed.headers.get('content-type')).toContain('text/csv')
    const [header, row, end] = failed.text.split('\r\n')
    expect([header, end]).toEqual(['zip,name,size,result,error', ''])
    expect(row).toMatch(/^2,'=Bob,x,,"\{""code"":""invalid_input"",""message"":/)
    const lines = await member.call('GET', `${at}?status=succeeded&format=jsonl`)
    expect(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { zip: 1, name: 'Ada', size: 5, result: { seen: { size: 5 } } },
      { zip: 3, name: 'Cy', size: 7, result: { seen: { size: 7 } } },
    ])
    const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}/export?format=csv`)
    expect(output.text.split('\r\n')[0]).toBe('zip,name,size,result,error')
    // The record of a failure is kept after the dataset is replaced.
    await replace(dataset.dataset_id, [{ zip: 9 }])
    const kept = await member.call('GET', `${at}?run_id=${ran.last_run.run_id}`)
    expect(JSON.parse(kept.text)).toMatchObject({ zip: 2, name: '=Bob', error: { code: 'invalid_input' } })
    const gone = await member.call('GET', `${at}?status=succeeded`)
    expect(
      gone.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { position: 0, result: { seen: { size: 5 } } },
      { position: 2, result: { seen: { size: 7 } } },
    ])
    const none = await makeJob(member, { definition: echoWorkflow, dataset_id: dataset.dataset_id })
    expect((await member.call('GET', `/api/enrichment-jobs/${none}/records/export`)).status).toBe(404)
  })

  test('keep the settings of the job', async () => {
    const { member } = world
    const job = await makeJob(member, {
      definition: echoWorkflow,
      retry: { max_attempts: 2, backoff_s: 0 },
      max_cost: 1.5,
      max_tokens: 1000,
    })
    expect(await getJob(member, job)).toMatchObject({
      key: null,
      retry: { max_attempts: 2, backoff_s: 0, factor: 2, max_backoff_s: 60 },
      max_cost: 1.5,
      max_tokens: 1000,
    })
    const put = await member.call('PUT', `/api/enrichment-jobs/${job}`, {
      body: { retry: { factor: 3 }, max_cost: null },
    })
    expect(put.body).toMatchObject({ retry: { max_attempts: 2, factor: 3 }, max_cost: null, max_tokens: 1000 })
    const reset = await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { retry: null } })
    expect(reset.body.retry).toEqual({ max_attempts: 5, backoff_s: 0.5, factor: 2, max_backoff_s: 60 })
    for (const [path, body] of [
      ['/retry/max_attempts', { retry: { max_attempts: 0 } }],
      ['/retry/max_attempts', { retry: { max_attempts: 21 } }],
      ['/retry/backoff_s', { retry: { backoff_s: -1 } }],
      ['/max_cost', { max_cost: 0 }],
      ['/max_tokens', { max_tokens: 1.5 }],
      ['/key', { key: '' }],
    ] as const) {
      const wrong = await member.call('PUT', `/api/enrichment-jobs/${job}`, { body })
      expect([wrong.status, wrong.body.errors?.[0].path]).toEqual([422, path])
    }
  })
})
