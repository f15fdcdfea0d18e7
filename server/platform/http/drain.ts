import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { SECOND } from '../clock.ts'

// A process leaves in steps. First it announces this: requests are still answered, and clients are asked to reconnect.
// Then it accepts no new connections. When the last request is answered, it is closed.

/** The maximum wait for a request to end. */
const END_WITHIN = 3 * SECOND
const CLOSE_IDLE_EVERY = 50

export function prepareDrain(http: FastifyInstance) {
  let isDraining = false
  http.addHook('onSend', (_request, reply, payload, done) => {
    // An open connection would be cut in the end, perhaps while the next request is on its way.
    if (isDraining) reply.header('connection', 'close')
    done(null, payload)
  })
  return {
    isDraining: () => isDraining,
    async drain(drainMs: number): Promise<void> {
      isDraining = true
      if (drainMs > 0) await delay(drainMs)
    },
    async close(): Promise<void> {
      isDraining = true
      const idle = setInterval(() => http.server.closeIdleConnections(), CLOSE_IDLE_EVERY)
      const late = setTimeout(() => http.server.closeAllConnections(), END_WITHIN)
      await http.close()
      clearInterval(idle)
      clearTimeout(late)
    },
  }
}
