import { type Attack, outcome, type Tenant, tally, times } from './attack.ts'

// Attacks from outside: events that wake many executions, forms with many fields, expressions that deduplicate
// deliveries.

const waiting = (schema: object) => ({
  nodes: [{ id: 'w', type: 'wait.event', args: { key: 'go', schema } }],
  edges: [],
})

async function startAll(tenant: Tenant, workflowId: string, inputs: object[]): Promise<void> {
  for (let at = 0; at < inputs.length; at += 50)
    await Promise.all(
      inputs.slice(at, at + 50).map((input) => tenant.ask('POST', `/api/workflows/${workflowId}/run`, { input })),
    )
  for (let tries = 0; tries < 300; tries += 1) {
    const { text } = await tenant.ask('GET', '/api/executions?status=queued,running&limit=1')
    if ((JSON.parse(text) as { items: unknown[] }).items.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

export const eventFanOut: Attack = {
  name: 'events.fanout',
  does: 'an event of 20 KB wakes 1,000 executions, after one of 900 KB that is too large for them',
  async prepare(world) {
    const tenant = await world.tenant()
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition: waiting({}) })
    await startAll(
      tenant,
      workflow_id!,
      times(1_000, () => ({})),
    )
    return async () => {
      const large = await tenant.ask('POST', '/api/events', { key: 'go', data: 'x'.repeat(900_000) })
      const { status, text } = await tenant.ask('POST', '/api/events', { key: 'go', data: 'x'.repeat(20_000) })
      return `${outcome(large)}, then ${status} ${text.slice(0, 120)}`
    }
  },
}

export const eventSchemas: Attack = {
  name: 'events.schemas',
  does: '100 executions wait with schemas that take as much work as they may, each another one; ten events come at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const definition = {
      nodes: [
        {
          id: 'w',
          type: 'wait.event',
          args: { key: 'go', schema: { $ref: 'input.schema' } },
        },
      ],
      edges: [],
    }
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition })
    const forms = times(200, (n) => ({ type: 'object', properties: { x: { const: n } }, required: ['x'] }))
    const schema = (title: number) => ({ title: String(title), type: 'array', items: { anyOf: forms } })
    await startAll(
      tenant,
      workflow_id!,
      times(100, (n) => ({ schema: schema(n) })),
    )
    const data = times(230, () => ({ x: 999 }))
    return async () =>
      tally((await Promise.all(times(10, () => tenant.ask('POST', '/api/events', { key: 'go', data })))).map(outcome))
  },
}

async function makeHook(tenant: Tenant, base: string, token: object): Promise<string> {
  const definition = { nodes: [{ id: 'n', type: 'set', args: { values: {} } }], edges: [] }
  const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition })
  const made = await tenant.post(`/api/workflows/${workflow_id}/tokens`, { auth: 'url', input: 'request', ...token })
  return `${base}/api/webhooks/in/${made.token}`
}

const send = async (url: string, body: string, type: string): Promise<string> => {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })
  return outcome({ status: response.status, text: await response.text() })
}

export const largeForms: Attack = {
  name: 'webhooks.forms',
  does: 'four forms of 900 KB with one field 300,000 times, four of 15,000 parts, four with 9,000 values',
  async prepare(world) {
    const url = await makeHook(await world.tenant(), world.base, {})
    const form = 'application/x-www-form-urlencoded'
    const parts = times(15_000, (n) => `--b\r\ncontent-disposition: form-data; name="a${n}"\r\n\r\n1\r\n`).join('')
    return async () =>
      tally([
        ...(await Promise.all(times(4, () => send(url, 'a=&'.repeat(300_000), form)))),
        ...(await Promise.all(times(4, () => send(url, `${parts}--b--`, 'multipart/form-data; boundary=b')))),
        ...(await Promise.all(times(4, () => send(url, 'a=1&'.repeat(9_000), form)))),
      ])
  },
}

const HEAVY = `[0,1,2,3,4,5,6,7,8,9].all(a,[0,1,2,3,4,5,6,7,8,9].all(b,[0,1,2,3,4,5,6,7,8,9].all(c,[0,1,2,3,4,5,6,7,8,9].all(d,a+b+c+d>=0)))) ? 'a' : 'b'`

export const heavyDedupe: Attack = {
  name: 'webhooks.dedupe',
  does: '200 calls at once, each recognised by an expression that computes as long as it may',
  async prepare(world) {
    const url = await makeHook(await world.tenant(), world.base, { dedupe: { from: { $cel: HEAVY }, window_s: 60 } })
    return async () => tally(await Promise.all(times(200, () => send(url, '{}', 'application/json'))))
  },
}
