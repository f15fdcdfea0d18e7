import { customerEndpoints } from './customers.ts'
import type { Endpoint } from './endpoint.ts'
import { priceEndpoints } from './prices.ts'
import { subscriptionEndpoints } from './subscriptions.ts'

/** The endpoints that the service uses, each with exactly the parameters that the service may send. */
export const endpoints: Endpoint[] = [...customerEndpoints, ...priceEndpoints, ...subscriptionEndpoints]
