import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { makeDataset, makeWorkflow } from '#test/harness/jobs'
import type { Answer } from '#test/harness/service'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const isLarge = (more: string) => ({
  nodes: [
    { id: 'look', type: 'branch', args: { cases: [{ port: 'none', when: { $cel: 'input.size == null' } }] } },
    { id: 'fail', type: 'fail', args: { code: 'no_size', message: 'There is no size' } },
    { id: 'large', type: 'set', args: { values: { large: { $cel: `input.size ${more}` }, note: 'seen' } } },
  ],
  edges: [
    { from: { node: 'look', port: 'none' }, to: 'fail' },
    { from: { node: 'look', port: 'default' }, to: 'large' },
  ],
  output: { $ref: 'nodes.large.output' },
})
const cases = [
  { size: 12, expected: { large: true } },
  { size: 10, expected: { large: true } },
  { size: 3, expected: { large: false } },
  { size: null, expected: { large: false } },
]
const checks = [
  { kind: 'equal', expected: { $ref: 'record.expected' }, fields: ['large'] },
  { kind: 'cel', expression: 'results.note == "seen" && has(record.size)' },
]

async function run(suite: string, body: object = {}): Promise<Answer['body']> {
  const started = await world.member.call('POST', `/api/suites/${suite}/run`, { body })
  if (started.status !== 202) throw new Error(started.text)
  const path = `/api/suites/${suite}/runs/${started.body.run_id}`
  return until(async () => {
    const { body: report } = await world.member.call('GET', path)
    return report.finished_at !== null && report
  }, 'the report')
}

describe('a suite', () => {
  test('runs a workflow over every record, compares expected with actual results, and compares two versions', async () => {
    const { member } = world
    const workflow = await makeWorkflow(member, { definition: isLarge('> 10') })
    const made = await member.call('POST', `/api/workflows/${workflow}/suites`, {
      body: {
        name: 'Sizes',
        dataset_id: await makeDataset(member, cases),
        mapping: { size: { $ref: 'record.size' } },
        checks,
      },
    })
    expect(made.status).toBe(201)
    const suite = made.body.suite_id
    const first = await run(suite)
    expect(first).toMatchObject({ status: 'succeeded', total: 4, passed: 2, failed: 1, errors: 1, pass_rate: 0.5 })
    expect(first.items.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'passed',
      'failed',
      'passed',
      'error',
    ])
    expect(first.items[1].checks[0]).toEqual({
      kind: 'equal',
      passed: false,
      score: 0,
      message: 'large: expected true, got false',
    })
    expect(first.items[3].checks[0].message).toContain('no_size')

    const version = await member.call('POST', `/api/workflows/${workflow}/versions`, {
      body: { definition: isLarge('>= 10') },
    })
    const second = await run(suite, { version_id: version.body.version_id })
    expect(second).toMatchObject({ passed: 3, failed: 0, errors: 1 })
    const compared = await member.call(
      'GET',
      `/api/suites/${suite}/runs/${second.run_id}?compare=${first.run_id}&outcome=passed`,
    )
    expect(compared.body.comparison).toMatchObject({
      run_id: first.run_id,
      same_dataset: true,
      improved: 1,
      regressed: 0,
      changes: [{ position: 1, before: 'failed', after: 'passed' }],
    })
    expect(compared.body.items).toHaveLength(3)
    const listed = await member.call('GET', `/api/suites/${suite}/runs?limit=1`)
    expect(listed.body.items).toMatchObject([{ run_id: second.run_id, pass_rate: 0.75 }])
    const older = await member.call('GET', `/api/suites/${suite}/runs?cursor=${listed.body.next_cursor}`)
    expect(older.body).toMatchObject({ items: [{ run_id: first.run_id, pass_rate: 0.5 }], next_cursor: null })
  })

  test('remains without its dataset, and refuses to run until it is bound to another', async () => {
    const { member } = world
    const workflow = await makeWorkflow(member)
    const dataset = await makeDataset(member, [{ a: 1 }])
    const made = await member.call('POST', `/api/workflows/${workflow}/suites`, {
      body: { name: 'Bound', dataset_id: dataset, checks: [{ kind: 'cel', expression: 'results.seen.a == 1' }] },
    })
    const suite = made.body.suite_id
    await member.call('DELETE', `/api/datasets/${dataset}`)
    expect((await member.call('GET', `/api/suites/${suite}`)).body.dataset_id).toBeNull()
    const refused = await member.call('POST', `/api/suites/${suite}/run`)
    expect([refused.status, refused.body.code]).toEqual([409, 'dataset_unbound'])
    await member.call('PATCH', `/api/suites/${suite}`, { body: { dataset_id: await makeDataset(member, [{ a: 1 }]) } })
    expect(await run(suite)).toMatchObject({ pass_rate: 1 })
  })

  test('refuses invalid checks, datasets of another workspace, and a judge without a model', async () => {
    const { member, stranger } = world
    const workflow = await makeWorkflow(member)
    const create = (body: object) =>
      member.call('POST', `/api/workflows/${workflow}/suites`, { body: { name: 'Wrong', ...body } })
    const path = async (one: object): Promise<string> => (await create({ checks: [one] })).body.errors[0].path
    expect(await path({ kind: 'cel', expression: 'input.a' })).toBe('/checks/0/expression')
    expect(await path({ kind: 'equal' })).toBe('/checks/0/expected')
    expect(await path({ kind: 'equal', expected: { $ref: 'results.a' } })).toBe('/checks/0/expected')
    const foreign = await create({ checks, dataset_id: await makeDataset(stranger, [{ a: 1 }]) })
    expect([foreign.status, foreign.body.code]).toEqual([422, 'unknown_reference'])
    const judged = await create({
      checks: [{ kind: 'judge', instructions: 'Is it polite?' }],
      dataset_id: await makeDataset(member, [{ a: 1 }]),
    })
    const refused = await member.call('POST', `/api/suites/${judged.body.suite_id}/run`)
    expect([refused.status, refused.body.code]).toEqual([503, 'provider_not_configured'])
  })
})

