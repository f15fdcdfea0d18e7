import { type Attack, outcome, tally, times } from './attack.ts'

// Executions of the maximum size, which are read and woken as often as possible.

const WIDE = {
  nodes: times(500, (n) => ({ id: `n${n}`, type: 'set', args: { values: { n, text: { $ref: 'input.text' } } } })),
  edges: [],
}

export const largeExecutions: Attack = {
  name: 'executions.read',
  does: 'an execution of 500 nodes with 31 KiB each is read 180 times at once and listed 100 times, and 100 of its outputs are fetched',
  async prepare(world) {
    const tenant = await world.tenant()
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition: WIDE })
    const run = await tenant.ask('POST', `/api/workflows/${workflow_id}/run?wait_s=60`, {
      input: { text: 'x'.repeat(31_000) },
    })
    const { execution_id, nodes } = JSON.parse(run.text) as {
      execution_id: string
      nodes: { output: { $blob?: string } }[]
    }
    const addresses = nodes.flatMap(({ output }) => output?.$blob ?? []).slice(-100)
    return async () => {
      const path = `/api/workflows/executions/${execution_id}`
      const reads = await Promise.all(times(180, () => tenant.ask('GET', path)))
      const lists = await Promise.all(times(100, () => tenant.ask('GET', `/api/workflows/${workflow_id}/executions`)))
      const blobs = await Promise.all(addresses.map((address) => tenant.ask('GET', address)))
      const largest = Math.max(...reads.map(({ bytes }) => bytes))
      return `${tally([...reads, ...lists, ...blobs].map(outcome))}; the largest answer had ${(largest / 2 ** 20).toFixed(1)} MiB`
    }
  },
}

export const watchedExecutions: Attack = {
  name: 'executions.watched',
  does: 'five webhook callers wait for the answer of a node behind 400 nodes with 31 KiB each, which settle one after the other',
  async prepare(world) {
    const tenant = await world.tenant()
    const nodes = times(400, (n) => ({
      id: `n${n}`,
      type: n % 20 === 19 ? 'wait' : 'set',
      args: n % 20 === 19 ? { for_s: 0.05 } : { values: { n, text: { $ref: 'input.body.text' } } },
    }))
    const edges = times(399, (n) => ({ from: { node: `n${n}` }, to: `n${n + 1}` }))
    const answer = { id: 'answer', type: 'http.respond', args: { status: 200, body: 'done' } }
    const definition = { nodes: [...nodes, answer], edges: [...edges, { from: { node: 'n399' }, to: 'answer' }] }
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition })
    const made = await tenant.post(`/api/workflows/${workflow_id}/tokens`, {
      auth: 'url',
      input: 'request',
      respond: 'node',
      respond_timeout_s: 60,
    })
    const call = async (): Promise<string> => {
      const response = await fetch(`${world.base}/api/webhooks/in/${made.token}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'x'.repeat(31_000) }),
      })
      return `${response.status} ${(await response.text()).slice(0, 60)}`
    }
    return async () => tally(await Promise.all(times(5, call)))
  },
}

export const parkedExecutions: Attack = {
  name: 'executions.woken',
  does: '40 executions that keep 56 MB each are woken by one event',
  async prepare(world) {
    const tenant = await world.tenant()
    const sets = times(8, (n) => ({
      id: `s${n}`,
      type: 'set',
      args: { values: Object.fromEntries(times(7, (v) => [`v${v}`, { $ref: 'input.big' }])) },
    }))
    const definition = {
      nodes: [
        ...sets.map((one, n) => ({ ...one, args: { values: { ...one.args.values, n } } })),
        { id: 'held', type: 'wait.event', args: { key: 'go' } },
        { id: 'rest', type: 'wait', args: { for_s: 0.5 } },
      ],
      edges: [...sets.map(({ id }) => ({ from: { node: id }, to: 'held' })), { from: { node: 'held' }, to: 'rest' }],
    }
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition })
    const input = { big: 'x'.repeat(1_000_000) }
    const isWaiting = async (id: string): Promise<boolean> =>
      (JSON.parse((await tenant.ask('GET', `/api/workflows/executions/${id}`)).text) as { status: string }).status ===
      'waiting'
    for (let made = 0; made < 40; made += 1) {
      const { execution_id } = await tenant.post(`/api/workflows/${workflow_id}/run`, { input })
      for (let tries = 0; tries < 300 && !(await isWaiting(execution_id!)); tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return async () => {
      const { text } = await tenant.ask('POST', '/api/events', { key: 'go', data: {} })
      const { woken } = JSON.parse(text) as { woken: number }
      const list = `/api/executions?status=succeeded&limit=200`
      let ended = 0
      for (let tries = 0; tries < 120 && ended < woken; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 500))
        ended = (JSON.parse((await tenant.ask('GET', list)).text) as { items: unknown[] }).items.length
      }
      return `${woken} woken, ${ended} ended`
    }
  },
}
