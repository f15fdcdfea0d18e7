import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { checkSchema } from '#model/json-schema-check'
import { makeJudge, sampleOf } from '#test/services/openapi-acceptance'
import { FILE } from '#test/services/vendor'
import type { Service, ServiceAction } from '../manifest.ts'
import { buildRequest } from '../request.ts'
import { compileDocument } from './compile.ts'
import { type CompiledAction, type CompileOptions, DocumentFailure } from './index.ts'
import { parseDocument } from './parse.ts'

const read = (text: string | object): JsonObject =>
  parseDocument(Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)))

function compile(document: string | object, options: CompileOptions = {}) {
  const actions = new Map<string, CompiledAction>()
  const summary = compileDocument(read(document), options, (action) => void actions.set(action.name, action))
  return { summary, actions }
}

const everything = readFileSync(join(import.meta.dirname, '../../../../test/services/openapi/everything.yaml'), 'utf8')
const NO_FILES = { base64: async () => '', mime: async () => '' }

const sent = (action: CompiledAction, args: JsonObject, base_url = 'https://example.com') =>
  buildRequest({ base_url } as Service, action as unknown as ServiceAction, args, { host: undefined, files: NO_FILES })

describe('a document with every kind of parameter, body and auth', () => {
  const { summary, actions } = compile(everything)
  const of = (name: string): CompiledAction => actions.get(name)!

  test('gives the address, the title and the ways to authenticate', () => {
    expect(summary).toEqual({
      title: 'Everything',
      description: 'Every kind of parameter, body and auth',
      version: '1.2 (OpenAPI 3.0.3)',
      base_url: 'https://eu.everything.example.com/v1',
      reference: null,
      auth: [
        { kind: 'bearer', title: 'token', config: {} },
        { kind: 'basic', title: 'basic', config: {} },
        { kind: 'header', title: 'key', config: { name: 'X-Key' } },
        { kind: 'query', title: 'query', config: { name: 'api_key' } },
        {
          kind: 'oauth2_code',
          title: 'code',
          config: {
            authorize_url: 'https://id.example.com/authorize',
            token_url: 'https://id.example.com/token',
            scopes: ['read'],
          },
        },
        { kind: 'oauth2_client', title: 'code', config: { token_url: 'https://id.example.com/token', scopes: [] } },
        { kind: 'tls_client', title: 'mutual', config: {} },
      ],
      // One of the operations needs no credential.
      credential_required: false,
      notes: [],
      skipped: 0,
    })
  })

  test('gives each action a name that starts with its method, and the effect of that method', () => {
    expect([...actions.values()].map(({ name, effect, title }) => [name, effect, title])).toEqual([
      ['get_thing', 'read', 'Read a thing'],
      ['delete_things_delete', 'idempotent', 'Things delete'],
      ['get_label_a_matrix_b_exploded_c', 'read', 'GET /label/{a}/matrix/{b}/exploded/{c}'],
      ['post_create_thing', 'write', 'Create thing'],
      ['post_send_form', 'write', 'Send form'],
      ['put_upload', 'idempotent', 'Upload'],
      ['post_send_raw', 'write', 'Send raw'],
    ])
  })

  test.each<[string, Json, string]>([
    ['many', ['a b', 'c'], '?many=a+b&many=c'],
    ['joined', [1, 2], '?joined=1%2C2'],
    ['spaced', ['a', 'b'], '?spaced=a+b'],
    ['piped', ['a', 'b'], '?piped=a%7Cb'],
    ['deep', { a: 1, b: { c: 2 } }, '?deep%5Ba%5D=1&deep%5Bb%5D%5Bc%5D=2'],
    ['spread', { a: 1, b: 'x' }, '?a=1&b=x'],
    ['pairs', { a: 1, b: 'x' }, '?pairs=a%2C1%2Cb%2Cx'],
    ['filter', { a: [1] }, '?filter=%7B%22a%22%3A%5B1%5D%7D'],
    ['top', 5, '?%24top=5'],
    ['page', 2, '?page=2'],
  ])('sends %s in the query', async (arg, value, query) => {
    const { url } = await sent(of('get_thing'), { thing_id: 'x', [arg]: value })
    expect(url.search).toBe(query)
  })

  test('sends headers, cookies and the path, and has no argument for a header that the credential sets', async () => {
    const request = await sent(of('get_thing'), { thing_id: 'a/b ?', 'X-Trace': ['1', '2'], session: 's;1' })
    expect(request.url.href).toBe('https://example.com/things/a%2Fb%20%3F')
    expect(request.headers).toEqual({ accept: 'application/json', 'x-trace': '1,2', cookie: 'session=s%3B1' })
    expect(Object.keys(of('get_thing').args_schema.properties as object)).not.toContain('Authorization')
    const styled = await sent(of('get_label_a_matrix_b_exploded_c'), {
      a: ['1', '2'],
      b: ['1', '2'],
      c: { x: 1, y: 2 },
    })
    expect(styled.url.pathname).toBe('/label/.1,2/matrix/;b=1,2/exploded/;x=1;y=2')
  })

  test.each(['.', '..', '%2e', ''])('never sends %j as a segment of the path', async (thing_id) => {
    if (thing_id === '%2e') expect((await sent(of('get_thing'), { thing_id })).url.pathname).toBe('/things/%252e')
    else await expect(sent(of('get_thing'), { thing_id })).rejects.toThrow('is required')
  })

  test('sends bodies according to their content type', async () => {
    expect((await sent(of('post_create_thing'), { body: { name: 'n' } })).body).toEqual({
      kind: 'text',
      text: '{"name":"n"}',
      contentType: 'application/json',
    })
    const form = await sent(of('post_send_form'), { body: { name: 'a b', tags: ['x', 'y'], deep: { k: [1, 2] } } })
    expect(form.body).toMatchObject({ text: 'name=a+b&tags=x&tags=y&deep%5Bk%5D%5B0%5D=1&deep%5Bk%5D%5B1%5D=2' })
    expect(form.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect((await sent(of('put_upload'), { body: { file: FILE, about: { a: 1 } } })).body).toEqual({
      kind: 'multipart',
      parts: { file: FILE, about: '{"a":1}' },
    })
    const raw = await sent(of('post_send_raw'), { body: FILE })
    expect([raw.url.origin, raw.body, raw.headers]).toEqual([
      'https://uploads.example.com',
      { kind: 'file', file: FILE },
      { 'content-type': 'application/octet-stream' },
    ])
    expect((await sent(of('post_send_raw'), { body: 'text' })).body).toMatchObject({ kind: 'text', text: 'text' })
  })

  test('returns responses that are not JSON as text or as a file', () => {
    expect(
      [of('post_send_form'), of('put_upload'), of('post_create_thing')].map((one) => [one.headers, one.response]),
    ).toEqual([
      [{ accept: 'text/csv' }, 'text'],
      [{ accept: 'application/pdf' }, 'file'],
      [{ accept: 'application/vnd.thing+json' }, undefined],
    ])
  })

  test('has form schemas without read-only fields, in which a recursive schema is any JSON', () => {
    const { body, ...rest } = of('post_create_thing').args_schema.properties as Record<string, JsonObject>
    expect(rest).toEqual({})
    expect(body).toMatchObject({ required: ['name'], type: 'object' })
    expect(body!.properties).toEqual({
      name: { type: 'string', minLength: 1 },
      size: { type: ['integer', 'null'] },
      parent: { description: 'Any JSON' },
      odd: { type: 'string' },
    })
    expect((of('get_thing').args_schema.properties as JsonObject).page).toMatchObject({ exclusiveMinimum: 0 })
    for (const { args_schema } of actions.values()) expect(checkSchema(args_schema)).toEqual([])
  })

  test('makes requests from form values that match the document', async () => {
    const document = read(everything)
    const judge = makeJudge(document, { base_url: summary.base_url! })
    for (const action of actions.values())
      for (const isWhole of [false, true]) {
        const args = sampleOf(action.args_schema, isWhole) as JsonObject
        expect(validateJson(action.args_schema, args), action.name).toEqual([])
        if (action.path.includes('matrix')) continue
        expect(await judge(action, args), action.name).toBeUndefined()
      }
  })

  test('is used by a judge that detects a wrong request', async () => {
    const judge = makeJudge(read(everything), { base_url: summary.base_url! })
    expect(await judge(of('post_create_thing'), { body: { size: 'x' } })).toContain('must have required property')
    expect(await judge(of('get_thing'), { thing_id: 'x' })).toBe('the query has no page')
  })
})

describe('Swagger 2', () => {
  const { summary, actions } = compile({
    swagger: '2.0',
    info: { title: 'Old' },
    host: 'old.example.com',
    basePath: '/api',
    schemes: ['https'],
    consumes: ['application/json'],
    securityDefinitions: {
      o: {
        type: 'oauth2',
        flow: 'accessCode',
        authorizationUrl: 'https://a.example/x',
        tokenUrl: 'https://a.example/y',
      },
    },
    paths: {
      '/pets': {
        get: {
          parameters: [
            { name: 'ids', in: 'query', type: 'array', items: { type: 'string' } },
            { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
            { name: 'tabs', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'tsv' },
          ],
        },
        post: { parameters: [{ name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }] },
      },
      '/pets/{id}/photo': {
        post: {
          consumes: ['multipart/form-data'],
          parameters: [
            { name: 'photo', in: 'formData', type: 'file', required: true },
            { name: 'note', in: 'formData', type: 'string' },
          ],
        },
      },
    },
    definitions: { Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
  })

  test('is read like OpenAPI 3', async () => {
    expect(summary).toMatchObject({ base_url: 'https://old.example.com/api', version: '(OpenAPI 2.0)' })
    expect(summary.auth).toMatchObject([{ kind: 'oauth2_code', config: { token_url: 'https://a.example/y' } }])
    const { url } = await sent(actions.get('get_pets')!, { ids: ['1', '2'], tags: ['a', 'b'], tabs: ['x', 'y'] })
    expect(url.search).toBe('?ids=1%2C2&tags=a&tags=b&tabs=x%09y')
    expect(actions.get('post_pets')!.args_schema).toMatchObject({
      properties: { body: { required: ['name'] } },
      required: ['body'],
    })
    const photo = actions.get('post_pets_id_photo')!
    // The document does not declare this path parameter.
    expect(photo.args_schema.required).toEqual(['id', 'body'])
    expect(validateJson(photo.args_schema, { id: '1', body: { photo: FILE, note: 'n' } })).toEqual([])
    expect((await sent(photo, { id: '1', body: { photo: FILE } })).body.kind).toBe('multipart')
  })
})

const minimal = (paths: object, more: object = {}) => ({ openapi: '3.1.0', info: { title: 'T' }, paths, ...more })
const get = (operation: object = {}) => ({ get: { responses: {}, ...operation } })

describe('a hostile document', () => {
  test.each<[string, string | object, string]>([
    ['is not a document', '[1]', 'it is not an object'],
    ['is not JSON', '{"a":', 'starts like JSON'],
    ['is not YAML', 'a: [', 'neither JSON nor YAML'],
    ['has another version', { openapi: '4.0.0', paths: {} }, 'must be 3.0 or 3.1'],
    ['has no paths', { openapi: '3.0.0' }, 'has no paths'],
    ['has no operations', minimal({ '/a': {} }), 'no operation that can be called'],
    [
      'has too many operations',
      minimal(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`/a${n}`, get()]))),
      'at most 3000 operations',
    ],
    [
      'is nested too deeply',
      `{"openapi":"3.0.0","paths":${'{"a":'.repeat(200)}1${'}'.repeat(201)}`,
      'nested too deeply',
    ],
    ['contains itself', 'openapi: 3.0.0\npaths: &p\n  /a: *p\n', 'contains itself'],
  ])('that %s is refused with the reason', (_, document, reason) => {
    expect(() => compile(document)).toThrow(DocumentFailure)
    expect(() => compile(document)).toThrow(reason)
  })

  test('with nested aliases is refused without expanding them', () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
    for (let n = 1; n < 12; n += 1)
      lines.push(`a${n}: &a${n} [${Array.from({ length: 9 }, () => `*a${n - 1}`).join(',')}]`)
    expect(() => compile(`openapi: 3.0.0\n${lines.join('\n')}\npaths: {}`)).toThrow('alias')
  })

  test('with circular or endlessly growing schemas is cut off', () => {
    const fields = (to: string) =>
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, { $ref: `#/components/schemas/${to}` }]))
    const schemas = {
      Loop: { $ref: '#/components/schemas/Loop' },
      Ping: { $ref: '#/components/schemas/Pong' },
      Pong: { type: 'object', properties: { ping: { $ref: '#/components/schemas/Ping' } } },
      ...Object.fromEntries(
        Array.from({ length: 12 }, (_, n) => [`Wide${n}`, { type: 'object', properties: fields(`Wide${n + 1}`) }]),
      ),
    }
    const body = (schema: string) => ({
      post: {
        requestBody: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } },
      },
    })
    const document = minimal(
      { '/loop': body('Loop'), '/ping': body('Ping'), '/wide': body('Wide0') },
      { components: { schemas } },
    )
    const { actions } = compile(document)
    expect(actions.size).toBe(3)
    for (const { args_schema } of actions.values()) {
      expect(checkSchema(args_schema)).toEqual([])
      expect(JSON.stringify(args_schema).length).toBeLessThan(60_000)
    }
    expect(validateJson(actions.get('post_wide')!.args_schema, { body: { f0: { f1: {} } } })).toEqual([])
  })

  test('with references to other documents loses those parts, and the notes say so', () => {
    const remote = { $ref: 'http://169.254.169.254/latest/meta-data' }
    const { actions, summary } = compile(
      minimal({
        '/a': { post: { requestBody: { content: { 'application/json': { schema: remote } } } } },
        '/b': get({ parameters: [remote] }),
        '/c': remote,
        '/d': { post: { requestBody: remote } },
      }),
    )
    expect([...actions.keys()]).toEqual(['post_a'])
    expect(summary.skipped).toBe(3)
    expect(summary.notes).toEqual([
      { path: 'GET /b', message: 'a parameter is missing in the document' },
      { path: '/c', message: 'its description is missing in the document' },
      { path: 'POST /d', message: 'its body is missing in the document' },
    ])
  })

  test('cannot use names that reach a prototype or characters that the database cannot store', () => {
    const { actions, summary } = compile(
      minimal({
        '/a': get({ parameters: [{ name: '__proto__', in: 'query', schema: { type: 'string' } }] }),
        '/b': get({ parameters: [{ name: 'x', in: 'query', schema: { enum: ['\u0000'] } }] }),
      }),
    )
    expect(Object.keys(actions.get('get_a')!.args_schema.properties as object)).toEqual(['query___proto__'])
    expect(summary.notes).toEqual([{ path: 'GET /b', message: 'it contains characters that are not valid text' }])
  })

  test.each<[string, object, string | undefined, string | null]>([
    ['no server in an uploaded document', {}, undefined, null],
    [
      'no server in a document from an address',
      {},
      'https://api.example.com/docs/openapi.json',
      'https://api.example.com',
    ],
    [
      'a relative address in a document from an address',
      { servers: [{ url: '/v2' }] },
      'https://api.example.com/docs/openapi.json',
      'https://api.example.com/v2',
    ],
    ['a relative address in an uploaded document', { servers: [{ url: '/v2' }] }, undefined, null],
    ['a variable without a value', { servers: [{ url: 'https://{x}.example.com' }] }, undefined, null],
    ['a file address', { servers: [{ url: 'file:///etc/passwd' }] }, undefined, null],
    ['an address with a password', { servers: [{ url: 'https://a:b@example.com' }] }, undefined, null],
  ])('has the expected address of the server: %s', (_, more, url, base_url) => {
    expect(compile(minimal({ '/a': get() }, more), url === undefined ? {} : { url }).summary.base_url).toBe(base_url)
  })

  test('with two operations of the same name gives them different names', () => {
    const { actions } = compile(minimal({ '/a': get({ operationId: 'x' }), '/b': get({ operationId: 'X' }) }))
    expect([...actions.keys()]).toEqual(['get_x', 'get_x_2'])
  })
})
