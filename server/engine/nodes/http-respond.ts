import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { checked, fields } from './kind.ts'

/**
 * Headers that a response must not set. It is sent from the origin of the service, whose cookies and browser policies
 * belong to the service and not to a tenant. Some policies apply to the whole origin: with `NEL` and `Report-To`, a
 * browser reports all later requests to another site. A proxy obeys `X-Accel-…` and `X-Sendfile` and sends another
 * resource or a file.
 */
const FORBIDDEN =
  /^(set-cookie2?|content-length|content-encoding|transfer-encoding|connection|keep-alive|upgrade|trailer|te|date|server|alt-svc|clear-site-data|service-worker-allowed|strict-transport-security|content-security-policy(-report-only)?|x-content-type-options|x-frame-options|x-request-id|permissions-policy|refresh|nel|report-to|reporting-endpoints|expect-ct|origin-agent-cluster|accept-ch|critical-ch|set-login|use-as-dictionary|x-sendfile|sec-.*|secure-session-.*|(proxy|access-control|cross-origin|ratelimit|public-key-pins|x-accel|x-lighttpd|x-litespeed|x-reproxy)-?.*)$/i
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Allows no line break, so that a value cannot start another header. */
const VALUE = /^[\t\x20-\x7e]{0,4000}$/
const MIN_STATUS = 200
const MAX_STATUS = 599

/** Returns why a response must not have this header, or undefined if it may. */
function headerFault(name: string, value: unknown): string | undefined {
  if (!NAME.test(name) || typeof value !== 'string' || !VALUE.test(value))
    return 'is not valid: a header needs a valid name and a plain text value'
  return FORBIDDEN.test(name) ? 'is set by the service' : undefined
}

export type HttpResponse = { status: number; headers: Record<string, string>; body: Json }

/**
 * Checks whether a value is a response that may be sent. The output of a node in the journal is not proof of that: a
 * disabled node passes on the output of another node.
 */
export function isHttpResponse(value: Json): value is HttpResponse {
  if (!isObject(value) || !Number.isInteger(value.status) || !isObject(value.headers ?? null)) return false
  const { status, headers } = value as { status: number; headers: JsonObject }
  const isAllowed = Object.entries(headers).every(([name, text]) => headerFault(name, text) === undefined)
  return status >= MIN_STATUS && status <= MAX_STATUS && isAllowed
}

export function checkHeaders(headers: JsonObject): void {
  for (const [name, value] of Object.entries(headers)) {
    const reason = headerFault(name, value)
    if (reason !== undefined)
      throw new NodeFailure('args_invalid', `Answer the caller: the header ${name.slice(0, 100)} ${reason}`, {
        retryable: false,
      })
  }
}

/** Only defines the response. A caller that waits for the webhook receives the response after it is journalled. */
export const httpRespond: NodeKind = checked({
  descriptor: {
    type: 'http.respond',
    kind: 'capability',
    group: 'control',
    title: 'Answer the caller',
    description:
      'Answers the call of a webhook token whose `respond` is `node`. The run continues afterwards. Only the first such node at the top level of the workflow answers; if no caller is waiting, it does nothing.',
    icon: 'reply',
    colour: '#64748b',
    keywords: ['webhook', 'response', 'reply', 'status', 'http', 'return'],
    args_schema: fields({
      status: { type: 'integer', title: 'Status', minimum: MIN_STATUS, maximum: MAX_STATUS, default: 200 },
      headers: {
        type: 'object',
        title: 'Headers',
        description: 'Cookies and headers that the service sets itself are not allowed',
        additionalProperties: { type: 'string' },
        maxProperties: 50,
      },
      body: { title: 'Body', description: 'A text is sent unchanged, any other value as JSON' },
    }),
    output_schema: {
      type: 'object',
      properties: { status: { type: 'integer' }, headers: { type: 'object' }, body: {} },
    },
    ports: ['out'],
    effect: 'pure',
    defaults: { status: 200, body: { ok: true } },
  },
  async run({ args }) {
    const headers = (args.headers ?? {}) as JsonObject
    checkHeaders(headers)
    return { output: { status: args.status ?? 200, headers, body: args.body ?? null } }
  },
})
