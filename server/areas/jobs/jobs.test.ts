import { hash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { echoWorkflow, makeDataset, makeJob, numbered, runJob } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'
import { insertRecords } from './ledger/records.ts'
import type { Run } from './ledger/runs.ts'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

describe('an enrichment job', () => {
  test('runs its definition for every record and writes each record with its result', async () => {
    const { member } = world
    const dataset = await makeDataset(member, numbered(25))
    const job = await makeJob(member, {
      definition: echoWorkflow,
      dataset_id: dataset,
      mapping: { double: { $cel: 'record.n * 2' } },
      output: { new: 'Doubled' },
    })
    const before = await member.call('GET', `/api/enrichment-jobs/${job}/records`)
    expect(before.body).toEqual({
      run_id: null,
      total: 0,
      counts: { pending: 0, running: 0, succeeded: 0, failed: 0, skipped: 0, filtered: 0 },
      dataset_sha256: null,
    })

    const ran = await runJob(member, job)
    expect(ran.status).toBe('idle')
    expect(ran.last_run).toMatchObject({
      status: 'succeeded',
      total: 25,
      counts: { pending: 0, running: 0, succeeded: 25, failed: 0, skipped: 0, filtered: 0 },
    })
    const ledger = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=succeeded`)
    for (const { duration_ms } of ledger.body.items) expect(duration_ms).toBeGreaterThanOrEqual(0)
    const [{ backwards }] = (await service().sql(
      `select count(*)::int as backwards from executions
       where workspace_id = $1 and (finished_at < started_at or started_at < created_at)`,
      [world.workspace.uuid],
    )) as [{ backwards: number }]
    expect(backwards).toBe(0)
    const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}`)
    expect(output.body.name).toBe('Doubled')
    expect(output.body.records).toEqual(numbered(25).map(({ n }) => ({ n, result: { seen: { double: n * 2 } } })))
  })

  test('processes only new and changed records in the next run, unless a full run is requested', async () => {
    const { member } = world
    const records = numbered(1000)
    const dataset = await makeDataset(member, records)
    const job = await makeJob(member, { definition: echoWorkflow, dataset_id: dataset, output: { new: 'Out' } })
    await runJob(member, job)
    const changed = records.map(({ n }) => (n % 100 === 7 ? { n, fresh: true } : { n }))
    await member.call('PATCH', `/api/datasets/${dataset}`, { body: { records: changed } })

    const second = await runJob(member, job)
    expect(second.last_run.counts).toEqual({
      pending: 0,
      running: 0,
      succeeded: 10,
      failed: 0,
      skipped: 990,
      filtered: 0,
    })
    const output = await member.call('GET', `/api/datasets/${second.output.dataset_id}`)
    expect(output.body.records).toEqual(changed.map((record) => ({ ...record, result: { seen: record } })))

    const [{ rows }] = (await service().sql(`select count(*)::int as rows from executions where trigger_id = $1`, [
      job,
    ])) as [{ rows: number }]
    expect(rows).toBe(1010)
  })

  test('processes all records again on request, and after its recipe has changed', async () => {
    const { member } = world
    const job = await makeJob(member, { definition: echoWorkflow, dataset_id: await makeDataset(member, numbered(5)) })
    await runJob(member, job)
    expect((await runJob(member, job)).last_run.counts).toMatchObject({ succeeded: 0, skipped: 5 })
    expect((await runJob(member, job, { full: true })).last_run.counts).toMatchObject({ succeeded: 5, skipped: 0 })
    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { mapping: { only: { $ref: 'record.n' } } } })
    expect((await runJob(member, job)).last_run.counts).toMatchObject({ succeeded: 5, skipped: 0 })
  })

  test('processes each of several equal records in one run, and skips them in the next', async () => {
    const { member, workspace } = world
    const equal = [{ n: 1 }, { n: 1 }, { n: 1 }]
    const job = await makeJob(member, { definition: echoWorkflow, dataset_id: await makeDataset(member, equal) })
    const { last_run: first } = await runJob(member, job)
    expect(first.counts).toMatchObject({ succeeded: 3, skipped: 0 })

    // A large run is still being planned while its first records are processed. An equal record of the same run does
    // not count as done.
    const sha256 = hash('sha256', JSON.stringify(equal[0]), 'hex')
    const [run] = await service().sql<Run>('select * from ledger_runs where run_id = $1', [
      fromWire('run', first.run_id),
    ])
    const more = await service().db.tenant({ workspaceId: workspace.uuid, userId: null }, (tx) =>
      insertRecords(tx, run!, 3, [{ sha256, input: sha256, key: null, wanted: true, error: null, text: null }]),
    )
    expect(more).toMatchObject({ skipped: 0, failed: 0, pending: [3] })

    const { last_run: second } = await runJob(member, job)
    expect(second.counts).toMatchObject({ succeeded: 0, skipped: 3 })
  })
})
