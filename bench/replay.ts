import { setTimeout as sleep } from 'node:timers/promises'
import { startBenchDatabase } from './database.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// Measures the replay of a version with 1,000 past executions of five nodes, one of which has effects. On two cores the
// limit is 10 s.

const RUNS = Number(process.env.RUNS ?? 1_000)
const AT_ONCE = 50

const definition = (factor: number) => ({
  nodes: [
    { id: 'a', type: 'set', args: { values: { n: { $ref: 'input.n' } } } },
    { id: 'b', type: 'branch', args: { cases: [{ port: 'odd', when: { $cel: 'int(nodes.a.output.n) % 2 == 1' } }] } },
    { id: 'c', type: 'state.set', args: { key: 'last', value: { $ref: 'nodes.a.output.n' } } },
    { id: 'd', type: 'set', args: { values: { n: { $cel: `nodes.a.output.n * ${factor}.0` } } }, join: 'any' },
    { id: 'e', type: 'set', args: { values: { text: { $cel: '"n is " + string(nodes.d.output.n)' } } } },
  ],
  edges: [
    { from: { node: 'a' }, to: 'b' },
    { from: { node: 'b', port: 'odd' }, to: 'c' },
    { from: { node: 'b', port: 'default' }, to: 'd' },
    { from: { node: 'c' }, to: 'd' },
    { from: { node: 'd' }, to: 'e' },
  ],
  output: { $ref: 'nodes.e.output.text' },
})

type Report = { finished_at: string | null; same: number; different: number; unreplayable: number }

const database = await startBenchDatabase()
const { key } = await makeBenchPerson(database)
const service = await startBenchService(database)
const { base } = service
const { workflow_id } = await post(base, '/api/workflows', key, { name: 'Replayed', definition: definition(1) })
for (let n = 0; n < RUNS; n += AT_ONCE)
  await Promise.all(
    Array.from({ length: AT_ONCE }, (_, more) =>
      post(base, `/api/workflows/${workflow_id}/run?wait_s=30`, key, { input: { n: n + more } }),
    ),
  )

async function replay(factor: number): Promise<{ seconds: number; same: number; different: number }> {
  const { version_id } = await post(base, `/api/workflows/${workflow_id}/versions`, key, {
    definition: { ...definition(factor), layout: {} },
  })
  const begun = performance.now()
  const path = `/api/workflows/${workflow_id}/versions/${version_id}/replay`
  const { replay_id } = await post(base, path, key, { limit: RUNS })
  for (;;) {
    const answer = await fetch(`${base}/api/replays/${replay_id}?limit=1`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { finished_at, same, different, unreplayable } = (await answer.json()) as Report
    if (finished_at !== null) {
      if (unreplayable > 0) throw new Error(`${unreplayable} runs could not be replayed`)
      return { seconds: Number(((performance.now() - begun) / 1000).toFixed(2)), same, different }
    }
    await sleep(50)
  }
}

const unchanged = await replay(1)
const changed = await replay(2)
service.stop()
await new Promise((resolve) => service.child.once('exit', resolve))
await database.stop()
console.log(JSON.stringify({ runs: RUNS, unchanged, changed }, null, 2))
