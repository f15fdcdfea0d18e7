import { makePayments, type PaymentsOptions } from '#areas/payments/payments'
import type { Quotas } from '#areas/payments/quotas'
import { paymentRoutes } from '#areas/payments/routes'
import type { Standings } from '#platform/access/check'
import type { AnyRoute } from '#platform/http/route'

export type PaymentsWiring = {
  routes: AnyRoute[]
  standings: Standings
  /** For every area that makes something a plan limits. */
  quotas: Quotas
  stop(): Promise<void>
}

/** Bills, and what a plan allows. Renewals run where work is done, not where requests are answered. */
export function wirePayments(options: PaymentsOptions): PaymentsWiring {
  const payments = makePayments(options)
  const stopClock = options.config.role === 'api' ? undefined : payments.clock.start()
  return {
    routes: paymentRoutes(payments),
    standings: payments.standings,
    quotas: payments.quotas,
    async stop() {
      await stopClock?.()
      await payments.quotas.stop()
    },
  }
}
