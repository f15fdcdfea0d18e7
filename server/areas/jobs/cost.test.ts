import { describe, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { say, status } from '#test/fakes/llm/answers'
import { echoWorkflow, makeDataset, makeJob, makeWorkflow, numbered, runJob } from '#test/harness/jobs'
import { useServiceWithModel } from '#test/harness/model'

// The costs of a record: tokens, time, and executions of the plan.

const { model, service, world } = await useServiceWithModel('small-1')

const asking = {
  nodes: [
    { id: 'first', type: 'llm.generate', args: { prompt: { $cel: '"first " + input.name' } } },
    {
      id: 'then',
      type: 'llm.generate',
      args: { prompt: { $cel: '"then " + input.name' } },
    },
  ],
  edges: [{ from: { node: 'first' }, to: 'then' }],
  output: { $ref: 'nodes.then.output.text' },
}
const ledger = async (job: string, wanted: string) =>
  (await world().member.call('GET', `/api/enrichment-jobs/${job}/records?status=${wanted}`)).body.items

describe('a record', () => {
  test('shows the model usage of all its nodes and attempts, and its duration', async () => {
    const { member } = world()
    let failed = 0
    model.otherwise(({ messages }) => {
      if (messages.at(-1)!.text === 'then Bob' && failed++ < 3) return status(503)
      return say('ok', { input: messages.at(-1)!.text.startsWith('first') ? 100 : 7, output: 3 })
    })
    const job = await makeJob(member, {
      definition: asking,
      dataset_id: await makeDataset(member, [{ name: 'Ada' }, { name: 'Bob' }]),
    })
    await runJob(member, job)
    const [ada, bob] = await ledger(job, 'succeeded')
    expect(ada).toMatchObject({ attempt: 1, usage: { input_tokens: 107, output_tokens: 6 } })
    // The first attempt failed after the first node. Its usage is included.
    expect(bob).toMatchObject({ attempt: 2, usage: { input_tokens: 207, output_tokens: 9 } })
    expect(ada.duration_ms).toBeGreaterThanOrEqual(0)
    const plain = await makeJob(member, {
      definition: echoWorkflow,
      dataset_id: await makeDataset(member, numbered(1)),
    })
    await runJob(member, plain)
    expect((await ledger(plain, 'succeeded'))[0].usage).toBeNull()
  })

  test('shows the cost if the model has a price', async () => {
    const { member } = world()
    await service().sql(
      `insert into model_prices (model, input, output) values ('openai-compatible/small-1', 1000, 10000)`,
    )
    model.otherwise(say('ok', { input: 100, output: 10 }))
    const job = await makeJob(member, {
      definition: asking,
      dataset_id: await makeDataset(member, [{ name: 'Dee' }]),
    })
    await runJob(member, job)
    const [{ usage }] = await ledger(job, 'succeeded')
    expect(usage).toMatchObject({ input_tokens: 200, output_tokens: 20 })
    expect(usage.cost).toBeCloseTo(0.4)
    await service().sql('delete from model_prices')
  })

  test('with a sub-workflow includes the usage of the sub-workflow', async () => {
    const { member } = world()
    model.otherwise(say('ok', { input: 11, output: 2 }))
    const workflow_id = await makeWorkflow(member, { definition: asking })
    const job = await makeJob(member, {
      definition: {
        nodes: [
          {
            id: 'call',
            type: 'subworkflow',
            args: { workflow_id, input: { name: { $ref: 'input.name' } } },
          },
        ],
        edges: [],
        output: { $ref: 'nodes.call.output' },
      },
      dataset_id: await makeDataset(member, [{ name: 'Cy' }]),
    })
    await runJob(member, job)
    expect((await ledger(job, 'succeeded'))[0].usage).toEqual({ input_tokens: 22, output_tokens: 4 })
  })

  test('includes the model usage inside maps, for every item and attempt, even if the map failed', async () => {
    const { member } = world()
    let failed = 0
    model.otherwise(({ messages }) => {
      const text = messages.at(-1)!.text
      if (text === 'Bob 2' && failed++ < 3) return status(503)
      return say('ok', { input: text.startsWith('Ada') ? 10 : 1000, output: 1 })
    })
    const ask = { id: 'ask', type: 'llm.generate', args: { prompt: { $cel: 'input.name + " " + string(int(item))' } } }
    const body = { nodes: [ask], edges: [], output: { $ref: 'nodes.ask.output.text' } }
    const within = {
      nodes: [{ id: 'inner', type: 'map', args: { items: { $ref: 'item' }, body, concurrency: 1 } }],
      edges: [],
      output: { $ref: 'nodes.inner.output' },
    }
    const outer = { id: 'outer', type: 'map', args: { items: [[1], [2, 3]], body: within, concurrency: 1 } }
    const job = await makeJob(member, {
      definition: { nodes: [outer], edges: [], output: { $ref: 'nodes.outer.output' } },
      dataset_id: await makeDataset(member, [{ name: 'Ada' }, { name: 'Bob' }]),
    })
    await runJob(member, job)
    const [ada, bob] = await ledger(job, 'succeeded')
    expect(ada).toMatchObject({ attempt: 1, usage: { input_tokens: 30, output_tokens: 3 } })
    // The first attempt called the model for 1 and, without success, for 2. The second attempt called it for all three.
    expect(bob).toMatchObject({ attempt: 2, usage: { input_tokens: 4000, output_tokens: 4 } })
  })

  test('is started only below the limit of the job: finished records are delivered, and the next run does the rest', async () => {
    const { member } = world()
    model.otherwise(say('ok', { input: 90, output: 10 }))
    const one = { nodes: [asking.nodes[0]], edges: [], output: { $ref: 'nodes.first.output.text' } }
    const names = numbered(12).map(({ n }) => ({ name: `n${n}` }))
    const job = await makeJob(member, {
      definition: one,
      dataset_id: await makeDataset(member, names),
      max_tokens: 700,
      output: { new: 'Capped' },
    })
    const ran = await runJob(member, job)
    expect(ran).toMatchObject({ status: 'failed', last_run: { status: 'failed', error: { code: 'cost_limit' } } })
    // Seven records reach the limit, and no record is started that would exceed it.
    expect(ran.last_run).toMatchObject({
      counts: { succeeded: 7, pending: 5 },
      usage: { input_tokens: 630, output_tokens: 70 },
    })
    const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}`)
    const results = output.body.records.map(({ result }: { result: unknown }) => result)
    expect([results.filter((result: unknown) => result === 'ok').length, results.length]).toEqual([7, 12])
    const then = await runJob(member, job)
    expect(then.last_run).toMatchObject({ status: 'succeeded', counts: { succeeded: 5, skipped: 7 } })
  })

  test('is started only while the plan allows it: the run ends with quota_exceeded, and the next run does the rest', async () => {
    const { stranger } = world()
    const plan = newId()
    await service().sql(
      `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas)
       select $1, org_id, 'Small', 0, 'eur', 'month', '{"runs_per_month": 30}' from orgs`,
      [plan],
    )
    // Requesting the usage clears the server's cache of the plan.
    await stranger.call('GET', '/api/payments/usage')
    const job = await makeJob(stranger, {
      definition: echoWorkflow,
      dataset_id: await makeDataset(stranger, numbered(100)),
    })
    const ran = await runJob(stranger, job)
    expect(ran).toMatchObject({ status: 'failed', last_run: { status: 'failed', error: { code: 'quota_exceeded' } } })
    expect(ran.last_run.counts).toEqual({ pending: 70, running: 0, succeeded: 30, failed: 0, skipped: 0, filtered: 0 })
    const told = await stranger.call('GET', '/api/notifications')
    expect(told.body.items[0]).toMatchObject({ kind: 'job.failed', data: { code: 'quota_exceeded' } })

    await service().sql(`update plans set quotas = '{}' where plan_id = $1`, [plan])
    await stranger.call('GET', '/api/payments/usage')
    const then = await runJob(stranger, job)
    expect(then.last_run.counts).toMatchObject({ succeeded: 70, skipped: 30 })
  })
})
