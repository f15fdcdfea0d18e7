import { createRequire } from 'node:module'
import type Stripe from 'stripe'

const require = createRequire(import.meta.url)

/** 220 files: loaded where Stripe is configured, and only there. */
export const stripeLibrary = (): typeof Stripe => require('stripe') as typeof Stripe
