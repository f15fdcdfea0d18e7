import { type Attack, outcome, tally, times } from './attack.ts'

export const largeVersions: Attack = {
  name: 'lists.versions',
  does: '60 versions of 900 KB each, listed ten times at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const definition = (n: number) => ({
      nodes: [{ id: 'n', type: 'set', args: { values: { n, text: 'x'.repeat(900_000) } } }],
      edges: [],
    })
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition: definition(0) })
    for (const n of times(59, (index) => index + 1))
      await tenant.post(`/api/workflows/${workflow_id}/versions`, { definition: definition(n) })
    return async () => {
      const answers = await Promise.all(
        times(10, () => tenant.ask('GET', `/api/workflows/${workflow_id}/versions?limit=200`)),
      )
      const largest = Math.max(...answers.map(({ bytes }) => bytes))
      return `${tally(answers.map(outcome))}; the largest answer had ${(largest / 2 ** 20).toFixed(1)} MiB`
    }
  },
}

export const parallelReads: Attack = {
  name: 'lists.parallel',
  does: '420 GETs at once with one key, five times',
  async prepare(world) {
    const tenant = await world.tenant()
    return async () => {
      const seen: string[] = []
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all(times(420, () => tenant.ask('GET', '/api/workflows?limit=200')))
        seen.push(...answers.map(outcome))
      }
      return tally(seen)
    }
  },
}
