import type { WebhookToken } from '#sdk/types.generated'

// A sample call to copy, with a body created from the inputs of the workflow.

type Schema = {
  type?: string | string[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
}

/** Returns a value that matches simple schemas; a text if the type is unknown. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null || depth > 5) return {}
  const { type, const: fixed, default: usual, examples, enum: choices, properties, items } = schema as Schema
  const given = [fixed, usual, examples?.[0], choices?.[0]].find((value) => value !== undefined)
  if (given !== undefined) return given
  const kind = Array.isArray(type) ? type[0] : type
  if (properties || kind === 'object')
    return Object.fromEntries(Object.entries(properties ?? {}).map(([key, inner]) => [key, sampleOf(inner, depth + 1)]))
  if (kind === 'array') return items ? [sampleOf(items, depth + 1)] : []
  if (kind === 'number' || kind === 'integer') return 1
  if (kind === 'boolean') return true
  return kind === 'null' ? null : kind === 'string' ? 'text' : {}
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

type Called = Pick<WebhookToken, 'auth' | 'url' | 'methods' | 'input'>

/** Returns a call with `curl`. The token is known only after it was created. */
export function sampleCall({ auth, url, methods, input }: Called, inputs: unknown, token = 'THE_TOKEN'): string {
  const method = methods.includes('POST') ? 'POST' : (methods[0] ?? 'POST')
  const body = JSON.stringify(sampleOf(input === 'request' ? {} : (inputs ?? {})))
  const address = url ?? `${location.origin}/api/webhooks/in/THE_TOKEN`
  const send = method === 'GET' ? '' : ` -H 'Content-Type: application/json' -d ${quoted(body)}`
  const proof =
    auth.kind === 'bearer'
      ? ` -H 'Authorization: Bearer ${token}'`
      : auth.kind === 'basic'
        ? ` -u '${auth.username ?? 'heddle'}:THE_PASSWORD'`
        : ''
  return `curl -X ${method} ${quoted(address)}${proof}${send}`
}