describe('the system workflow dataset-profile', () => {
  test('describes the values of each column, and refuses datasets of another workspace', async () => {
    const { member, stranger } = world
    const dataset = await makeDataset(member, [
      { n: 1, city: 'Delft' },
      { n: 4, city: 'Delft' },
      { n: null, city: 'Assen' },
    ])
    const ran = await member.call('POST', '/api/workflows/system/dataset-profile/run?wait_s=60', {
      body: { input: { dataset_id: dataset } },
    })
    expect(ran.body.results).toMatchObject({ dataset_id: dataset, record_count: 3 })
    expect(ran.body.results.columns).toEqual([
      {
        name: 'city',
        types: ['string'],
        nulls: 0,
        distinct: 2,
        distinct_more: false,
        shortest: 5,
        longest: 5,
        common: [
          { value: 'Delft', count: 2 },
          { value: 'Assen', count: 1 },
        ],
      },
      {
        name: 'n',
        types: ['number'],
        nulls: 1,
        distinct: 2,
        distinct_more: false,
        min: 1,
        max: 4,
        mean: 2.5,
        common: [
          { value: 1, count: 1 },
          { value: 4, count: 1 },
        ],
      },
    ])
    const foreign = await stranger.call('POST', '/api/workflows/system/dataset-profile/run?wait_s=60', {
      body: { input: { dataset_id: dataset } },
    })
    expect(foreign.body).toMatchObject({ status: 'failed', error: { code: 'unknown_reference' } })
  })
})

describe('a run of a suite that waits', () => {
  const asking = {
    nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?', schema: { type: 'string' } } }],
    edges: [],
    output: null,
  }

  /** Starts a run of forty records, of which thirty-two are waiting. */
  async function begin(): Promise<{ workflow: string; suite: string; run: string }> {
    const { member } = world
    const workflow = await makeWorkflow(member, { definition: asking })
    const records = Array.from({ length: 40 }, (_, n) => ({ n }))
    const made = await member.call('POST', `/api/workflows/${workflow}/suites`, {
      body: {
        name: 'Asking',
        dataset_id: await makeDataset(member, records),
        checks: [{ kind: 'cel', expression: 'true' }],
      },
    })
    const suite = made.body.suite_id
    const started = await member.call('POST', `/api/suites/${suite}/run`, { body: { effects: 'live' } })
    await until(async () => (await live(workflow, 'waiting')) === 32, 'the executions to wait')
    return { workflow, suite, run: started.body.run_id }
  }
  const live = async (workflow: string, status = 'queued|running|waiting'): Promise<number> => {
    const [row] = await service().sql<{ count: number }>(
      `select count(*)::int from executions where workflow_id = $1 and status = any (string_to_array($2, '|'))`,
      [fromWire('wf', workflow), status],
    )
    return row!.count
  }

  test('is cancelled with its workflow, and starts no more executions', async () => {
    const { workflow, run } = await begin()
    const deleted = await world.member.call('DELETE', `/api/workflows/${workflow}?cancel_runs=true`)
    expect(deleted.status).toBe(204)
    const ended = await until(async () => {
      const rows = await service().sql<{ status: string }>(
        'select status from ledger_runs where run_id = $1 and finished_at is not null',
        [fromWire('run', run)],
      )
      return rows[0]
    }, 'the end of the run')
    expect(ended.status).toBe('cancelled')
    expect(await live(workflow)).toBe(0)
    const [begun] = await service().sql<{ count: number }>(
      'select count(*)::int from executions where workflow_id = $1',
      [fromWire('wf', workflow)],
    )
    expect(begun!.count).toBe(32)
  })

  test('is cancelled with its suite, and does not prevent deletion of the workflow', async () => {
    const { workflow, suite } = await begin()
    expect((await world.member.call('DELETE', `/api/suites/${suite}`)).status).toBe(204)
    await until(async () => (await live(workflow)) === 0, 'the executions to be cancelled')
    expect((await world.member.call('DELETE', `/api/workflows/${workflow}`)).status).toBe(204)
  })
})
