import { call, echo, kind } from '#engine/testing'
import { readConfig } from '#platform/config'
import { shareConnections } from '#platform/db/connections'
import { type DatabaseUrls, openDatabase } from '#platform/db/pool'
import { listen } from '#platform/http/listen'
import { makeLogger } from '#platform/log'
import { keepHeapSmall } from '#platform/memory'
import { preferEventLoop } from '#platform/priority'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { watchLoop } from './loop-watch.ts'

// Runs the service as a separate process, for benchmarks: `node bench/service.ts URLS [role]` prints its address and
// ends with its parent. `BENCH_HEAP=default` leaves the heap size to V8, to measure what V8 would use.

preferEventLoop()
if (process.env.BENCH_HEAP !== 'default') keepHeapSmall()
const urls = JSON.parse(process.argv[2]!) as DatabaseUrls
const role = process.argv[3] ?? 'all'
const config = readConfig(
  {
    HEDDLE_RATE_LIMITS: process.env.HEDDLE_RATE_LIMITS ?? 'off',
    HEDDLE_LOG_LEVEL: 'error',
    HEDDLE_ALLOW_TARGETS: process.env.HEDDLE_ALLOW_TARGETS,
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('S3_'))),
    HEDDLE_DATA_DIR: process.env.HEDDLE_DATA_DIR ?? '/tmp/heddle-bench-service',
  },
  ['--role', role],
)
/** Reports each call to the local server of a test scenario, at most once. */
const once = kind('once', 'at_most_once', async (call) => {
  const response = await fetch(`${process.env.HEDDLE_BENCH_EFFECTS}/once`, {
    method: 'POST',
    headers: { 'idempotency-key': call.effectKey },
    body: JSON.stringify(call.args.value ?? null),
  })
  await response.text()
  return { output: call.args.value ?? null }
})

/** A node type that only the next release knows. */
const later = kind('later', 'pure', (call) => ({ output: call.args.value ?? null }))
const release = process.env.HEDDLE_BENCH_RELEASE

const log = makeLogger(process.env.HEDDLE_LOG_LEVEL ?? 'error')
const db = openDatabase({ urls, log, connections: shareConnections(config.role) })
let address = ''
const app = await makeApp({
  config,
  db,
  vault: makeVault(Buffer.alloc(32, 1)),
  log,
  baseUrl: () => address,
  kinds: [echo, call, once, ...(release === undefined ? [] : [later])],
  ...(release !== undefined && { release: Number(release) }),
})
address = await listen(app.http, { host: '127.0.0.1', port: 0 })
console.log(`listening ${address}`)
let loop: ReturnType<typeof watchLoop> | undefined
process.on('message', (message) => {
  if (message === 'watch') loop = watchLoop()
  if (message === 'watched') process.send?.({ busy_ms: loop?.stop().busiest_ms ?? 0 })
  if (message === 'memory') process.send?.({ rss: process.memoryUsage().rss, heap: process.memoryUsage().heapUsed })
})
process.on('disconnect', () => process.exit(0))
process.once('SIGTERM', async () => {
  await app.stop({ drainMs: Number(process.env.HEDDLE_DRAIN_S ?? 0) * 1000 })
  await db.close()
  process.exit(0)
})
