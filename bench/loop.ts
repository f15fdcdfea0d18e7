import { setTimeout as sleep } from 'node:timers/promises'
import { startTestEngine } from '#engine/testing'
import type { Definition, JsonObject } from '#model/definition'
import { median, percentile, startBenchDatabase } from './database.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// Turns of a loop a second against items of a map that go one after the other, the memory that 10,000 turns take, and the time
// from an event until the execution that waited for it has gone on.

const TURNS = Number(process.env.TURNS ?? 10_000)
const TIMES = Number(process.env.TIMES ?? 100)
const ROUNDS = Number(process.env.ROUNDS ?? 3)
const QUIET_MS = 25
const WARM_UP = 20

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

const heapMb = (): number => {
  globalThis.gc?.()
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

const waiting = {
  nodes: [{ id: 'w', type: 'wait.event', args: { key: { $ref: 'input.key' }, due_in_s: 600 } }],
  edges: [],
}

async function eventToResumed(): Promise<{ p50_ms: number; p99_ms: number }> {
  const { key } = await makeBenchPerson(database)
  const headers = { authorization: `Bearer ${key}` }
  const service = await startBenchService(database)
  const { base } = service
  const { workflow_id } = await post(base, '/api/workflows', key, { name: 'Waits', definition: waiting })
  const took: number[] = []
  for (let n = -WARM_UP; n < TIMES; n += 1) {
    const input = { key: `bench ${n}` }
    const { execution_id } = await post(base, `/api/workflows/${workflow_id}/run`, key, { input })
    const at = `${base}/api/workflows/executions/${execution_id}`
    const status = async (): Promise<string> =>
      ((await (await fetch(at, { headers })).json()) as { status: string }).status
    while ((await status()) !== 'waiting') await sleep(2)
    await sleep(QUIET_MS)
    const sentAt = performance.timeOrigin + performance.now()
    await post(base, '/api/events', key, { key: input.key, data: n })
    let received: { type: string; at: string } | undefined
    while (!received) {
      await sleep(QUIET_MS)
      const { items: events } = (await (await fetch(`${at}/events?limit=200`, { headers })).json()) as {
        items: { type: string; at: string }[]
      }
      received = events.find(({ type }) => type === 'event.received')
    }
    if (n >= 0) took.push(Date.parse(received.at) - sentAt)
  }
  service.stop()
  await new Promise((resolve) => service.child.once('exit', resolve))
  return { p50_ms: Number(median(took).toFixed(1)), p99_ms: Number(percentile(took, 99).toFixed(1)) }
}

const event = await eventToResumed()
const heap_grown_mb = Number(grown.toFixed(1))
console.log(JSON.stringify({ turns: TURNS, computed, run, heap_grown_mb, event_to_resumed: event }, null, 2))
await database.stop()
process.exit(0)
