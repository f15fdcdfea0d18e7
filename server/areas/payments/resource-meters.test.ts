import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { say } from '#test/fakes/llm/answers'
import { FAKE_KEY, startFakeLlm } from '#test/fakes/llm/server'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace, type TestPerson, type TestWorkspace } from '#test/harness/world'
import { makeAllowances } from './allowances.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ env: { HEDDLE_OPERATORS: 'op@example.com' } })
})
afterAll(() => service?.stop())

type Home = { owner: TestPerson; workspace: TestWorkspace }
const makeHome = async (): Promise<Home> => {
  const owner = await makePerson(service)
  return { owner, workspace: await makeWorkspace(service, owner) }
}

/** Sets the free plan of the org, which applies to all its workspaces. */
const setPlan = async (quotas: Record<string, number | null>): Promise<void> => {
  await service.sql('delete from plans')
  await service.sql(
    `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas)
     select $1, org_id, 'Free', 0, 'eur', 'month', $2 from orgs limit 1`,
    [newId(), quotas],
  )
}

async function runNodes({ owner, workspace }: Home, nodes: { id: string; type: string; args: unknown }[]) {
  const made = await owner.call('POST', '/api/workflows', {
    workspace: workspace.id,
    body: { name: 'W', definition: { nodes: nodes.map((node) => ({ ...node, on_error: 'continue' })), edges: [] } },
  })
  expect(made.status, made.text).toBe(201)
  const { body } = await owner.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, {
    workspace: workspace.id,
    body: {},
  })
  return body.nodes as { node_id: string; status: string; error?: { code: string; message: string } }[]
}

const mailTo = (id: string, to: string[]) => ({ id, type: 'mail.send', args: { to, subject: 'S', text: 'T' } })
const strangers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `stranger-${from + at}@example.net`)
const recipientsOf = async ({ workspace }: Home): Promise<number> =>
  (
    await service.sql<{ n: number }>(
      'select coalesce(sum(cardinality(recipient)), 0)::int as n from mail_outbox where workspace_id = $1',
      [workspace.uuid],
    )
  )[0]!.n

describe('mails', () => {
  test('to a thousand strangers stop at the quota of a minute, and the error names the quota', async () => {
    const home = await makeHome()
    const minuteNow = (): number => Math.floor(Date.now() / 60_000)
    const began = minuteNow()
    const nodes = await runNodes(
      home,
      Array.from({ length: 20 }, (_, at) => mailTo(`m${at}`, strangers(50, at * 50))),
    )
    const minutes = minuteNow() - began + 1
    const refused = nodes.filter(({ status }) => status === 'failed')
    expect(refused.length).toBeGreaterThanOrEqual(20 - minutes)
    expect(refused.length).toBeLessThan(20)
    expect(await recipientsOf(home)).toBe((20 - refused.length) * 50)
    for (const { error } of refused) expect(error).toMatchObject({ code: 'quota_exceeded' })
    expect(refused[0]!.error!.message).toMatch(/mails_per_minute|outside_recipients_per_day/)
  })

  test('to strangers are limited per day until an operator trusts the workspace; mails to its own members are not', async () => {
    await setPlan({ mails_per_minute: null, outside_recipients_per_day: 3 })
    const home = await makeHome()
    const send = async (to: string[]) => (await runNodes(home, [mailTo('m', to)]))[0]!
    expect((await send(strangers(2))).status).toBe('succeeded')
    expect((await send(strangers(2))).error).toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringContaining('outside_recipients_per_day'),
    })
    expect((await send([home.owner.email.toUpperCase()])).status).toBe('succeeded')
    const operator = await makePerson(service, { email: 'op@example.com' })
    const path = `/api/operations/workspaces/${home.workspace.id}/trust`
    expect((await home.owner.call('PUT', path, { body: { trusted: true } })).status).toBe(403)
    expect((await operator.call('PUT', path, { body: { trusted: true } })).status).toBe(200)
    expect((await send(strangers(9))).status).toBe('succeeded')
    expect((await operator.call('PUT', path, { body: { trusted: false } })).status).toBe(200)
    expect((await send(strangers(2))).status).toBe('failed')
    await service.sql('delete from plans')
  })
})

test('requests to external addresses are counted, including requests whose target is refused', async () => {
  await setPlan({ outgoing_requests_per_minute: 2 })
  const home = await makeHome()
  const nodes = await runNodes(
    home,
    ['a', 'b', 'c', 'd'].map((id) => ({ id, type: 'http.request', args: { url: 'http://127.0.0.1:9/' } })),
  )
  const codes = nodes.map(({ error }) => error?.code).sort()
  expect(codes).toEqual(['quota_exceeded', 'quota_exceeded', 'target_refused', 'target_refused'])
  await service.sql('delete from plans')
})

