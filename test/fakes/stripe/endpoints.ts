import { customerEndpoints } from './customers.ts'
import type { Endpoint } from './endpoint.ts'
import { priceEndpoints } from './prices.ts'
import { subscriptionEndpoints } from './subscriptions.ts'

/** The endpoints the service uses, each with exactly the parameters it may send. */
export const endpoints: Endpoint[] = [...customerEndpoints, ...priceEndpoints, ...subscriptionEndpoints]
