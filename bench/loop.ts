import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startTestEngine } from '#engine/testing'
import type { Definition, JsonObject } from '#model/definition'
import { median, startBenchDatabase } from './database.ts'
import { eventToResumed } from './resumed.ts'
import { makeBenchPerson, startBenchService } from './world.ts'

// Measures the iterations of a loop per second compared with sequential items of a map, the memory of 10,000
// iterations, and the time from an event until the waiting execution has continued.

const TURNS = Number(process.env.TURNS ?? 10_000)
const TIMES = Number(process.env.TIMES ?? 100)
const ROUNDS = Number(process.env.ROUNDS ?? 3)

const database = await startBenchDatabase()
const bench = await startTestEngine(database.urls)

const body = (type: string): JsonObject => ({
  nodes: [{ id: 'b', type, args: type === 'set' ? { values: { value: 1 } } : { value: 1 } }],
  edges: [],
  output: { $ref: 'nodes.b.output' },
})
const looping = (type: string): Definition => ({
  nodes: [
    { id: 'l', type: 'loop', args: { body: body(type), until: { $cel: `turn == ${TURNS}` }, max_iterations: TURNS } },
  ],
  edges: [],
})
const mapping = (type: string): Definition => ({
  nodes: [{ id: 'm', type: 'map', args: { items: { $ref: 'input.items' }, body: body(type), concurrency: 1 } }],
  edges: [],
})

const items = Array.from({ length: TURNS }, (_, index) => index)

async function perSecond(definition: Definition): Promise<number> {
  const begun = performance.now()
  const id = await bench.run(definition, { items })
  const view = await bench.engine.waitFor(bench.workspaceId, id, 600_000)
  if (view?.status !== 'succeeded') throw new Error(JSON.stringify(view?.error))
  return (TURNS / (performance.now() - begun)) * 1000
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/**
 * Returns the live heap: without a full collection the figure is mostly garbage (63 MB were measured when 1 MB was
 * live).
 */
const heapMb = (): number => {
  collect()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

async function compare(type: string): Promise<{ turns_per_s: number; items_per_s: number; map_ratio: number }> {
  const [turns, others]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    turns.push(await perSecond(looping(type)))
    others.push(await perSecond(mapping(type)))
  }
  const [loops, maps] = [median(turns), median(others)]
  return {
    turns_per_s: Math.round(loops),
    items_per_s: Math.round(maps),
    map_ratio: Number((loops / maps).toFixed(2)),
  }
}

await perSecond(looping('set'))
const before = heapMb()
const computed = await compare('set')
const run = await compare('echo')
const grown = heapMb() - before
await bench.stop()

const { key } = await makeBenchPerson(database)
const service = await startBenchService(database)
const event = await eventToResumed(service.base, key, TIMES)
service.stop()
await new Promise((resolve) => service.child.once('exit', resolve))
const heap_grown_mb = Number(grown.toFixed(1))
console.log(JSON.stringify({ turns: TURNS, computed, run, heap_grown_mb, event_to_resumed: event }, null, 2))
await database.stop()
process.exit(0)
