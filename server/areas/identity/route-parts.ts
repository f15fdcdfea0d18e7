import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'

export const extension = true

/**
 * Responses that start a session are not stored for repetition, because the store would contain the session's token.
 */
export const comesIn = { extension, transaction: false, idempotency: 'none' } as const

/** Binds a verb to its dependencies. */
export const bound =
  <Deps, Input, Answer>(
    deps: Deps,
    verb: (deps: Deps, ctx: Context, input: Input, exchange: Exchange) => Promise<Answer>,
  ) =>
  (ctx: Context, input: Input, exchange: Exchange): Promise<Answer> =>
    verb(deps, ctx, input, exchange)
