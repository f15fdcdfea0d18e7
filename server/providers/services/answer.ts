import type { Json, JsonObject } from '#model/definition'
import { retryAfterS } from '#platform/outgoing/retry-after'
import type { Errors, Service, ServiceAction, ServiceEffect } from './manifest.ts'
import { firstAt, valueAt } from './paths.ts'
import { asText } from './template.ts'

// Classifies a response: success, a refusal by the vendor, or a request to wait.

export type ServiceAnswer = { status: number; headers: Record<string, string>; body: Json }

export type Refusal = {
  code: 'rate_limited' | 'credential_rejected' | 'service_unavailable' | 'service_refused'
  message: string
  retryable: boolean
  /** True if the vendor says, with a status other than 401, that the token has expired. */
  expired: boolean
  /** True if the vendor did nothing, so that even an action that must happen at most once can be retried. */
  nothingDone: boolean
  retryAfterS: number | undefined
  details: JsonObject
}

const MAX_MESSAGE = 1_000
const MAX_WAIT_S = 86_400

const isFailed = ({ status, body }: ServiceAnswer, errors: Errors): boolean => {
  if (status < 200 || status >= 300) return true
  if (errors.ok !== undefined && valueAt(body, errors.ok) === false) return true
  const failed = errors.failed === undefined ? undefined : valueAt(body, errors.failed)
  return failed !== undefined && failed !== null && failed !== false
}

function waitOf({ headers, body }: ServiceAnswer, rate: NonNullable<Errors['rate']>, now: number): number | undefined {
  const asked = retryAfterS(headers['retry-after'], headers.date, now)
  if (asked !== undefined) return asked
  const fromBody = rate.after === undefined ? undefined : Number(valueAt(body, rate.after))
  const given = rate.reset && headers[rate.reset.header]
  const seconds = given === undefined ? undefined : Number(given)
  const wait =
    fromBody ??
    (seconds === undefined || rate.reset === undefined
      ? undefined
      : rate.reset.as === 'epoch'
        ? seconds - now / 1000
        : rate.reset.as === 'milliseconds'
          ? seconds / 1000
          : seconds)
  return wait === undefined || !Number.isFinite(wait) ? undefined : Math.min(MAX_WAIT_S, Math.max(0, wait))
}

function isLimit(
  { status, headers }: ServiceAnswer,
  rate: NonNullable<Errors['rate']>,
  code: Json | undefined,
): boolean {
  if (status === 429) return true
  if (code !== undefined && rate.codes?.some((known) => String(known) === asText(code))) return true
  return (status === 403 || status === 400) && rate.remaining !== undefined && headers[rate.remaining] === '0'
}

/** Returns the refusal in a response. Undefined if the response is a success. */
export function refusalIn(
  service: Pick<Service, 'title' | 'service' | 'errors'>,
  action: Pick<ServiceAction, 'name'> & { effect: ServiceEffect },
  answer: ServiceAnswer,
  now = Date.now(),
): Refusal | undefined {
  const errors = service.errors ?? {}
  if (!isFailed(answer, errors)) return undefined
  const rate = errors.rate ?? {}
  const vendorCode = firstAt(answer.body, errors.code)
  const text = firstAt(answer.body, errors.message) ?? (typeof answer.body === 'string' ? answer.body : undefined)
  const said = text === undefined ? '' : asText(text).slice(0, MAX_MESSAGE)
  const { status } = answer
  const limited = isLimit(answer, rate, vendorCode)
  const away = status >= 500 || status === 408 || status === 425
  const expired = status !== 401 && vendorCode !== undefined && (errors.expired?.includes(asText(vendorCode)) ?? false)
  const code = limited
    ? 'rate_limited'
    : status === 401 || expired
      ? 'credential_rejected'
      : away
        ? 'service_unavailable'
        : 'service_refused'
  const about = status >= 200 && status < 300 ? 'refused' : `answered ${status}`
  return {
    code,
    message: `${service.title} ${about}${limited ? ' (too many requests)' : ''}${said ? `: ${said}` : ''}`,
    retryable: limited || away,
    expired,
    nothingDone: limited || status === 503,
    retryAfterS: limited || away ? waitOf(answer, rate, now) : undefined,
    details: {
      service: service.service,
      action: action.name,
      status,
      ...(vendorCode !== undefined && { code: asText(vendorCode).slice(0, 200) }),
      ...(said && { message: said }),
    },
  }
}
