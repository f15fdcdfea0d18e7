import type Stripe from 'stripe'
import { type Problem, problem } from '#platform/errors'
import { stripeLibrary } from './library.ts'

/** Translates Stripe's errors into our errors. Stripe's messages are not passed on, except those about a card. */
function toRefusal(error: unknown): unknown {
  if (error instanceof stripeLibrary().errors.StripeCardError) return cardRefusal(error)
  if (error instanceof stripeLibrary().errors.StripeRateLimitError)
    return problem('provider_unavailable', 'Stripe accepts no more requests at the moment. Try again later.', {
      retryAfterS: 5,
      cause: error,
    })
  if (
    error instanceof stripeLibrary().errors.StripeAuthenticationError ||
    error instanceof stripeLibrary().errors.StripePermissionError
  )
    return problem('provider_not_configured', 'Stripe refuses the key of this installation; tell its operator.', {
      retryAfterS: 60,
      cause: error,
    })
  if (error instanceof stripeLibrary().errors.StripeInvalidRequestError)
    return problem('conflict', 'Stripe refused this permanently. Trying again does not help; tell the operator.', {
      cause: error,
    })
  if (error instanceof stripeLibrary().errors.StripeError)
    return problem('provider_unavailable', 'Stripe did not answer as expected. Nothing was changed here; try again.', {
      retryAfterS: 5,
      cause: error,
    })
  return error
}

function cardRefusal(error: InstanceType<typeof Stripe.errors.StripeCardError>): Problem {
  return problem(
    'card_declined',
    needsCardholder(error)
      ? 'The bank wants the holder to confirm this card. Add it again with a new setup intent, then try again.'
      : `${error.message} Make another card the default and try again.`,
    { cause: error },
  )
}

/** Checks whether the bank requires the cardholder to confirm the payment. */
export const needsCardholder = (error: unknown): boolean =>
  error instanceof stripeLibrary().errors.StripeCardError &&
  (error.code === 'authentication_required' || error.code === 'subscription_payment_intent_requires_action')

export const isMissing = (error: unknown): boolean =>
  error instanceof stripeLibrary().errors.StripeInvalidRequestError && error.code === 'resource_missing'

export const isKeyConflict = (error: unknown): boolean => error instanceof stripeLibrary().errors.StripeIdempotencyError

/** Runs an SDK call and translates its errors into our errors. */
export async function translateErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw toRefusal(error)
  }
}
