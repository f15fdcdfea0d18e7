import type { Problem } from './types.generated.ts'

// The errors of a call. Every refusal of the service is a HeddleProblem of one of the classes below, with a `code` from
// the service's closed list. A call without a response throws ConnectionFailed or TimedOut.

export type ProblemCode = Problem['code']
export type FieldError = { path: string; message: string }

type ProblemBody = {
  code?: string
  detail?: string
  title?: string
  errors?: FieldError[]
  request_id?: string
  report?: Record<string, unknown>
}

/** A refusal of the service. The message says what to do next. */
export class HeddleProblem extends Error {
  readonly status: number
  /** From the service's closed list; `unknown` if a proxy responded without a code. */
  readonly code: ProblemCode | 'unknown'
  /** The invalid fields, each with its path. */
  readonly errors: FieldError[]
  /** With `activation_blocked`: the results of the suite and of the replay of the version. */
  readonly report: Record<string, unknown> | null
  readonly requestId: string | null
  readonly retryAfterS: number | null

  constructor(status: number, body: ProblemBody, retryAfterS: number | null) {
    super(body.detail ?? body.title ?? `The service answered ${status}`)
    this.name = new.target.name
    this.status = status
    this.code = (body.code as ProblemCode | undefined) ?? 'unknown'
    this.errors = body.errors ?? []
    this.report = body.report ?? null
    this.requestId = body.request_id ?? null
    this.retryAfterS = retryAfterS
  }
}

/** 400, 413, 415, 422 …: the request itself is invalid. `errors` lists the fields. */
export class InvalidRequest extends HeddleProblem {}
/** 401: the key or session is missing, wrong or expired. */
export class Unauthenticated extends HeddleProblem {}
/** 402: a payment failed. */
export class PaymentRequired extends HeddleProblem {}
/** 403: the caller may not do this, or a quota is used up (`quota_exceeded`). */
export class Forbidden extends HeddleProblem {}
/** 404: the resource does not exist, or the caller may not know that it does. */
export class NotFound extends HeddleProblem {}
/** 409: the resource is not in the state that the call requires. */
export class Conflict extends HeddleProblem {}
/** 412 and 428: the resource has changed since it was read, or `ifMatch` is missing. */
export class PreconditionFailed extends HeddleProblem {}
/** 429: too many requests. `retryAfterS` says when to try again. */
export class RateLimited extends HeddleProblem {}
/** 5xx: the service, or a proxy in front of it, cannot respond now. */
export class ServiceUnavailable extends HeddleProblem {}

/** No response: the service cannot be reached, or the connection was lost. */
export class ConnectionFailed extends Error {
  constructor(cause: unknown) {
    super(`The service cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'ConnectionFailed'
  }
}

/** No response within `timeoutMs`. */
export class TimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`The service did not answer within ${timeoutMs} ms`)
    this.name = 'TimedOut'
  }
}

const BY_STATUS: Record<number, typeof HeddleProblem> = {
  401: Unauthenticated,
  402: PaymentRequired,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  412: PreconditionFailed,
  428: PreconditionFailed,
  429: RateLimited,
}

const classOf = (status: number): typeof HeddleProblem =>
  BY_STATUS[status] ?? (status >= 500 ? ServiceUnavailable : InvalidRequest)

/** Returns the problem for a response that is neither 2xx nor 304. */
export async function problemOf(response: Response): Promise<HeddleProblem> {
  const after = Number(response.headers.get('retry-after'))
  const body = (await response.json().catch(() => ({}))) as ProblemBody
  return new (classOf(response.status))(response.status, body, Number.isFinite(after) && after > 0 ? after : null)
}
