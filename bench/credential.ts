import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { median, startBenchDatabase } from './database.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// Measures the cost of a credential in an http.request: the same request with and without a credential, alternately, to
// a local server.

const TIMES = Number(process.env.TIMES ?? 200)
const WARM_UP = 30

const target = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true,"items":[1,2,3]}')
})
await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(target.address() as AddressInfo).port}`
process.env.HEDDLE_ALLOW_TARGETS = host

const database = await startBenchDatabase()
const { key } = await makeBenchPerson(database)
const service = await startBenchService(database)

const { credential_id } = await post(service.base, '/api/credentials', key, {
  name: 'Bench',
  kind: 'bearer',
  hosts: [host],
  secrets: { token: 'a-token-for-the-bench' },
})
const workflow = async (args: object): Promise<string> =>
  (
    await post(service.base, '/api/workflows', key, {
      name: 'Call',
      definition: { nodes: [{ id: 'n', type: 'http.request', args: { url: `http://${host}/`, ...args } }], edges: [] },
    })
  ).workflow_id!
const workflows = { without: await workflow({}), with: await workflow({ credential_id }) }

const took = { without: [] as number[], with: [] as number[] }
for (let n = -WARM_UP; n < TIMES; n += 1) {
  for (const which of ['without', 'with'] as const) {
    const begun = performance.now()
    await post(service.base, `/api/workflows/${workflows[which]}/run?wait_s=20`, key, {})
    if (n >= 0) took[which].push(performance.now() - begun)
  }
}
const p50 = { without: median(took.without), with: median(took.with) }
console.log(
  JSON.stringify(
    {
      without_ms: Number(p50.without.toFixed(2)),
      with_ms: Number(p50.with.toFixed(2)),
      costs_ms: Number((p50.with - p50.without).toFixed(2)),
    },
    null,
    2,
  ),
)
service.stop()
target.close()
await database.stop()
process.exit(0)
