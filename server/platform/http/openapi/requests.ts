import { kindText, type ResourceKind } from '#platform/access/rules'
import type { AnyRoute } from '../route.ts'
import { exampleBody } from './examples.ts'
import { describeField } from './fields.ts'
import { type Components, type Schema, toJsonSchema } from './schemas.ts'

// Parameters and bodies of the operations.

export const parametersOf = (route: AnyRoute, components: Components): Schema[] => [
  ...pathParameters(route),
  ...queryParameters(route, components),
  ...headerParameters(route),
]

const pathParameters = (route: AnyRoute): Schema[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: describeField(route.operation, name!) ?? `The ${kindText(name as ResourceKind)}`,
    schema: { type: 'string' },
  }))

function queryParameters(route: AnyRoute, components: Components): Schema[] {
  if (!route.query) return []
  const { properties = {}, required = [] } = toJsonSchema(route.query, 'input', components, route.operation) as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }))
}

const parameterRef = (name: string): Schema => ({ $ref: `#/components/parameters/${name}` })

function headerParameters(route: AnyRoute): Schema[] {
  const headers: Schema[] = []
  if (route.access.word !== 'anyone' && route.access.word !== 'token') headers.push(parameterRef('WorkspaceId'))
  if (route.access.word === 'token' && route.access.scope !== 'webhook' && route.access.scope !== 'inbound')
    headers.push(parameterRef('VisitorToken'))
  if (route.method === 'POST' && route.idempotency !== 'none') headers.push(parameterRef('IdempotencyKey'))
  if (route.current && route.method !== 'GET') headers.push(parameterRef('IfMatch'))
  return headers
}

const header = (name: string, description: string): Schema => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

export const parameterComponents: Record<string, Schema> = {
  WorkspaceId: header('X-Workspace-Id', 'The id of the workspace to use; the default is the selected workspace'),
  VisitorToken: header('X-Visitor-Token', 'The token of the visitor, from an earlier answer'),
  IdempotencyKey: header(
    'Idempotency-Key',
    'A unique text that you choose, at most 255 characters. A repeated request with the same key within 24 hours does nothing and gets the same response',
  ),
  IfMatch: header(
    'If-Match',
    'The ETag of the version that the change is based on. The change is refused (412) if the resource has changed since',
  ),
}

const FORMS = new Set(['multipart/form-data', 'application/x-www-form-urlencoded'])
const BINARY: Schema = { type: 'string', format: 'binary' }

/** The body of a webhook: any content. */
const ANYTHING = {
  'application/json': {
    schema: { description: 'Any JSON. An object is used unchanged.' },
    example: { order: 'A-1001', total: 25 },
  },
  '*/*': { schema: { type: 'string', description: 'Any other content' } },
}

export function requestBodyOf(route: AnyRoute, components: Components): Schema {
  if (route.method === 'GET') return {}
  const json = route.body ?? route.described?.json
  const types = route.consumes ?? (route.bodyKind === 'stream' ? ['application/octet-stream'] : undefined)
  if (types)
    return {
      requestBody: {
        required: true,
        content: Object.fromEntries(types.map((type) => [type, contentOf(type, route, components)])),
      },
    }
  if (route.bodyKind === 'any') return { requestBody: { required: false, content: ANYTHING } }
  if (!json) return {}
  const content = contentOf('application/json', route, components)
  const required = ((resolved(content.schema as Schema, components).required as string[] | undefined) ?? []).length > 0
  return { requestBody: { required, content: { 'application/json': content } } }
}

const resolved = (schema: Schema, components: Components): Schema =>
  typeof schema.$ref === 'string' ? (components[schema.$ref.split('/').at(-1)!] ?? schema) : schema

function contentOf(type: string, route: AnyRoute, components: Components): Schema {
  const zod =
    type === 'application/json'
      ? (route.body ?? route.described?.json)
      : FORMS.has(type)
        ? route.described?.form
        : undefined
  if (!zod) return { schema: { ...BINARY, description: 'The bytes themselves' } }
  const schema = toJsonSchema(zod, 'input', components, route.operation)
  if (type !== 'application/json') return { schema }
  const example = exampleBody(route, zod, schema, components)
  return { schema, ...(example !== undefined && { example }) }
}
