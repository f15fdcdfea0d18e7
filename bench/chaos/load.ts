import { fromWire } from '#platform/ids'

// Callers that do not give up: each start has an idempotency key and is sent until it is acknowledged.

export type Load = {
  /** Ids of the executions whose start was acknowledged. */
  acknowledged: string[]
  lastAcknowledgedAt(): number
  refusals: { unavailable: number; unreachable: number }
  /** Responses that no caller should get. */
  wrong: string[]
  /** Pauses or resumes the callers; requests in progress continue. */
  pause(paused: boolean): void
  finish(): Promise<void>
}

const AGAIN_MS = 50
const MAX_UNFINISHED = 200

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function startLoad(options: {
  /** The current address of the service. */
  base(): string
  /** Returns the number of executions that have not ended; callers wait while there are too many. */
  unfinished(): Promise<number>
  path: string
  token: string
  callers: number
  /** The pause of a caller after each start. */
  restMs: number
  seed: string
}): Load {
  const acknowledged: string[] = []
  const refusals = { unavailable: 0, unreachable: 0 }
  const wrong: string[] = []
  let next = 0
  let paused = false
  let crowded = false
  let over = false
  let lastAcknowledgedAt = performance.now()

  /** Returns the id after the start is acknowledged. Undefined after a response that does not permit a retry. */
  const startOne = async (n: number): Promise<string | undefined> => {
    for (;;) {
      let response: Response
      let text: string
      try {
        response = await fetch(options.base() + options.path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${options.token}`,
            'content-type': 'application/json',
            'idempotency-key': `${options.seed}-${n}`,
          },
          body: JSON.stringify({ n }),
        })
        text = await response.text()
      } catch {
        refusals.unreachable += 1
        await pause(AGAIN_MS)
        continue
      }
      if (response.status === 202) return fromWire('exe', JSON.parse(text).execution_id)
      if (response.status === 503 && response.headers.has('retry-after')) {
        refusals.unavailable += 1
        await pause(AGAIN_MS)
        continue
      }
      wrong.push(`${response.status} ${text}`)
      return undefined
    }
  }

  const caller = async (): Promise<void> => {
    while (!over) {
      if (paused || crowded) {
        await pause(AGAIN_MS)
        continue
      }
      next += 1
      const id = await startOne(next)
      if (id === undefined) continue
      acknowledged.push(id)
      lastAcknowledgedAt = performance.now()
      if (options.restMs > 0) await pause(options.restMs)
    }
  }

  /**
   * Limits the unfinished executions. Without a limit, the queue after a kill would measure the load, not the takeover.
   */
  const watch = async (): Promise<void> => {
    while (!over) {
      crowded = (await options.unfinished()) > MAX_UNFINISHED
      await pause(AGAIN_MS)
    }
  }

  const callers = Array.from({ length: options.callers }, caller)
  const watching = watch()
  return {
    acknowledged,
    lastAcknowledgedAt: () => lastAcknowledgedAt,
    refusals,
    wrong,
    pause: (wanted) => {
      paused = wanted
    },
    finish: async () => {
      over = true
      await Promise.all([...callers, watching])
    },
  }
}
