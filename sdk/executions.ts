import type { Client } from './client.ts'
import { HeddleProblem } from './problems.ts'
import { delay } from './send.ts'
import type { Execution } from './types.generated.ts'

const finished = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])

/** Answers of a service that is busy or starts again, or of a proxy before it. */
const passing = new Set([429, 502, 503, 504])

export type WaitOptions = {
  signal?: AbortSignal
  /** `finished` (the usual), or also when it waits for a person. */
  until?: 'finished' | 'waiting'
  everyMs?: number
  /** How long a service that gives no answer is waited for; five minutes. */
  patienceMs?: number
}

/**
 * The execution once it has ended, or, with `until: 'waiting'`, once it needs somebody. It goes on over a restart of the
 * service: a caller that waits must not lose what was started.
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
