import { SECOND } from '../clock.ts'
import { OutgoingFailure } from './failure.ts'

// Responses that are kept in memory while they arrive. The targets of one tenant could send nearly all of hundreds of
// responses and then wait, and the process would run out of memory. So if all responses together take too much, the
// slowest is given up.

const MAX_TOGETHER = 256 << 20
/** A response that arrives within this time is not given up. */
const QUICK_MS = 2 * SECOND

type Response = { bytes: number; since: number; giveUp(error: Error): void }

export type HeldResponses = {
  /** Begins a response. `giveUp` must end it with the error. */
  begin(giveUp: (error: Error) => void): { add(bytes: number): void; end(): void }
  bytes(): number
}

const tooSlow = (): OutgoingFailure =>
  new OutgoingFailure('timeout', 'the response arrived too slowly, and the memory was needed for others')

export function makeHeldResponses({
  maxTogether = MAX_TOGETHER,
  quickMs = QUICK_MS,
}: {
  maxTogether?: number
  quickMs?: number
} = {}): HeldResponses {
  const held = new Set<Response>()
  let together = 0

  const end = (response: Response): void => {
    if (held.delete(response)) together -= response.bytes
  }

  function slowest(): Response | undefined {
    const now = performance.now()
    let found: Response | undefined
    let lowest = Number.POSITIVE_INFINITY
    for (const response of held) {
      const age = now - response.since
      const rate = response.bytes / age
      if (age <= quickMs || response.bytes === 0 || rate >= lowest) continue
      found = response
      lowest = rate
    }
    return found
  }

  return {
    begin(giveUp) {
      const response: Response = { bytes: 0, since: performance.now(), giveUp }
      held.add(response)
      return {
        add(bytes) {
          if (!held.has(response)) return
          response.bytes += bytes
          together += bytes
          if (together <= maxTogether) return
          const slow = slowest()
          if (!slow) return
          end(slow)
          slow.giveUp(tooSlow())
        },
        end: () => end(response),
      }
    },
    bytes: () => together,
  }
}
