import type { NodeDescriptor } from '#model/node'
import { type Access, describeAccess } from '#platform/access/rules'
import { describeDeprecation } from '../deprecation.ts'
import { isResource } from '../render.ts'
import type { AnyRoute } from '../route.ts'
import { definitionComponents } from './definition.ts'
import { describeFields, undescribed, unusedDescriptions } from './fields.ts'
import { parameterComponents, parametersOf, requestBodyOf } from './requests.ts'
import { headerComponents, problemSchema, refusalComponents, responsesOf } from './responses.ts'
import type { Components, Schema } from './schemas.ts'

// The document is generated from the route tables, their zod schemas and the node registry. Nothing in it is written
// twice.

/** The version of the release (docs/api-policy.md). */
export const API_VERSION = '0.1.0'

/** Finds the routes whose response is a resource and therefore has an ETag. */
export function taggedRoutes(routes: AnyRoute[]): (route: AnyRoute) => boolean {
  const resources = new Set<unknown>(routes.filter(isResource).map(({ answer }) => answer))
  return ({ answer, besides }) => besides !== undefined || (answer !== undefined && resources.has(answer))
}

export function makeOpenApi(routes: AnyRoute[], nodes: Iterable<NodeDescriptor>): Schema {
  const components: Components = {
    Problem: describeFields(problemSchema, 'Problem'),
    ...definitionComponents(nodes),
  }
  const isTagged = taggedRoutes(routes)
  const paths: Record<string, Record<string, Schema>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = operationOf(route, components, isTagged(route))
  }
  const responses = refusalComponents()
  const printed = JSON.stringify(paths)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heddle',
      version: API_VERSION,
      description:
        'Workflows, approvals, data and conversations for many tenants. Ids are TypeIDs, times RFC 3339 in UTC, lists `{items, next_cursor}`, errors `application/problem+json`. A POST with the same `Idempotency-Key` and body gets the same response for 24 hours, unless the operation does not list this header. Operations with `x-heddle-extension` are additions to the base interface.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this installation' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: [...new Set(routes.map(({ area }) => area))].map((name) => ({
      name,
      description: `Operations of the area "${name}".`,
    })),
    paths,
    components: {
      schemas: components,
      responses: Object.fromEntries(Object.entries(responses).filter(([name]) => printed.includes(`/${name}"`))),
      headers: Object.fromEntries(
        Object.entries(headerComponents).filter(([name]) =>
          `${printed}${JSON.stringify(responses)}`.includes(`/headers/${name}"`),
        ),
      ),
      parameters: Object.fromEntries(
        Object.entries(parameterComponents).filter(([name]) => printed.includes(`/parameters/${name}"`)),
      ),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'heddle_session', description: 'The session of a browser' },
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `hk_…`' },
        webhookToken: { type: 'http', scheme: 'bearer', description: 'A webhook token of the workflow, `whs_…`' },
        embedToken: { type: 'http', scheme: 'bearer', description: 'An embed token, `ems_…`' },
      },
    },
  }
}

function operationOf(route: AnyRoute, components: Components, tagged: boolean): Schema {
  const parameters = parametersOf(route, components)
  return {
    operationId: route.operation,
    tags: [route.area],
    summary: route.summary,
    description: [
      route.deprecated && describeDeprecation(route.deprecated),
      route.description,
      `Access: ${describeAccess(route.access)}.${route.scope === null ? '' : ` Scope: \`${route.scope}\`.`}`,
    ]
      .filter((paragraph) => paragraph !== undefined)
      .join('\n\n'),
    ...(route.deprecated && { deprecated: true }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(route, components),
    responses: responsesOf(route, components, tagged),
    security: securityOf(route.access),
    ...(route.extension && { 'x-heddle-extension': true }),
    'x-heddle-access': describeAccess(route.access),
    ...(route.scope !== null && { 'x-heddle-scope': route.scope }),
  }
}

function securityOf(access: Access): Schema[] {
  if (access.word === 'anyone') return []
  if (access.word === 'token' && access.scope === 'inbound') return []
  if (access.word === 'token') return [access.scope === 'webhook' ? { webhookToken: [] } : { embedToken: [] }]
  return [{ session: [] }, { apiKey: [] }]
}

type Operation = {
  operationId: string
  parameters?: { name?: string; description?: string }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses: Record<string, { content?: Record<string, { example?: unknown }> }>
}

/** Returns what the document lacks: fields without a description, JSON without an example, descriptions without a field. */
export function gapsOf(document: Schema): string[] {
  const { paths, components } = document as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Components }
  }
  const fields = new Set<string>()
  for (const [name, schema] of Object.entries(components.schemas)) undescribed(schema, name, fields)
  const missing: string[] = []
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const id = operation.operationId
    undescribed(operation.requestBody, id, fields)
    undescribed(operation.responses, id, fields)
    for (const { name, description } of operation.parameters ?? [])
      if (name !== undefined && description === undefined) fields.add(`${id}.${name}`)
    const body = operation.requestBody?.content['application/json']
    if (body && body.example === undefined) missing.push(`${id}: give its body an example (examples.body of the route)`)
    for (const { content } of Object.values(operation.responses)) {
      const json = content?.['application/json']
      if (json && json.example === undefined)
        missing.push(`${id}: give its answer an example (examples.answer of the route)`)
    }
  }
  return [
    ...[...fields].map((field) => `${field}: describe it (.describe(), or server/platform/http/openapi/fields-*.ts)`),
    ...missing,
    ...unusedDescriptions(document).map((name) => `${name}: no field has this description (fields-*.ts); remove it`),
  ]
}
