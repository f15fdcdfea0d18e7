import { z } from 'zod'
import { allCodes, statusOf, titleOf } from '#platform/errors'
import type { AnyRoute } from '../route.ts'
import { exampleAnswer } from './examples.ts'
import { type Components, componentRef, type Schema, toJsonSchema } from './schemas.ts'
import { mayBeUnchanged, refusalsOf, successesOf } from './statuses.ts'

// Answers and refusals of the operations, with their headers.

const refusals: Record<string, string> = {
  400: 'The request could not be read',
  401: 'The credential is missing or not valid',
  402: 'The card was declined',
  403: 'The caller may see this, but not do it',
  404: 'It does not exist, is in another workspace, or the caller may not see it',
  405: 'This address does not accept this method',
  409: 'The current state does not allow it',
  410: 'It was deleted permanently',
  412: 'The resource has changed since If-Match',
  413: 'Too large',
  415: 'Content type not accepted',
  416: 'Range asks for bytes that do not exist',
  422: 'Some fields are not valid',
  429: 'Too many requests',
  500: 'The service failed',
  502: 'Another server sent an invalid response to the service',
  503: 'The service or a provider cannot do it at the moment',
  504: 'The response did not arrive in time',
  507: 'The storage is full',
}

const successText: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted; the work continues in the background',
  204: 'Done; the response has no content',
  206: 'The part that Range asks for',
  302: 'The browser is redirected',
}

const headerOf = (description: string, example: string): Schema => ({
  description,
  schema: { type: 'string' },
  example,
})

export const headerComponents: Record<string, Schema> = {
  RequestId: headerOf('The id of the request. Give it to the operator when you ask for help', '019b0f2c-6c1e-7aa3'),
  ETag: headerOf('Identifies this version of the resource. Send it as If-None-Match or If-Match', '"wJalrXUtnFEMI"'),
  Location: headerOf('The address of the created resource', '/api/workflows/wf_01kf3v6h2he3wtpk1fw5c0wz9d'),
  RedirectLocation: headerOf('The address that the browser opens next', '/'),
  RetryAfter: headerOf('Seconds to wait before the next attempt', '1'),
  RateLimit: headerOf(
    'The strictest limit: `r` requests are left, `t` seconds until more are allowed',
    '"general";r=199;t=0',
  ),
  RateLimitPolicy: headerOf('That limit: `q` requests at once, refilled within `w` seconds', '"general";q=200;w=2'),
  IdempotentReplayed: headerOf(
    '`true` if this is the response of an earlier request with the same key, and nothing was repeated',
    'true',
  ),
  WWWAuthenticate: headerOf('The accepted credentials', 'Bearer'),
  Deprecation: headerOf('Since when the operation should no longer be used (RFC 9745)', '@1767225600'),
  Sunset: headerOf('When the operation stops working (RFC 8594)', 'Thu, 31 Dec 2026 23:59:59 GMT'),
}

const headerRef = (name: string): Schema => ({ $ref: `#/components/headers/${name}` })

const always = {
  'X-Request-Id': headerRef('RequestId'),
  RateLimit: headerRef('RateLimit'),
  'RateLimit-Policy': headerRef('RateLimitPolicy'),
}

