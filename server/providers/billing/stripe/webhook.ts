import type Stripe from 'stripe'
import { problem } from '#platform/errors'
import type { ProviderEvent, WebhookReader } from '../index.ts'

/** Older signatures are refused: a webhook that was overheard cannot be sent again later. */
const TOLERANCE_S = 300

/** Fails closed: without a secret, without a signature, with a wrong or an old one there is no event. */
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

/** Nothing of the event's content is used but whom it is about: what is true now is read from Stripe. */
function customerOf(event: Stripe.Event): ProviderEvent['customerRef'] {
  const object = event.data.object as { object?: string; id?: string; customer?: string | { id: string } | null }
  if (object.object === 'customer') return object.id ?? null
  // A detached method has no customer any more; the event tells what it was before.
  const before = event.data.previous_attributes as { customer?: string } | undefined
  const customer = object.customer ?? before?.customer ?? null
  return typeof customer === 'string' ? customer : (customer?.id ?? null)
}
