import { NodeFailure, type NodeKind } from '#engine/node'
import type { JsonObject } from '#model/definition'
import { checked, fields } from './kind.ts'

/**
 * Headers that a response must not set. It is sent from the origin of the service, whose cookies and browser policies
 * belong to the service and not to a tenant.
 */
const FORBIDDEN =
  /^(set-cookie2?|content-length|content-encoding|transfer-encoding|connection|keep-alive|upgrade|trailer|te|date|server|alt-svc|clear-site-data|service-worker-allowed|strict-transport-security|content-security-policy(-report-only)?|x-content-type-options|x-frame-options|x-request-id|permissions-policy|refresh|(proxy|access-control|cross-origin|ratelimit)-?.*)$/i
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Allows no line break, so that a value cannot start another header. */
const VALUE = /^[\t\x20-\x7e]{0,4000}$/

export function checkHeaders(headers: JsonObject): void {
  for (const [name, value] of Object.entries(headers)) {
    const reason =
      !NAME.test(name) || typeof value !== 'string' || !VALUE.test(value)
        ? 'is not valid: a header needs a valid name and a plain text value'
        : FORBIDDEN.test(name)
          ? 'is set by the service'
          : undefined
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
      status: { type: 'integer', title: 'Status', minimum: 200, maximum: 599, default: 200 },
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