/** Returns one response component per status, used by every operation that can refuse with it. */
export function refusalComponents(): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(refusals).map(([status, description]) => {
      const codes = allCodes.filter((code) => statusOf(code) === Number(status))
      const code = codes[0] ?? 'internal'
      return [
        `Refused${status}`,
        {
          description:
            codes.length > 0 ? `${description} (${codes.map((one) => `\`${one}\``).join(', ')})` : description,
          headers: {
            ...always,
            ...(['429', '503', '507'].includes(status) && { 'Retry-After': headerRef('RetryAfter') }),
            ...(status === '401' && { 'WWW-Authenticate': headerRef('WWWAuthenticate') }),
          },
          content: {
            'application/problem+json': {
              schema: componentRef('Problem'),
              example: {
                type: `urn:heddle:problem:${code}`,
                title: titleOf(code),
                status: Number(status),
                detail: `${titleOf(code)}.`,
                code,
                request_id: '019b0f2c-6c1e-7aa3-9f52-3e7b6f0c1d2a',
                ...(status === '422' && { errors: [{ path: '/name', message: 'is required' }] }),
              },
            },
          },
        },
      ]
    }),
  )
}

const JSON_TYPE = 'application/json'
const BYTES = { schema: { type: 'string', format: 'binary', description: 'The bytes' } }

function jsonOf(route: AnyRoute, zod: z.ZodType, components: Components): Schema {
  const schema = toJsonSchema(zod, 'output', components, route.operation)
  const example = exampleAnswer(route, zod, schema, components)
  return { schema, ...(example !== undefined && { example }) }
}

/** Describes what the verb writes itself: bytes, text, or the JSON that the route describes. */
function writtenOf(route: AnyRoute, status: number, components: Components): Schema | undefined {
  const described = route.described?.answers?.[status]
  if (described === null) return undefined
  return Object.fromEntries(
    route.produces!.map((type) => [
      type,
      type === JSON_TYPE ? jsonOf(route, described ?? z.unknown().describe('Any JSON'), components) : BYTES,
    ]),
  )
}

function contentOf(route: AnyRoute, status: number, components: Components): Schema | undefined {
  if (status === 204 || status === 302) return undefined
  if (route.produces) return writtenOf(route, status, components)
  if (!route.answer) return undefined
  return {
    [JSON_TYPE]: jsonOf(route, route.answer, components),
    ...(route.streams && {
      'text/event-stream': {
        schema: {
          type: 'string',
          description:
            'Frames of server-sent events: `text` with `{delta}`, `reset` if the text so far was not the answer, and finally `done` with the answer as JSON, or `error` with a problem',
        },
      },
    }),
  }
}

export function responsesOf(route: AnyRoute, components: Components, tagged: boolean): Schema {
  const ended = route.deprecated && {
    Deprecation: headerRef('Deprecation'),
    ...(route.deprecated.sunset !== undefined && { Sunset: headerRef('Sunset') }),
  }
  const successes = successesOf(route).map((status): [string, Schema] => {
    const headers = {
      ...always,
      ...(tagged && { ETag: headerRef('ETag') }),
      ...(status === 201 && route.location && { Location: headerRef('Location') }),
      ...(status === 302 && { Location: headerRef('RedirectLocation') }),
      ...(route.method === 'POST' &&
        route.idempotency !== 'none' && { 'Idempotent-Replayed': headerRef('IdempotentReplayed') }),
      ...ended,
    }
    const content = contentOf(route, status, components)
    return [String(status), { description: successText[status] ?? 'Done', headers, ...(content && { content }) }]
  })
  const unchanged: [string, Schema][] = mayBeUnchanged(route, tagged)
    ? [
        [
          '304',
          {
            description: 'Not modified: the ETag matches If-None-Match',
            headers: { ...always, ETag: headerRef('ETag') },
          },
        ],
      ]
    : []
  const refused = refusalsOf(route).map((status): [string, Schema] => [
    String(status),
    refusalOf(route, status, components),
  ])
  return Object.fromEntries([...successes, ...unchanged, ...refused, ...chosenByWorkflow(route)])
}

/** A protocol may require its own format of errors beside `application/problem+json`. */
function refusalOf(route: AnyRoute, status: number, components: Components): Schema {
  const own = route.described?.answers?.[status]
  if (!own) return { $ref: `#/components/responses/Refused${status}` }
  const common = refusalComponents()[`Refused${status}`] as { content: Schema }
  return { ...common, content: { [JSON_TYPE]: jsonOf(route, own, components), ...common.content } }
}

/** An inbound address may answer with any status: the workflow chooses it with `http.respond`. */
const chosenByWorkflow = ({ access }: AnyRoute): [string, Schema][] =>
  access.word === 'token' && access.scope === 'inbound'
    ? [
        [
          'default',
          {
            description: 'The response that a `http.respond` node defines',
            headers: always,
            content: { '*/*': BYTES },
          },
        ],
      ]
    : []

export const problemSchema: Schema = {
  type: 'object',
  description: 'An error, in the format of RFC 9457.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What to do next' },
    code: { type: 'string', enum: [...allCodes].sort((a, b) => statusOf(a) - statusOf(b)) },
    request_id: { type: 'string' },
    report: {
      type: 'object',
      additionalProperties: true,
      description: 'With `activation_blocked`: what the suite and the replay of the version say',
    },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'Where it is in the body, as a JSON Pointer; empty for the whole body' },
          message: { type: 'string', description: 'What is wrong with it' },
        },
      },
    },
  },
}
