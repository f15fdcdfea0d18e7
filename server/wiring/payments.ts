import type { Allowances } from '#areas/payments/allowances'
import { makePayments, type PaymentsOptions } from '#areas/payments/payments'
import type { Quotas } from '#areas/payments/quotas'
import { paymentRoutes } from '#areas/payments/routes'
import type { AccessLevelFinders } from '#platform/access/check'
import type { AnyRoute } from '#platform/http/route'

export type PaymentsWiring = {
  routes: AnyRoute[]
  accessLevels: AccessLevelFinders
  /** For every area that creates something that a plan limits. */
  quotas: Quotas
  /** For every area that uses resources of the operator. */
  allowances: Allowances
  stop(): Promise<void>
}

/** Wires bills and the limits of plans. Renewals do not run in an API server. */
export function wirePayments(options: PaymentsOptions): PaymentsWiring {
  const payments = makePayments(options)
  const stopClock = options.config.role === 'api' ? undefined : payments.clock.start()
  return {
    routes: paymentRoutes(payments),
    accessLevels: payments.accessLevels,
    quotas: payments.quotas,
    allowances: payments.allowances,
    async stop() {
      await stopClock?.()
      await payments.allowances.stop()
      await payments.quotas.stop()
    },
  }
}
