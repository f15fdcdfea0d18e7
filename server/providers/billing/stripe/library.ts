import { createRequire } from 'node:module'
import type Stripe from 'stripe'

const require = createRequire(import.meta.url)

/** Loads the Stripe library, which has 220 files, only if Stripe is configured. */
export const stripeLibrary = (): typeof Stripe => require('stripe') as typeof Stripe
