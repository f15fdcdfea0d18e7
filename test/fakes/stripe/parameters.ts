import type { Params, Value } from './form.ts'

// The exact parameters of each endpoint. All other parameters are refused as Stripe refuses them.

export type Kind =
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'metadata'
  | readonly string[]
  | { [field: string]: Kind }
  | [Kind]
export type Shape = { required?: Record<string, Kind>; optional?: Record<string, Kind> }

export class Refused extends Error {
  readonly status: number
  readonly body: Record<string, unknown>

  constructor(status: number, body: Record<string, unknown>) {
    super(String(body.message))
    this.status = status
    this.body = body
  }
}

const badParameter = (code: string, param: string, message: string): Refused =>
  new Refused(400, { type: 'invalid_request_error', code, param, message })

export const missingResource = (what: string, id: string): Refused =>
  new Refused(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    param: 'id',
    message: `No such ${what}: '${id}'`,
  })

export function checkParams(given: Params, { required = {}, optional = {} }: Shape): void {
  for (const [field, kind] of Object.entries(required)) {
    if (given[field] === undefined) throw badParameter('parameter_missing', field, `Missing required param: ${field}.`)
    checkValue(field, given[field], kind)
  }
  for (const [field, value] of Object.entries(given)) {
    if (field in required) continue
    const kind = optional[field]
    if (kind === undefined) throw badParameter('parameter_unknown', field, `Received unknown parameter: ${field}`)
    checkValue(field, value, kind)
  }
}

function checkValue(field: string, value: Value, kind: Kind): void {
  const refuse = (message: string): Refused => badParameter('parameter_invalid', field, message)
  if (kind === 'metadata') {
    if (
      typeof value !== 'object' ||
      Object.values(value).some((inner) => typeof inner !== 'string' || inner.length > 500)
    )
      throw refuse(`Invalid metadata: ${field}`)
    return
  }
  if (typeof kind === 'object' && !Array.isArray(kind)) {
    if (typeof value !== 'object' || Array.isArray(value)) throw refuse(`Invalid object: ${field}`)
    for (const [name, inner] of Object.entries(value)) {
      const innerKind = (kind as Record<string, Kind>)[name]
      if (innerKind === undefined)
        throw badParameter('parameter_unknown', `${field}[${name}]`, `Received unknown parameter: ${field}[${name}]`)
      checkValue(`${field}[${name}]`, inner, innerKind)
    }
    return
  }
  if (Array.isArray(kind) && kind.length === 1 && (typeof kind[0] === 'object' || kind[0] === 'text')) {
    // An empty string clears a list.
    if (value === '') return
    if (!Array.isArray(value)) throw refuse(`Invalid array: ${field}`)
    value.forEach((inner, at) => void checkValue(`${field}[${at}]`, inner, kind[0] as Kind))
    return
  }
  if (typeof value !== 'string') throw refuse(`Invalid string: ${field}`)
  if (kind === 'integer' && !/^-?\d+$/.test(value)) throw refuse(`Invalid integer: ${value}`)
  if (kind === 'number' && !Number.isFinite(Number(value))) throw refuse(`Invalid decimal: ${value}`)
  if (kind === 'boolean' && value !== 'true' && value !== 'false') throw refuse(`Invalid boolean: ${value}`)
  if (kind === 'text' && value === '') throw refuse(`You passed an empty string for '${field}'.`)
  if (Array.isArray(kind) && !(kind as readonly string[]).includes(value))
    throw refuse(`Invalid ${field}: must be one of ${kind.join(', ')}`)
}
