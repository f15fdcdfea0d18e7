import { type Attack, outcome, tally, times } from './attack.ts'

/** Twenty maps of thirty questions in one map: six hundred questions in one execution. */
const ASKING = {
  nodes: [
    {
      id: 'each',
      type: 'map',
      args: {
        items: { $ref: 'input.items' },
        concurrency: 100,
        body: {
          nodes: [
            {
              id: 'inner',
              type: 'map',
              args: {
                items: { $ref: 'input.inner' },
                concurrency: 100,
                body: {
                  nodes: [
                    { id: 'q', type: 'clarification', args: { question: 'Which?', schema: { $ref: 'input.schema' } } },
                  ],
                  edges: [],
                },
              },
            },
          ],
          edges: [],
        },
      },
    },
  ],
  edges: [],
}

type Waiting = { status: string; waiting_for: { clarification_id?: string }[] }

export const manyQuestions: Attack = {
  name: 'people.questions',
  does: 'one execution asks 600 questions in maps; all are answered at once, while the execution is read',
  async prepare(world) {
    const tenant = await world.tenant()
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition: ASKING })
    const schema = { type: 'object', description: 'x'.repeat(2_000) }
    const input = { items: times(20, (n) => n), inner: times(30, (n) => n), schema }
    return async () => {
      const { execution_id } = await tenant.post(`/api/workflows/${workflow_id}/run`, { input })
      const path = `/api/workflows/executions/${execution_id}`
      const read = async (): Promise<Waiting> => JSON.parse((await tenant.ask('GET', path)).text) as Waiting
      const said: string[] = []
      for (let round = 0; round < 60; round += 1) {
        const { status, waiting_for } = await read()
        if (status === 'succeeded' || status === 'failed') return `${status}; answers: ${tally(said)}`
        const ids = waiting_for.flatMap(({ clarification_id }) => clarification_id ?? [])
        const answers = await Promise.all(
          ids.map((clarification_id) => tenant.ask('POST', `${path}/respond`, { clarification_id, response: {} })),
        )
        said.push(...answers.map(({ status }) => String(status)))
        if (ids.length === 0) await new Promise((resolve) => setTimeout(resolve, 200))
      }
      return `it still waits; answers: ${tally(said)}`
    }
  },
}

export const manyWaits: Attack = {
  name: 'people.read',
  does: 'an execution with 500 questions of 4 KB is read 300 times and listed 100 times',
  async prepare(world) {
    const tenant = await world.tenant()
    const nodes = times(500, (n) => ({
      id: `q${n}`,
      type: 'clarification',
      args: { question: 'Which?', schema: { type: 'object', description: { $ref: 'input.text' } } },
    }))
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition: { nodes, edges: [] } })
    const input = { text: 'x'.repeat(4_000) }
    const { execution_id } = await tenant.post(`/api/workflows/${workflow_id}/run`, { input })
    const path = `/api/workflows/executions/${execution_id}`
    for (let tries = 0; tries < 100; tries += 1) {
      if ((JSON.parse((await tenant.ask('GET', path)).text) as Waiting).status === 'waiting') break
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    return async () => {
      const reads = await Promise.all(times(300, () => tenant.ask('GET', path)))
      const lists = await Promise.all(times(100, () => tenant.ask('GET', '/api/executions?limit=200')))
      return tally([...reads, ...lists].map(outcome))
    }
  },
}
