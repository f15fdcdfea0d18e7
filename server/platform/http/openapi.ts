import { z } from 'zod'
import { type Access, describeAccess } from '../access/words.ts'
import { allCodes, statusOf } from '../errors.ts'
import type { AnyRoute } from './route.ts'
import { wire } from './schema.ts'

// The document is printed from the route tables and their zod schemas; nothing in it is written by hand twice.

type Schema = Record<string, unknown>
type Components = Record<string, Schema>

const refusals: Record<string, string> = {
  400: 'The request could not be read',
  401: 'No or a bad credential',
  402: 'The card was declined',
  403: 'Seen, but not allowed by role',
  404: 'Unknown, in another workspace, or invisible',
  405: 'Not for this method',
  409: 'The present state does not allow it',
  412: 'The resource has changed since If-Match',
  413: 'Too large',
  415: 'Content type not accepted',
  422: 'Some fields are not valid',
  429: 'Too many requests',
  502: 'The workflow did not succeed',
  503: 'The service or a provider cannot do it at the moment',
  504: 'The workflow did not answer in time',
}

export function makeOpenApi(routes: AnyRoute[]): Schema {
  const components: Components = { Problem: problemSchema }
  const paths: Record<string, Record<string, Schema>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = operationOf(route, components)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heddle',
      version: '0.1.0',
      description:
        'Workflows, approvals, data and conversations for many tenants. Ids are TypeIDs, times RFC 3339 in UTC, lists `{items, next_cursor}`, refusals `application/problem+json`. Every POST honours `Idempotency-Key`. Operations with `x-heddle-extension` are additions to the base interface.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ area }) => area))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'heddle_session' },
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `hk_…`' },
        webhookToken: { type: 'http', scheme: 'bearer', description: 'A webhook token of the workflow, `whs_…`' },
        embedToken: { type: 'http', scheme: 'bearer', description: 'An embed token, `ems_…`' },
      },
    },
  }
}

function operationOf(route: AnyRoute, components: Components): Schema {
  const parameters = [...pathParameters(route), ...queryParameters(route, components), ...headerParameters(route)]
  return {
    operationId: route.operation,
    tags: [route.area],
    summary: route.summary,
    description: `${route.description ? `${route.description}\n\n` : ''}Access: ${describeAccess(route.access)}.`,
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(route, components),
    responses: { ...successes(route, components), ...problems(route) },
    security: securityOf(route.access),
    ...(route.extension && { 'x-heddle-extension': true }),
    'x-heddle-access': describeAccess(route.access),
  }
}

