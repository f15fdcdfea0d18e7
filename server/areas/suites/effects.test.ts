import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire, newId } from '#platform/ids'
import { say } from '#test/fakes/llm/answers'
import { type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { makeDataset, makeWorkflow } from '#test/harness/jobs'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

let service: Service
let vendor: Vendor
let llm: FakeLlm
let world: World

beforeAll(async () => {
  vendor = await startVendor()
  llm = await startFakeLlm()
  service = await startService({
    env: {
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'openai/gpt-4o',
      LLM_API_KEY: llm.key,
      LLM_BASE_URL: llm.baseUrl,
      HEDDLE_ALLOW_TARGETS: `${vendor.host},${new URL(llm.baseUrl).host}`,
    },
  })
  world = await makeWorld(service)
})
beforeEach(() => {
  vendor.seen.length = 0
  llm.reset()
})
afterAll(async () => {
  await service?.stop()
  await llm?.close()
  await vendor?.stop()
})

const cases = [{ name: 'Ada' }, { name: 'Bob' }, { name: 'Cem' }]

async function run(suite: string, body: object = {}): Promise<Answer['body']> {
  const started = await world.member.call('POST', `/api/suites/${suite}/run`, { body })
  expect(started.status, started.text).toBe(202)
  const path = `/api/suites/${suite}/runs/${started.body.run_id}`
  return until(async () => {
    const { body: report } = await world.member.call('GET', path)
    return report.finished_at !== null && report
  }, 'the report')
}

async function makeSuite(definition: object, checks: object[]): Promise<{ suite: string; workflow: string }> {
  const workflow = await makeWorkflow(world.member, { definition })
  const made = await world.member.call('POST', `/api/workflows/${workflow}/suites`, {
    body: { name: 'Orders', dataset_id: await makeDataset(world.member, cases), checks },
  })
  expect(made.status, made.text).toBe(201)
  return { suite: made.body.suite_id, workflow }
}

/** Posts each order to another system, with one of the posts inside a map. */
const posting = (path = '/orders') => ({
  nodes: [
    {
      id: 'post',
      type: 'http.request',
      args: { method: 'POST', url: `${vendor.url}${path}`, json: { order: { $ref: 'input.name' } } },
    },
    {
      id: 'each',
      type: 'map',
      args: {
        items: [1, 2],
        body: {
          nodes: [
            {
              id: 'line',
              type: 'http.request',
              args: { method: 'POST', url: `${vendor.url}/lines`, json: { line: { $ref: 'item' } } },
            },
          ],
        },
      },
    },
  ],
  edges: [],
  output: { status: { $ref: 'nodes.post.output.status' }, body: { $ref: 'nodes.post.output.body' } },
})
const answered = { kind: 'cel', expression: 'results.status == 200' }
const accepted = { kind: 'cel', expression: 'results.body.ok == true' }

const outcomes = (report: Answer['body']): string[] => report.items.map(({ outcome }: { outcome: string }) => outcome)

describe('the run of a suite', () => {
  test('sends nothing by default; a live run is recorded, and later runs use its recordings', async () => {
    const { suite, workflow } = await makeSuite(posting(), [answered, accepted])
    const blank = await run(suite)
    expect(vendor.seen).toEqual([])
    expect(blank).toMatchObject({ effects: 'mock', models: 'mock', passed: 0, failed: 3, score: 0.5 })
    expect(blank.items[0]).toMatchObject({
      score: 0.5,
      recorded: { answers: 0 },
      mocked: [
        { node_id: 'each[].line', type: 'http.request', reason: 'not_recorded' },
        { node_id: 'post', type: 'http.request', reason: 'not_recorded' },
      ],
    })
    const strict = await run(suite, { effects: 'pinned' })
    expect(vendor.seen).toEqual([])
    expect(outcomes(strict)).toEqual(['error', 'error', 'error'])
    expect(strict.items[0].checks[0].message).toContain('not_recorded')

    const live = await run(suite, { effects: 'live' })
    expect(vendor.seen).toHaveLength(9)
    expect(live).toMatchObject({ effects: 'live', passed: 3, score: 1 })
    expect(live.items[0]).toMatchObject({ recorded: null, mocked: [] })
    expect(live.duration_ms.p95).toBeGreaterThanOrEqual(live.duration_ms.p50)

    vendor.seen.length = 0
    for (const effects of ['mock', 'pinned']) {
      const again = await run(suite, { effects })
      expect(outcomes(again)).toEqual(['passed', 'passed', 'passed'])
      expect(again.items[2]).toMatchObject({ recorded: { answers: 2 }, mocked: [] })
    }

    // Another version calls another address, so the recordings do not match exactly.
    const version = await world.member.call('POST', `/api/workflows/${workflow}/versions`, {
      body: { definition: posting('/orders/v2') },
    })
    const { version_id } = version.body
    const moved = await run(suite, { version_id })
    expect(moved.items[0].mocked).toEqual([{ node_id: 'post', type: 'http.request', reason: 'arguments_differ' }])
    expect(outcomes(await run(suite, { version_id, effects: 'pinned' }))).toEqual(['error', 'error', 'error'])
    expect(vendor.seen).toEqual([])
  })

  test('counts recordings as storage; without free storage the run succeeds and nothing is recorded', async () => {
    const usedBytes = async (): Promise<number> => {
      const { body } = await world.owner.call('GET', '/api/payments/usage')
      return body.quotas.find(({ quota }: { quota: string }) => quota === 'storage_bytes').used
    }
    const recordings = (suite: string) =>
      service.sql<{ bytes: number }>(
        `select octet_length(coalesce(output, error)::text)::int as bytes from suite_recordings where suite_id = $1`,
        [fromWire('suite', suite)],
      )
    const { suite } = await makeSuite(posting(), [answered])
    const before = await usedBytes()
    await run(suite, { effects: 'live' })
    const kept = await recordings(suite)
    expect(kept).not.toHaveLength(0)
    await until(
      async () => (await usedBytes()) - before === kept.reduce((sum, { bytes }) => sum + bytes, 0) || undefined,
      'the bytes to be counted',
    )
    // The same recordings again use no more storage, and deleting the suite frees it.
    await run(suite, { effects: 'live' })
    expect((await world.member.call('DELETE', `/api/suites/${suite}`)).status).toBe(204)
    await until(async () => (await usedBytes()) === before || undefined, 'the storage to be freed')

    const full = await makeSuite(posting(), [answered])
    await service.sql(
      `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas)
       select $1, org_id, 'Free', 0, 'eur', 'month', jsonb_build_object('storage_bytes', $2::bigint) from orgs limit 1`,
      [newId(), before],
    )
    try {
      expect(await run(full.suite, { effects: 'live' })).toMatchObject({ passed: 3 })
      expect(await recordings(full.suite)).toEqual([])
    } finally {
      await service.sql('delete from plans')
    }
  })

  test('reports the cost of models, now and when recorded, and can call only the models live', async () => {
    const generate = (prompt: string) => ({
      nodes: [
        { id: 'ask', type: 'llm.generate', args: { prompt: { $cel: `'${prompt} ' + input.name` } } },
        { id: 'post', type: 'http.request', args: { method: 'POST', url: `${vendor.url}/said` } },
      ],
      edges: [],
      output: { $ref: 'nodes.ask.output.text' },
    })
    const { suite, workflow } = await makeSuite(generate('Greet'), [{ kind: 'cel', expression: 'results == "Hi"' }])
    llm.script(...cases.map(() => say('Hi', { input: 100_000, output: 10_000 })))
    const live = await run(suite, { effects: 'live' })
    expect(live).toMatchObject({ passed: 3, usage: { input_tokens: 300_000, output_tokens: 30_000 } })
    expect(live.usage.cost).toBeCloseTo(1.05)
    expect(live.items[0].usage.cost).toBeCloseTo(0.35)

    const replayed = await run(suite)
    expect(replayed).toMatchObject({ passed: 3, usage: {}, recorded_usage: { input_tokens: 300_000 } })
    expect(replayed.recorded_usage.cost).toBeCloseTo(1.05)
    expect(replayed.items[1].recorded.usage.cost).toBeCloseTo(0.35)
    expect(llm.asked).toHaveLength(3)

    vendor.seen.length = 0
    const version = await world.member.call('POST', `/api/workflows/${workflow}/versions`, {
      body: { definition: generate('Salute') },
    })
    llm.script(
      say('Hi', { input: 1, output: 1 }),
      say('Hi', { input: 1, output: 1 }),
      say('Yo', { input: 1, output: 1 }),
    )
    const changed = await run(suite, { version_id: version.body.version_id, models: 'live' })
    expect(changed).toMatchObject({ effects: 'mock', models: 'live', passed: 2, failed: 1, usage: { input_tokens: 3 } })
    expect(vendor.seen).toEqual([])
    expect(llm.asked).toHaveLength(6)

    const report = `/api/suites/${suite}/runs/${changed.run_id}`
    const { comparison } = (await world.member.call('GET', `${report}?compare=${live.run_id}`)).body
    expect(comparison).toMatchObject({ regressed: 1, effects: 'live', score: 1, usage: { input_tokens: 300_000 } })
    const [regression] = comparison.changes
    expect(regression).toMatchObject({ before: 'passed', after: 'failed', regressed: true, score_after: 0 })
    const link = new URL(regression.case_url)
    expect(link.pathname).toBe(`/suites/${suite}/runs/${changed.run_id}/cases/${regression.position}`)
    const side = await world.member.call('GET', `/api${link.pathname}${link.search}`)
    expect(side.body).toMatchObject({
      position: regression.position,
      run: { run_id: changed.run_id, outcome: 'failed', actual: 'Yo' },
      compared: { run_id: live.run_id, outcome: 'passed', actual: 'Hi' },
      changes: [{ path: '', before: 'Hi', after: 'Yo' }],
    })
    for (const path of ['/cases/3', '/cases/-1', '/cases/x', '/cases/99999999999'])
      expect((await world.member.call('GET', `${report}${path}`)).status).toBe(404)
    const foreign = await world.member.call('GET', `${report}/cases/0?compare=run_01kf3v6h2he3wtpk1fw5c0wz9d`)
    expect(foreign.status).toBe(422)
  })

  test('replays failures and sub-workflows of the live run', async () => {
    const child = await makeWorkflow(world.member, {
      name: 'Child',
      definition: {
        nodes: [{ id: 'n', type: 'set', args: { values: { hello: { $ref: 'input.name' } } } }],
        edges: [],
        output: { $ref: 'nodes.n.output.hello' },
      },
    })
    const definition = {
      nodes: [
        { id: 'sub', type: 'subworkflow', args: { workflow_id: child, input: { name: { $ref: 'input.name' } } } },
        { id: 'gone', type: 'http.request', on_error: 'continue', args: { url: `${vendor.url}/missing` } },
      ],
      edges: [],
      output: { said: { $ref: 'nodes.sub.output' }, gone: { $ref: 'nodes.gone.output' } },
    }
    vendor.answer = (_request, response) => response.writeHead(404).end()
    const { suite } = await makeSuite(definition, [{ kind: 'cel', expression: 'results.said == record.name' }])
    const live = await run(suite, { effects: 'live' })
    expect(live, JSON.stringify(live.items[0])).toMatchObject({ passed: 3 })
    vendor.seen.length = 0
    const again = await run(suite, { effects: 'pinned' })
    expect(vendor.seen).toEqual([])
    expect(again.items.map((item: Answer['body']) => item.actual)).toEqual(
      live.items.map((item: Answer['body']) => item.actual),
    )
  })
})
