import type { Client } from './client.ts'
import { HeddleProblem } from './problems.ts'
import { delay } from './send.ts'
import type { Execution } from './types.generated.ts'

const finished = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])

/** Status codes of a service that is busy or restarting, or of a proxy in front of it. */
const passing = new Set([429, 502, 503, 504])

export type WaitOptions = {
  signal?: AbortSignal
  /** `finished` (the default): waits for the end. `waiting`: also returns when the execution waits for a person. */
  until?: 'finished' | 'waiting'
  everyMs?: number
  /** The time to wait for a service that does not respond. The default is five minutes. */
  patienceMs?: number
}

/**
 * Returns the execution when it has ended or, with `until: 'waiting'`, when it waits for a person. Waiting continues
 * over a restart of the service, so that the caller does not lose track of the execution.
 */
export async function waitForExecution(
  client: Client,
  execution_id: string,
  { signal, until = 'finished', everyMs = 500, patienceMs = 300_000 }: WaitOptions = {},
): Promise<Execution> {
  let answeredAt = performance.now()
  for (let wait = 50; ; wait = Math.min(everyMs, wait * 2)) {
    try {
      const execution = await client.getExecution({ execution_id }, signal ? { signal } : {})
      if (finished.has(execution.status) || (until === 'waiting' && execution.status === 'waiting')) return execution
      answeredAt = performance.now()
    } catch (error) {
      const isRefused = error instanceof HeddleProblem && !passing.has(error.status)
      if (isRefused || performance.now() - answeredAt >= patienceMs) throw error
    }
    await delay(wait, signal)
  }
}