const pathParameters = (route: AnyRoute): Schema[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

function queryParameters(route: AnyRoute, components: Components): Schema[] {
  if (!route.query) return []
  const { properties = {}, required = [] } = toJsonSchema(route.query, 'input', components) as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function headerParameters(route: AnyRoute): Schema[] {
  const headers: Schema[] = []
  const header = (name: string, description: string): void => {
    headers.push({ name, in: 'header', required: false, description, schema: { type: 'string' } })
  }
  if (route.access.word !== 'anyone' && route.access.word !== 'token')
    header('X-Workspace-Id', 'The workspace to work in; else the selected one')
  if (route.access.word === 'token' && route.access.scope !== 'webhook' && route.access.scope !== 'inbound')
    header('X-Visitor-Token', 'The token of the visitor')
  if (route.method === 'POST' && route.idempotency !== 'none')
    header('Idempotency-Key', 'Makes a repetition within 24 h answer the same')
  if (route.current && route.method !== 'GET') header('If-Match', 'The ETag the change was made on')
  return headers
}

function requestBody(route: AnyRoute, components: Components): Schema {
  const required = true
  if (route.bodyKind === 'stream' || route.consumes) {
    const content = Object.fromEntries(
      (route.consumes ?? ['application/octet-stream']).map((type) => [
        type,
        { schema: streamSchema(type, route, components) },
      ]),
    )
    return { requestBody: { required, content } }
  }
  if (route.bodyKind === 'any')
    return {
      requestBody: {
        required: false,
        content: { 'application/json': { schema: {} }, '*/*': { schema: { type: 'string' } } },
      },
    }
  if (!route.body) return {}
  const schema = toJsonSchema(route.body, 'input', components)
  const content = {
    'application/json': { schema, ...(route.examples?.body !== undefined && { example: route.examples.body }) },
  }
  return { requestBody: { required: ((schema.required as string[] | undefined) ?? []).length > 0, content } }
}

function streamSchema(type: string, route: AnyRoute, components: Components): Schema {
  if (type === 'application/json' && route.body) return toJsonSchema(route.body, 'input', components)
  if (type !== 'multipart/form-data') return { type: 'string', format: 'binary' }
  return { type: 'object', additionalProperties: true }
}

function successes(route: AnyRoute, components: Components): Schema {
  const status = String(route.status ?? (route.answer || route.produces ? 200 : 204))
  const content = route.produces
    ? Object.fromEntries(route.produces.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]))
    : route.answer && {
        'application/json': {
          schema: toJsonSchema(route.answer, 'output', components),
          ...(route.examples?.answer !== undefined && { example: route.examples.answer }),
        },
      }
  const one = { description: successText[status] ?? 'Done', ...(content && { content }) }
  return Object.fromEntries(
    [status, ...(route.alsoStatus ?? []).map(String)].map((code) => [
      code,
      { ...one, description: successText[code] ?? 'Done' },
    ]),
  )
}

const successText: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted; the work goes on',
  204: 'Done, nothing to say',
}

function problems(route: AnyRoute): Schema {
  const statuses = new Set<number>([429, 503, ...(route.alsoRefuses ?? [])])
  if (route.access.word !== 'anyone') statuses.add(401)
  if (route.access.word === 'role' || route.access.word === 'operator' || route.access.word === 'token')
    statuses.add(403)
  if (route.path.includes(':') || route.access.word === 'role') statuses.add(404)
  if (route.query) statuses.add(422)
  if (route.method !== 'GET') for (const status of [400, 409, 413, 415, 422]) statuses.add(status)
  if (route.current && route.method !== 'GET') statuses.add(412)
  return Object.fromEntries(
    [...statuses].sort().map((status) => [
      String(status),
      {
        description: refusals[status],
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

function securityOf(access: Access): Schema[] {
  if (access.word === 'anyone') return []
  if (access.word === 'token' && access.scope === 'inbound') return []
  if (access.word === 'token') return [access.scope === 'webhook' ? { webhookToken: [] } : { embedToken: [] }]
  return [{ session: [] }, { apiKey: [] }]
}

/** Schemas with an id become components, each with a name of its own for bodies and answers. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output', components: Components): Schema {
  const converted = z.toJSONSchema(schema, {
    io: io === 'input' ? 'input' : 'output',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const said = wire.get(zodSchema as unknown as z.ZodType)
      if (said) Object.assign(jsonSchema, said.schema)
    },
  }) as Schema & { $defs?: Record<string, Schema> }
  const { $defs = {}, $schema: _dialect, ...rest } = converted
  const rename = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rename)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === '$ref' && typeof inner === 'string'
          ? inner.replace('#/$defs/', '#/components/schemas/')
          : rename(inner),
      ]),
    )
  }
  for (const [name, definition] of Object.entries($defs)) components[name] ??= rename(withoutId(definition)) as Schema
  const named = rest.id
  if (typeof named === 'string') {
    components[named] ??= rename(withoutId(rest)) as Schema
    return { $ref: `#/components/schemas/${named}` }
  }
  return rename(rest) as Schema
}

const withoutId = ({ id: _id, ...rest }: Schema): Schema => rest

const problemSchema: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What to do next' },
    code: { type: 'string', enum: [...allCodes].sort((a, b) => statusOf(a) - statusOf(b)) },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string', description: 'JSON Pointer' }, message: { type: 'string' } },
      },
    },
  },
}
