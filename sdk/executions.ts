import type { Client } from './client.ts'
import type { Execution } from './types.generated.ts'

const finished = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])

export type WaitOptions = {
  signal?: AbortSignal
  /** `finished` (the usual), or also when it waits for a person. */
  until?: 'finished' | 'waiting'
  everyMs?: number
}

/** The execution once it has ended, or, with `until: 'waiting'`, once it needs somebody. */
export async function waitForExecution(
  client: Client,
  execution_id: string,
  { signal, until = 'finished', everyMs = 500 }: WaitOptions = {},
): Promise<Execution> {
  for (let wait = 50; ; wait = Math.min(everyMs, wait * 2)) {
    const execution = await client.getExecution({ execution_id }, signal ? { signal } : {})
    if (finished.has(execution.status) || (until === 'waiting' && execution.status === 'waiting')) return execution
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, wait)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
    })
  }
}
