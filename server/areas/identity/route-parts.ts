import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'

export const extension = true

/** Answers that begin a session are not stored for repetition: the store would hold the session's token. */
export const comesIn = { extension, transaction: false, idempotency: 'none' } as const

/** A verb whose dependencies are known. */
export const bound =
  <Deps, Input, Answer>(
    deps: Deps,
    verb: (deps: Deps, ctx: Context, input: Input, exchange: Exchange) => Promise<Answer>,
  ) =>
  (ctx: Context, input: Input, exchange: Exchange): Promise<Answer> =>
    verb(deps, ctx, input, exchange)
