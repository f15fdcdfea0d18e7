/**
 * The reason why an outgoing request was not sent or gave no usable response.
 * target_refused, credential_refused, credential_needs_reconnect, request_invalid, too_many_redirects,
 * response_too_large, response_unreadable: retrying is useless.
 * target_unresolved, connection_failed, timeout, credential_refresh_failed: a retry may succeed.
 */
export type OutgoingCode =
  | 'target_refused'
  | 'credential_refused'
  | 'credential_needs_reconnect'
  | 'credential_refresh_failed'
  | 'request_invalid'
  | 'too_many_redirects'
  | 'response_too_large'
  | 'response_unreadable'
  | 'target_unresolved'
  | 'connection_failed'
  | 'timeout'

const MAY_WORK_LATER: ReadonlySet<OutgoingCode> = new Set([
  'target_unresolved',
  'connection_failed',
  'timeout',
  'credential_refresh_failed',
])

export class OutgoingFailure extends Error {
  readonly code: OutgoingCode

  constructor(code: OutgoingCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }

  get retryable(): boolean {
    return MAY_WORK_LATER.has(this.code)
  }
}

/** Returns the failure that the HTTP library wrapped in its error. */
export function asOutgoingFailure(error: unknown): OutgoingFailure {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    if (current instanceof OutgoingFailure) return current
    const code = 'code' in current ? String(current.code) : ''
    if (/TIMEOUT|TIMEDOUT/.test(code) || current.name === 'TimeoutError') {
      return new OutgoingFailure('timeout', 'the target did not answer in time', error)
    }
    if (/^(ENOTFOUND|EAI_|ENODATA)/.test(code)) {
      return new OutgoingFailure('target_unresolved', 'the name of the target could not be resolved', error)
    }
    if (/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)/.test(code)) {
      return new OutgoingFailure('request_invalid', current.message, error)
    }
  }
  return new OutgoingFailure('connection_failed', 'the connection to the target failed', error)
}
