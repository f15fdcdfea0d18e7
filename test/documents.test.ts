import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { gapsOf } from '#platform/http/openapi/document'
import { useSharedService } from '#test/harness/service'
import { documents } from '../scripts/documents.ts'

const service = useSharedService()
const root = join(import.meta.dirname, '..')

type Operation = {
  operationId: string
  summary?: string
  responses: Record<string, unknown>
  requestBody?: unknown
  security?: unknown[]
}
const methods = ['get', 'post', 'put', 'patch', 'delete']

describe('documents generated from the program', () => {
  for (const path of Object.keys(documents)) {
    test(`${path} is up to date (npm run generate)`, async () => {
      expect(await readFile(join(root, path), 'utf8')).toBe(documents[path]!(service().app))
    })
  }

  test('every operation of the interface is in the OpenAPI document, with its exact method and path', async () => {
    const interfaceOperations = (await readFile(join(root, 'test', 'interface-operations.tsv'), 'utf8'))
      .trim()
      .split('\n')
    const { body } = await service().call('GET', '/openapi.json')
    const served = new Set(
      Object.entries(body.paths as Record<string, object>).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()}\t${path}`),
      ),
    )
    expect(interfaceOperations.filter((line) => !served.has(line))).toEqual([])
  })

  test('every operation describes its purpose, its responses, its refusals and its access rule', async () => {
    const { body } = await service().call('GET', '/openapi.json')
    const ids = new Set<string>()
    for (const [path, operations] of Object.entries(body.paths as Record<string, Record<string, Operation>>)) {
      for (const method of methods) {
        const operation = operations[method]
        if (!operation) continue
        const place = `${method} ${path}`
        expect(ids.has(operation.operationId), `${operation.operationId} is used twice`).toBe(false)
        ids.add(operation.operationId)
        expect(operation.summary, place).toBeTruthy()
        expect(
          Object.keys(operation.responses).some((status) => status.startsWith('2') || status.startsWith('3')),
          place,
        ).toBe(true)
        expect(Object.keys(operation.responses), place).toContain('429')
        expect(operation.security, place).toBeDefined()
      }
    }
    expect(ids.size).toBe(service().app.routes.length)
  })

  test('the version of the API is the version of the release', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const { body } = await service().call('GET', '/openapi.json')
    expect(body.info.version).toBe(version)
  })

  test('no example and no schema has a key "$ref" that is not a reference of the document', async () => {
    const { body } = await service().call('GET', '/openapi.json')
    const others: string[] = []
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return
      for (const [key, inner] of Object.entries(value)) {
        if (key === '$ref' && !String(inner).startsWith('#/components/')) others.push(path)
        visit(inner, `${path}/${key}`)
      }
    }
    visit(body, '')
    expect(others).toEqual([])
  })

  test('definitions are described by node type, with the arguments of each type', async () => {
    const { body } = await service().call('GET', '/openapi.json')
    const { schemas } = body.components
    const types = [...service().app.nodes.keys()].sort()
    expect(Object.keys(schemas.Node.discriminator.mapping).sort()).toEqual(types)
    for (const name of Object.values<string>(schemas.Node.discriminator.mapping)) {
      const node = schemas[name.split('/').at(-1)!]
      expect(node.properties.args.type, name).toBe('object')
    }
    expect(schemas.HttpRequestNode.properties.args.properties.url.anyOf.at(-1)).toEqual({
      $ref: '#/components/schemas/Expression',
    })
    expect(schemas.WorkflowVersion.properties.definition).toEqual({ $ref: '#/components/schemas/Definition' })
  })

  test('every body, response, header and refusal is described', async () => {
    const { body } = await service().call('GET', '/openapi.json')
    expect(gapsOf(body)).toEqual([])
    expect(gapsOf({ ...body, paths: {} })).toContainEqual(expect.stringContaining('no field has this description'))
    const { paths, components } = body
    expect(Object.keys(paths['/api/workflows'].post.responses)).toEqual(
      expect.arrayContaining(['201', '400', '401', '403', '404', '409', '413', '415', '422', '429', '500', '503']),
    )
    expect(Object.keys(paths['/api/workflows'].post.responses['201'].headers)).toEqual(
      expect.arrayContaining(['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Location', 'Idempotent-Replayed']),
    )
    expect(Object.keys(components.responses.Refused429.headers)).toContain('Retry-After')
    const form = paths['/api/chat-thread/{thread_id}/messages'].post.requestBody.content
    expect(form['multipart/form-data'].schema.properties.audio).toMatchObject({ type: 'string', format: 'binary' })
    expect(form['application/json'].schema.required).toEqual(['text'])
  })

  test('every example is valid for its schema', async () => {
    const { body } = await service().call('GET', '/openapi.json')
    const invalid: string[] = []
    let checked = 0
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return
      const { schema, example } = value as { schema?: JsonObject; example?: Json }
      if (schema !== undefined && example !== undefined) {
        checked += 1
        if (validateJson({ ...schema, components: body.components }, example).length > 0) invalid.push(path)
      }
      for (const [key, inner] of Object.entries(value)) if (key !== 'example') visit(inner, `${path}/${key}`)
    }
    visit(body, '')
    expect(invalid).toEqual([])
    expect(checked).toBeGreaterThan(500)
  })

  test('JSON is never described as bytes, and what a protocol or a workflow answers is described', async () => {
    const { body } = await service().call('GET', '/openapi.json')
    const asBytes = Object.entries(body.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { responses }]) =>
          Object.values(
            responses as Record<string, { content?: Record<string, { schema: { format?: string } }> }>,
          ).some(({ content }) => content?.['application/json']?.schema.format === 'binary'),
        )
        .map(([method]) => `${method} ${path}`),
    )
    expect(asBytes).toEqual([])
    const json = (path: string, status: number | string, type = 'application/json') =>
      body.paths[path].post.responses[status].content?.[type]?.schema
    const inbound = '/api/webhooks/in/{token_or_id}'
    expect(json(inbound, 202)).toEqual({ $ref: '#/components/schemas/WebhookReceived' })
    expect(json(inbound, 200)).toEqual({ description: 'Any JSON' })
    expect(json(inbound, 'default', '*/*')).toMatchObject({ type: 'string' })
    expect(json('/mcp', 200)).toEqual({ $ref: '#/components/schemas/McpReply' })
    expect(json('/mcp', 202)).toBeUndefined()
    expect(json('/oauth/register', 201)).toEqual({ $ref: '#/components/schemas/OAuthClient' })
    expect(json('/oauth/token', 400)).toEqual({ $ref: '#/components/schemas/OAuthError' })
    const { auth } =
      body.paths['/api/workflows/{workflow_id}/tokens'].post.requestBody.content['application/json'].schema.properties
    expect(auth.oneOf.at(-1)).toMatchObject({ type: 'string', enum: ['bearer', 'url', 'basic'] })
  })

  test('every reference in the OpenAPI document resolves', async () => {
    const { body } = await service().call('GET', '/openapi.json')
    const dangling: string[] = []
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const [key, inner] of Object.entries(value)) {
        if (key === '$ref' && typeof inner === 'string' && inner.startsWith('#/')) {
          const found = inner
            .slice(2)
            .split('/')
            .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], body)
          if (found === undefined) dangling.push(inner)
        } else visit(inner)
      }
    }
    visit(body)
    expect(dangling).toEqual([])
  })
})