describe('the language model of the installation', () => {
  test('stops at the token quota of a workspace, and runs only models that the operator allows', async () => {
    const model = await startFakeLlm()
    model.script(say('Hi', { input: 9, output: 2 }))
    const own = await startService({
      database: service.database,
      env: {
        LLM_PROVIDER: 'openai-compatible',
        LLM_MODEL: 'fake-model',
        LLM_BASE_URL: model.baseUrl,
        LLM_API_KEY: FAKE_KEY,
      },
    })
    try {
      await setPlan({ model_tokens_per_minute: 1 })
      const owner = await makePerson(own)
      const home = { owner, workspace: await makeWorkspace(own, owner) }
      const ask = async (args: Record<string, unknown> = {}) => {
        const node = { id: 'g', type: 'llm.generate', args: { prompt: 'Hello', ...args } }
        return (await runNodes(home, [node]))[0]!
      }
      expect((await ask({ model: 'much-dearer' })).error?.code).toBe('model_not_allowed')
      expect((await ask()).status).toBe('succeeded')
      expect((await ask()).error).toMatchObject({
        code: 'quota_exceeded',
        message: expect.stringContaining('model_tokens_per_minute'),
      })
    } finally {
      await own.stop()
      await model.close()
      await service.sql('delete from plans')
    }
  })
})

describe('processor time of code', () => {
  const usedBy = async ({ owner, workspace }: Home) =>
    (await owner.call('GET', '/api/payments/usage', { workspace: workspace.id })).body.means.find(
      ({ quota }: { quota: string }) => quota === 'cpu_s_per_minute',
    )
  const busy = { id: 'c', type: 'code', args: { source: 'let n = 0; for (let i = 0; i < 1e5; i++) n += i; return n' } }

  test('is shown to the workspace that used it, with the limit of its plan or of the installation', async () => {
    await service.sql('delete from plans')
    const home = await makeHome()
    expect(await usedBy(home)).toEqual({ quota: 'cpu_s_per_minute', used: 0, limit: 60, period: 'minute' })
    const [node] = await runNodes(home, [busy])
    expect(node).toMatchObject({ status: 'succeeded' })
    // The time is written with its minute, so it is counted once, in either minute.
    await until(async () => {
      const rows = await service.sql<{ used: string }>(
        `select used from usage_counters where workspace_id = $1 and quota = 'cpu_ms_per_minute'`,
        [home.workspace.uuid],
      )
      return rows.length > 0 && Number(rows[0]!.used) > 0 ? true : undefined
    }, 'the CPU time to be recorded')
    await service.sql(
      `with gone as (delete from usage_counters where workspace_id = $1 and quota = 'cpu_ms_per_minute' returning quota)
       insert into usage_counters (workspace_id, quota, period, used)
       select distinct $1::uuid, quota, to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI'), 1500 from gone
       on conflict (workspace_id, quota, period) do update set used = excluded.used`,
      [home.workspace.uuid],
    )
    await setPlan({ cpu_s_per_minute: 5 })
    expect((await usedBy(await makeHome())).used).toBe(0)
    await until(async () => ((await usedBy(home)).limit === 5 ? true : undefined), 'the plan')
    await service.sql('delete from plans')
  })
})

describe('the counters', () => {
  test('apply across processes, reset with each period, and allow everything if unlimited', async () => {
    const { workspace } = await makeHome()
    let now = Date.UTC(2026, 0, 31, 9, 30, 59)
    const quotas = { speech_characters_per_minute: 10 }
    const options = { db: service.db, log: service.app.http.log as never, now: () => now, cpuSecondsPerMinute: 60 }
    const one = makeAllowances({ ...options, quotasOf: async () => quotas })
    const two = makeAllowances({ ...options, quotasOf: async () => quotas })
    const free = makeAllowances({ ...options, quotasOf: async () => ({ speech_characters_per_minute: null }) })
    const spend = (by: typeof one, amount: number) =>
      by.spend(workspace.uuid, 'speech_characters_per_minute', amount).then(
        () => 'spent',
        (error: { code: string }) => error.code,
      )
    expect(await spend(one, 7)).toBe('spent')
    expect(await spend(one, 4)).toBe('quota_exceeded')
    await one.flush()
    expect(await spend(two, 4)).toBe('quota_exceeded')
    expect(await spend(two, 3)).toBe('spent')
    expect(await spend(free, 1_000_000)).toBe('spent')
    now += 60_000
    const later = makeAllowances({ ...options, quotasOf: async () => quotas })
    expect(await spend(later, 10)).toBe('spent')
    for (const allowances of [one, two, free, later]) await allowances.stop()
  })
})
