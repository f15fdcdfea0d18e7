import { percentile } from '../database.ts'
import { type Attack, tally, times } from './attack.ts'

const ENDLESS = {
  nodes: [{ id: 'c', type: 'code', args: { source: 'for (;;) {}', limits: { time_ms: 60_000 } } }],
  edges: [],
}
const SHORT = { nodes: [{ id: 'c', type: 'code', args: { source: 'return 1 + 1' } }], edges: [] }
const SHORT_CALLS = 200
const MAX_SHORT_P99_MS = 2_000

/** Also measures the short code of another tenant, which shares the same processes. */
export const endlessCode: Attack = {
  name: 'code.endless',
  does: 'ten tenants each run code without an end eight times at once, an eleventh runs 1 + 1',
  async prepare(world) {
    const hostile = await Promise.all(times(10, () => world.tenant()))
    const runs = await Promise.all(
      hostile.map(async (tenant) => {
        const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition: ENDLESS })
        return () => tenant.ask('POST', `/api/workflows/${workflow_id}/run`, { input: {} })
      }),
    )
    const honest = await world.tenant()
    const { workflow_id } = await honest.post('/api/workflows', { name: 'Short', definition: SHORT })
    return async () => {
      await Promise.all(runs.flatMap((run) => times(8, run)))
      const took: number[] = []
      const ends: string[] = []
      for (let n = 0; n < SHORT_CALLS; n += 1) {
        const from = performance.now()
        const { text } = await honest.ask('POST', `/api/workflows/${workflow_id}/run?wait_s=60`, { input: {} })
        took.push(performance.now() - from)
        ends.push((JSON.parse(text) as { status: string }).status)
      }
      const p99 = Math.round(percentile(took, 99))
      const said = `a short call took ${Math.round(percentile(took, 50))} ms, p99 ${p99} ms (${tally(ends)})`
      if (p99 > MAX_SHORT_P99_MS || ends.some((end) => end !== 'succeeded')) throw new Error(said)
      return said
    }
  },
}
