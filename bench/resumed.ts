import { setTimeout as sleep } from 'node:timers/promises'
import { median, percentile } from './database.ts'
import { openRawConnection } from './raw-connection.ts'
import { post } from './world.ts'

const QUIET_MS = 25
/** The number of executions that warm up the compiled code and the query plans. */
const WARM_UP = 200

const waiting = {
  nodes: [{ id: 'w', type: 'wait.event', args: { key: { $ref: 'input.key' }, due_in_s: 600 } }],
  edges: [],
}

/** Measures the time from the request with an event until the waiting execution has continued, on an idle system. */
export async function eventToResumed(
  base: string,
  key: string,
  times: number,
): Promise<{ p50_ms: number; p99_ms: number }> {
  const headers = { authorization: `Bearer ${key}` }
  const { workflow_id } = await post(base, '/api/workflows', key, { name: 'Waits', definition: waiting })
  const took: number[] = []
  const line = openRawConnection(base, key)
  for (let n = -WARM_UP; n < times; n += 1) {
    const input = { key: `bench ${workflow_id} ${n}` }
    const { execution_id } = await post(base, `/api/workflows/${workflow_id}/run`, key, { input })
    const at = `${base}/api/workflows/executions/${execution_id}`
    const status = async (): Promise<string> =>
      ((await (await fetch(at, { headers })).json()) as { status: string }).status
    while ((await status()) !== 'waiting') await sleep(2)
    await sleep(QUIET_MS)
    const sentAt = performance.timeOrigin + (await line.post('/api/events', { key: input.key, data: n }))
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
  line.close()
  return { p50_ms: Number(median(took).toFixed(1)), p99_ms: Number(percentile(took, 99).toFixed(1)) }
}
