import { type Attack, outcome, type Tenant, tally, times } from './attack.ts'

// Attacks on areas around the engine: knowledge, receipts, replays, tools for other programs, many simultaneous starts.

const until = async (isDone: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 300 && !(await isDone()); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 200))
}

/** Returns words that are all different, so that their index is as large as possible. */
const words = (count: number): string => times(count, (n) => `w${(n * 7919).toString(36)}`).join(' ')

export const largeDocuments: Attack = {
  name: 'knowledge.index',
  does: 'twelve documents of 900 KB without a paragraph are indexed, and searched with 150 words 100 times meanwhile',
  async prepare(world) {
    const tenant = await world.tenant()
    const { knowledge_id } = await tenant.post('/api/knowledge', { name: 'Hostile', language: 'german' })
    const text = words(130_000).slice(0, 900_000)
    const q = words(150).slice(0, 900)
    return async () => {
      const path = `/api/knowledge/${knowledge_id}`
      const added = await Promise.all(
        times(12, (n) => tenant.ask('POST', `${path}/documents`, { name: `D${n}`, text: `${n} ${text}` })),
      )
      const found = await Promise.all(times(100, () => tenant.ask('POST', `${path}/search`, { q, limit: 50 })))
      const waiting = async (): Promise<number> =>
        (JSON.parse((await tenant.ask('GET', path)).text) as { waiting_count: number }).waiting_count
      await until(async () => (await waiting()) === 0)
      return `added: ${tally(added.map(({ status }) => String(status)))}; searches: ${tally(found.map(outcome))}`
    }
  },
}

async function endedRuns(tenant: Tenant, definition: object, runs: { input: object }[]): Promise<string> {
  const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition })
  for (let at = 0; at < runs.length; at += 1_000)
    await tenant.ask('POST', `/api/workflows/${workflow_id}/run-batch`, { runs: runs.slice(at, at + 1_000) })
  await until(async () => {
    const { text } = await tenant.ask('GET', '/api/executions?status=queued,running&limit=1')
    return (JSON.parse(text) as { items: unknown[] }).items.length === 0
  })
  return workflow_id!
}

export const longReceipts: Attack = {
  name: 'receipts.read',
  does: 'the receipt of an execution with 6,000 items of a map is asked for 30 times at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const body = { nodes: [{ id: 's', type: 'set', args: { values: { text: 'x'.repeat(500) } } }], edges: [] }
    const definition = {
      nodes: [{ id: 'each', type: 'map', args: { items: { $ref: 'input.items' }, concurrency: 100, body } }],
      edges: [],
    }
    await endedRuns(tenant, definition, [{ input: { items: times(6_000, (n) => n) } }])
    const { text } = await tenant.ask('GET', '/api/executions?limit=1')
    const { execution_id } = (JSON.parse(text) as { items: { execution_id: string }[] }).items[0]!
    return async () => {
      const path = `/api/workflows/executions/${execution_id}/receipt`
      return tally((await Promise.all(times(30, () => tenant.ask('GET', path)))).map(outcome))
    }
  },
}

export const heavyReplays: Attack = {
  name: 'replays.many',
  does: 'twenty replays of 200 runs with 60 expressions each are asked for at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const values = Object.fromEntries(
      times(60, (n) => [`v${n}`, { $cel: `input.items.map(a, a * ${n}).filter(a, a % 3 == 0).size()` }]),
    )
    const definition = { nodes: [{ id: 's', type: 'set', args: { values } }], edges: [] }
    const items = times(200, (n) => n)
    const workflowId = await endedRuns(
      tenant,
      definition,
      times(200, () => ({ input: { items } })),
    )
    const { text } = await tenant.ask('GET', `/api/workflows/${workflowId}/versions`)
    const { version_id } = (JSON.parse(text) as { items: { version_id: string }[] }).items[0]!
    return async () => {
      const path = `/api/workflows/${workflowId}/versions/${version_id}/replay`
      const asked = await Promise.all(times(20, () => tenant.ask('POST', path, { limit: 200 })))
      const ids = asked.flatMap(({ text }) => (JSON.parse(text) as { replay_id?: string }).replay_id ?? [])
      const isDone = async (id: string): Promise<boolean> => {
        const { status } = JSON.parse((await tenant.ask('GET', `/api/replays/${id}`)).text) as { status: string }
        return status === 'succeeded' || status === 'failed'
      }
      for (const id of ids) await until(() => isDone(id))
      return tally(asked.map(({ status }) => String(status)))
    }
  },
}

export const manyTools: Attack = {
  name: 'mcp.tools',
  does: '60 workflows with input schemas of 16 KB are listed as tools 100 times at once, and a tool is called 100 times',
  async prepare(world) {
    const tenant = await world.tenant()
    const inputs = { type: 'object', description: 'x'.repeat(16_000) }
    for (const n of times(60, (at) => at))
      await tenant.post('/api/workflows', {
        name: `Tool ${n}`,
        definition: { inputs, nodes: [{ id: 's', type: 'set', args: { values: { n } } }], edges: [] },
        settings: { mcp_tool: true },
      })
    const say = (method: string, params: object) =>
      tenant.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params })
    const first = JSON.parse((await say('tools/list', {})).text) as { result: { tools: { name: string }[] } }
    const { name } = first.result.tools[0]!
    return async () => {
      const lists = await Promise.all(times(100, () => say('tools/list', {})))
      const calls = await Promise.all(times(100, () => say('tools/call', { name, arguments: {} })))
      return tally([...lists, ...calls].map(outcome))
    }
  },
}

export const manyStarts: Attack = {
  name: 'flow.batches',
  does: 'ten batches of 1,000 runs, each with a concurrency key of its own, are started and cancelled at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const { workflow_id } = await tenant.post('/api/workflows', {
      name: 'Hostile',
      definition: { nodes: [{ id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [] },
      settings: { concurrency: { key: { $cel: 'string(input.n % 500)' }, limit: 1, count: 'live' } },
    })
    return async () => {
      const starts = await Promise.all(
        times(10, (batch) =>
          tenant.ask('POST', `/api/workflows/${workflow_id}/run-batch`, {
            runs: times(1_000, (n) => ({ input: { n: batch * 1_000 + n } })),
          }),
        ),
      )
      const { text, status } = await tenant.ask('POST', '/api/executions/bulk', {
        action: 'cancel',
        filter: { workflow_id, status: ['queued', 'running', 'waiting'] },
      })
      const { bulk_id } = JSON.parse(text) as { bulk_id?: string }
      if (bulk_id === undefined) return `${tally(starts.map(outcome))}; bulk ${status} ${text.slice(0, 200)}`
      let last = ''
      await until(async () => {
        last = (await tenant.ask('GET', `/api/executions/bulk/${bulk_id}`)).text
        return (JSON.parse(last) as { status: string }).status !== 'running'
      })
      return `${tally(starts.map(({ status }) => String(status)))}; cancelled: ${last.slice(0, 160)}`
    }
  },
}
