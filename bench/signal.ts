import { setTimeout as sleep } from 'node:timers/promises'
import { median, percentile, startBenchDatabase } from './database.ts'
import { openRawConnection } from './raw-connection.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// Measures the time from the answer to a question until the execution has continued, on an idle system: in the process
// that received the answer, and with the answer in one process and the execution in another.

const TIMES = Number(process.env.TIMES ?? 200)
const QUIET_MS = 25
/** The first executions of a process wait for connections and query plans and are not counted. */
const WARM_UP = 20
const asking = {
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?', schema: {} } }],
  edges: [],
  output: { $ref: 'nodes.ask.output' },
}

const database = await startBenchDatabase()
const { key } = await makeBenchPerson(database)
const headers = { authorization: `Bearer ${key}` }

async function measure(api: string): Promise<{ p50_ms: number; p99_ms: number }> {
  const { workflow_id } = await post(api, '/api/workflows', key, { name: 'Asks', definition: asking })
  const took: number[] = []
  const line = openRawConnection(api, key)
  for (let n = -WARM_UP; n < TIMES; n++) {
    const { execution_id } = await post(api, `/api/workflows/${workflow_id}/run`, key, {})
    const read = async () =>
      (await (await fetch(`${api}/api/workflows/executions/${execution_id}`, { headers })).json()) as { status: string }
    while ((await read()).status !== 'waiting') await sleep(2)
    // Waits until the work of parking is complete, as it is when a person answers.
    await sleep(QUIET_MS)
    const answered = await line.post(`/api/workflows/executions/${execution_id}/respond`, { response: n })
    // Polling at once would keep the process busy that has to resume the execution.
    await sleep(QUIET_MS)
    // The time of the resumption in the journal minus the time when the answer was sent, both on the clock of this
    // machine.
    const sentAt = performance.timeOrigin + answered
    let resumed: { type: string; at: string } | undefined
    while (!resumed) {
      const { items } = (await (
        await fetch(`${api}/api/workflows/executions/${execution_id}/events?limit=200`, { headers })
      ).json()) as { items: { type: string; at: string }[] }
      resumed = items.find(({ type }) => type === 'clarification.answered')
    }
    if (n >= 0) took.push(Date.parse(resumed.at) - sentAt)
  }
  line.close()
  return { p50_ms: Number(median(took).toFixed(1)), p99_ms: Number(percentile(took, 99).toFixed(1)) }
}

const one = await startBenchService(database)
const sameProcess = await measure(one.base)
one.stop()
await new Promise((resolve) => one.child.once('exit', resolve))
const [api, worker] = [await startBenchService(database, 'api'), await startBenchService(database, 'worker')]
const twoProcesses = await measure(api.base)
console.log(JSON.stringify({ same_process: sameProcess, two_processes: twoProcesses }, null, 2))
api.stop()
worker.stop()
await database.stop()
process.exit(0)
