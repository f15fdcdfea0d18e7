import { type Attack, runAtOnce, tally, times } from './attack.ts'

// Much computation in one step of an execution: each expression is within its own budget.

/** About 100,000 steps without any input. */
const HEAVY = `[0,1,2,3,4,5,6,7,8,9].all(a,[0,1,2,3,4,5,6,7,8,9].all(b,[0,1,2,3,4,5,6,7,8,9].all(c,[0,1,2,3,4,5,6,7,8,9].all(d,a+b+c+d>=0))))`

export const manyExpressions: Attack = {
  name: 'expressions.many',
  does: '450 sets in a row, each with a heavy expression; three empty webhook calls',
  async prepare(world) {
    const tenant = await world.tenant()
    const nodes = times(450, (n) => ({ id: `n${n}`, type: 'set', args: { values: { v: { $cel: HEAVY } } } }))
    const edges = times(449, (n) => ({ from: { node: `n${n}` }, to: `n${n + 1}` }))
    const definition = { nodes, edges }
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition })
    const { token } = await tenant.post(`/api/workflows/${workflow_id}/tokens`, {})
    const call = async (): Promise<string> => {
      const answer = await fetch(`${world.base}/api/webhooks/workflow/${workflow_id}/trigger?wait_s=60`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      })
      const { status, error } = (await answer.json()) as { status: string; error: { code: string } | null }
      return `${answer.status} ${status} ${error?.code ?? ''}`.trim()
    }
    return async () => tally(await Promise.all(times(3, call)))
  },
}

export const manyConditions: Attack = {
  name: 'expressions.conditions',
  does: 'a branch of 50 heavy cases, 20 heavy edges into one node and a heavy output, ten runs at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const sources = times(20, (n) => ({ id: `s${n}`, type: 'set', args: { values: {} } }))
    const definition = {
      nodes: [
        ...sources,
        { id: 'join', type: 'set', args: { values: {} } },
        {
          id: 'choose',
          type: 'branch',
          args: { cases: times(50, (n) => ({ port: `p${n}`, when: { $cel: `!${HEAVY}` } })) },
        },
      ],
      edges: [
        ...sources.map(({ id }) => ({ from: { node: id }, to: 'join', when: { $cel: HEAVY } })),
        { from: { node: 'join' }, to: 'choose' },
      ],
      output: { $cel: HEAVY },
    }
    return runAtOnce(tenant, definition, { count: 10 })
  },
}

export const mappedExpressions: Attack = {
  name: 'expressions.mapped',
  does: 'a map over 1,000 items with a heavy expression each, two runs at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const definition = {
      nodes: [
        {
          id: 'each',
          type: 'map',
          args: {
            items: { $ref: 'input.items' },
            concurrency: 100,
            body: { nodes: [{ id: 'v', type: 'set', args: { values: { v: { $cel: HEAVY } } } }], edges: [] },
          },
        },
      ],
      edges: [],
    }
    return runAtOnce(tenant, definition, { count: 2, input: { items: times(1_000, (n) => n) } })
  },
}

export const heavySchemas: Attack = {
  name: 'expressions.schemas',
  does: 'inputs checked against a schema that takes as much work as it may, 40 runs at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const forms = times(400, (n) => ({ type: 'object', properties: { x: { const: n } }, required: ['x'] }))
    const definition = {
      inputs: { type: 'object', properties: { xs: { type: 'array', items: { anyOf: forms } } } },
      nodes: [{ id: 'n', type: 'set', args: { values: {} } }],
      edges: [],
    }
    const input = { xs: times(230, () => ({ x: 399 })) }
    return runAtOnce(tenant, definition, { count: 40, input })
  },
}
