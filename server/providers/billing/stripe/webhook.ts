import type Stripe from 'stripe'
import { problem } from '#platform/errors'
import type { ProviderEvent, WebhookReader } from '../index.ts'

/** The maximum age of a signature, so that an intercepted webhook cannot be replayed later. */
const TOLERANCE_S = 300

/**
 * Fails closed: returns no event if the secret or the signature is missing, or if the signature is wrong or too old.
 */
export function makeWebhookReader(stripe: Stripe | null, secret: string | null): WebhookReader {
  return async (body, signature) => {
    if (stripe === null || secret === null || secret === '' || signature === undefined || signature === '')
      throw problem('bad_signature', 'Sign the request with the webhook secret of this installation.')
    try {
      const event = await stripe.webhooks.constructEventAsync(body, signature, secret, TOLERANCE_S)
      return { id: event.id, type: event.type, customerRef: customerOf(event) }
    } catch (error) {
      throw problem('bad_signature', 'The signature does not match, or is older than 300 seconds.', { cause: error })
    }
  }
}

/** Returns the customer of the event. Nothing else of the event is used; the current state is read from Stripe. */
function customerOf(event: Stripe.Event): ProviderEvent['customerRef'] {
  const object = event.data.object as { object?: string; id?: string; customer?: string | { id: string } | null }
  if (object.object === 'customer') return object.id ?? null
  // A detached method no longer has a customer; the event contains its previous customer.
  const before = event.data.previous_attributes as { customer?: string } | undefined
  const customer = object.customer ?? before?.customer ?? null
  return typeof customer === 'string' ? customer : (customer?.id ?? null)
}
