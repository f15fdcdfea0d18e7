// The closed list of refusals. Areas throw a code; only platform/http converts it to an HTTP response.

const codes = {
  // 400
  malformed: [400, 'The request could not be read'],
  too_deep: [400, 'The JSON is nested too deeply'],
  duplicate_key: [400, 'An object in the JSON has a duplicate key'],
  // 401
  unauthenticated: [401, 'No valid credential was presented'],
  bad_credentials: [401, 'The e-mail address or the password is wrong'],
  bad_second_factor: [401, 'The code or the passkey was not accepted'],
  sign_in_failed: [401, 'The sign-in with the provider did not succeed'],
  visitor_token_required: [401, 'A valid visitor token is required'],
  bad_signature: [401, 'The signature is missing or wrong'],
  // 402
  card_declined: [402, 'The card was declined'],
  // 403
  forbidden: [403, 'Your role does not allow this'],
  insufficient_scope: [403, 'The API key lacks a scope'],
  foreign_origin: [403, 'The request came from another site'],
  origin_refused: [403, 'The token does not allow this origin'],
  address_reserved: [403, 'This address is reserved for an operator'],
  email_unverified: [403, 'Your e-mail address is not confirmed yet'],
  proof_required: [403, 'Prove that the message was sent to you'],
  second_factor_required: [403, 'This workspace asks for a second factor'],
  sign_up_closed: [403, 'Sign-up is closed; ask for an invitation'],
  token_disabled: [403, 'This token is disabled'],
  channel_disabled: [403, 'This channel is disabled'],
  quota_exceeded: [403, 'The quota of the plan is used up'],
  // 404
  not_found: [404, 'This does not exist, or you may not see it'],
  route_not_found: [404, 'There is no such address'],
  unknown_host: [404, 'This host name serves no organisation'],
  no_subscription: [404, 'The workspace has no active subscription'],
  // 405
  method_not_allowed: [405, 'This address does not accept this method'],
  // 408
  request_timeout: [408, 'The request took too long to arrive'],
  // 409
  conflict: [409, 'The current state does not allow this'],
  already_exists: [409, 'This exists already'],
  last_owner: [409, 'The last owner cannot be removed or demoted'],
  not_empty: [409, 'It is not empty'],
  idempotency_key_reused: [409, 'This idempotency key was used for another request'],
  no_active_version: [409, 'The workflow has no active version'],
  activation_blocked: [409, 'The version does not meet the requirements for activation'],
  activation_required: [409, 'The workflow must be activated by its new owner'],
  runs_live: [409, 'The workflow has live executions'],
  not_waiting: [409, 'Nothing is waiting for this answer'],
  not_retryable: [409, 'This execution cannot be retried in this way'],
  already_finished: [409, 'The execution has already ended'],
  already_voted: [409, 'You have voted on this gate already'],
  payload_changed: [409, 'The payload has changed since you saw it'],
  gate_closed: [409, 'The gate is closed'],
  dataset_unbound: [409, 'No dataset is bound'],
  dataset_changed: [409, 'The dataset has changed since it was read'],
  workflow_deleted: [409, 'The workflow was deleted'],
  connection_revoked: [409, 'The credential of the connection was revoked'],
  credential_unusable: [409, 'A credential cannot be used until it is stored or connected again'],
  job_running: [409, 'The job is running'],
  form_closed: [409, 'This form was already used'],
  payment_method_required: [409, 'The workspace has no payment method'],
  method_in_use: [409, 'The subscription needs this payment method'],
  subscription_exists: [409, 'The workspace has an active subscription'],
  plan_in_use: [409, 'The plan has subscribers'],
  // 412
  precondition_failed: [412, 'The resource has changed'],
  // 413
  too_large: [413, 'The request is too large'],
  answer_too_large: [413, 'The response would be too large'],
  // 414
  address_too_long: [414, 'The address is too long'],
  // 415
  unsupported_media_type: [415, 'This content type is not accepted here'],
  // 422
  invalid: [422, 'Some fields are not valid'],
  read_only: [422, 'The server sets this field'],
  unknown_reference: [422, 'The request names something that does not exist'],
  probe_failed: [422, 'The connection could not be used'],
  bad_record: [422, 'A record is not valid'],
  audio_unreadable: [422, 'The audio could not be read'],
  audio_silent: [422, 'The audio contains no speech'],
  audio_too_long: [422, 'The audio is too long'],
  // 429
  rate_limited: [429, 'Too many requests'],
  queue_full: [429, 'Too many executions are queued'],
  // 431
  headers_too_large: [431, 'The header fields are too large'],
  // 500, 502, 503, 504, 507
  internal: [500, 'Something went wrong on our side'],
  run_failed: [502, 'The workflow did not succeed'],
  provider_not_configured: [503, 'The provider is not configured'],
  provider_unavailable: [503, 'The provider did not answer as expected'],
  unavailable: [503, 'The service cannot do this at the moment'],
  overloaded: [503, 'The service is overloaded'],
  respond_timeout: [504, 'The workflow did not answer in time'],
  storage_full: [507, 'The storage is full'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type Code = keyof typeof codes
export const allCodes = Object.keys(codes) as Code[]
export const statusOf = (code: Code): number => codes[code][0]
export const titleOf = (code: Code): string => codes[code][1]

export type FieldError = { path: string; message: string }

type More = {
  title?: string
  retryAfterS?: number
  challenge?: string
  allow?: string[]
  cause?: unknown
  report?: object
}

export class Problem extends Error {
  readonly code: Code
  /** The title of the code, unless that would be wrong for this refusal. */
  readonly title: string
  readonly errors: FieldError[] | undefined
  readonly retryAfterS: number | undefined
  /** With 401: how the caller can authenticate, if not with a bearer token. */
  readonly challenge: string | undefined
  /** With 405: the methods that the address accepts. */
  readonly allow: string[] | undefined
  /** Details of the refusal that the caller can act on. */
  readonly report: object | undefined

  constructor(code: Code, detail: string, more: More & { errors?: FieldError[] } = {}) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.title = more.title ?? titleOf(code)
    this.errors = more.errors
    this.retryAfterS = more.retryAfterS
    this.challenge = more.challenge
    this.allow = more.allow
    this.report = more.report
  }
}

/** Creates a refusal. `detail` tells the person who must act what to do next. */
export const problem = (code: Code, detail?: string, more: More = {}): Problem =>
  new Problem(code, detail ?? `${titleOf(code)}.`, more)

export const invalid = (
  errors: FieldError[],
  detail = 'Correct the fields named in errors and send it again.',
): Problem => new Problem('invalid', detail, { errors })

export const readOnly = (fields: string[]): Problem =>
  new Problem('read_only', 'Omit these fields, or send their current values.', {
    errors: fields.map((field) => ({ path: `/${field}`, message: 'is set by the server' })),
  })

/**
 * Returns the same bytes for the id of another tenant, a random id and an ill-formed id: they depend only on the paths.
 */
export const unknownReference = (...paths: string[]): Problem =>
  new Problem('unknown_reference', 'Name something that exists in your workspace.', {
    errors: paths.map((path) => ({ path, message: 'does not exist, or you may not see it' })),
  })

/** The blob store does not answer. Its errors of the network look like those of the database, so they get their own type. */
export class StoreUnavailable extends Error {}

export const isProblem = (error: unknown, code?: Code): error is Problem =>
  error instanceof Problem && (code === undefined || error.code === code)
