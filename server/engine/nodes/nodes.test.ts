import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { validateDefinition } from '#model/graph'
import { validateJson } from '#model/json-schema'
import { checkSchema } from '#model/json-schema-check'
import { problem } from '#platform/errors'
import { toWire } from '#platform/ids'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeSandbox } from '#platform/sandbox/sandbox'
import { type Mail, MailFailure, type MailMessage } from '#providers/mail/index'
import { makeOutboxMail, type OutboxRow } from '#providers/mail/outbox'
import type { Odds } from '#providers/odds/index'
import type { TakeRate } from './http-rate.ts'
import type { Notify } from './notify.ts'
import { describePalette, describeRegistry } from './registry.ts'
import { descriptorsOf, makeNodes, type NodeTable, runnableOf } from './table.ts'

type Seen = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
let server: Server
let port: number
let seen: Seen[] = []
let reply: { status?: number; headers?: Record<string, string>; body?: string | Buffer } = {}
let nodes: NodeTable
let rates: Parameters<TakeRate>[0][] = []
/** Responses by path. Other paths are answered with `reply`. */
let pages: Record<string, Json> = {}
const sandbox = makeSandbox({ processes: 2 })
const mails: OutboxRow[] = []
let mail: Mail
let notified: Parameters<Notify>[0][] = []
let odds: Odds
const person = '019a0000-0000-7000-8000-000000000001'

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      })
      response
        .writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
        .end(JSON.stringify(pages[request.url ?? '']) ?? reply.body ?? '{"ok":true}')
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
  mail = makeOutboxMail({ store: async (row) => void mails.push(row) })
  odds = {
    unavailable: () => 'Set ODDS_API_KEY to use The Odds API.',
    fetch: async () => {
      throw problem('provider_not_configured')
    },
  }
  nodes = makeNodes({
    outgoing: makeOutgoing({ allowTargets: [`127.0.0.1:${port}`] }),
    openCredential: async () => {
      throw new Error('no credential is named here')
    },
    findImported: async () => undefined,
    pieces: { call: async () => expect.unreachable('no piece is called here') },
    programs: { ask: async () => expect.unreachable('no program is asked here') },
    findLock: async () => null,
    takeRate: async (wanted) => {
      rates.push(wanted)
      return rates.length > 5 ? undefined : 0
    },
    sandbox,
    files: {
      maxBytes: 0,
      open: async () => {
        throw new Error('no file is named here')
      },
      save: async () => {
        throw new Error('no file is made here')
      },
    },
    conversion: { convert: async () => ({ files: [] }) },
    mail: { provider: 'outbox', send: (message: MailMessage) => mail.send(message), close: async () => {} },
    odds: { unavailable: () => odds.unavailable(), fetch: (query) => odds.fetch(query) },
    notify: async (notification) => {
      notified.push(notification)
      return { userIds: notification.userIds ?? [notification.startedBy ?? ''] }
    },
  })
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await sandbox.close()
})
beforeEach(() => {
  seen = []
  reply = {}
  rates = []
  pages = {}
  notified = []
  mails.length = 0
})

const run = async (type: string, args: JsonObject, over: Partial<NodeCall> = {}): Promise<Json> => {
  const kind = runnableOf(nodes)[type]
  if (!kind) return expect.fail(`${type} does not run`)
  const { output } = await kind.run({
    workspaceId: 'w',
    workflowId: null,
    executionId: 'e',
    nodePath: 'n',
    attempt: 1,
    args,
    effectKey: 'e:n:0',
    principalId: null,
    credentialIds: new Set(),
    startedBy: person,
    signal: new AbortController().signal,
    log: pino({ level: 'silent' }),
    progress: () => {},
    step: (_name, work) => work(),
    ...over,
  })
  return output
}
const failureOf = async (type: string, args: JsonObject): Promise<NodeFailure> => {
  const error = await run(type, args).then(
    (output) => expect.fail(`no failure: ${JSON.stringify(output)}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(NodeFailure)
  return error as NodeFailure
}
const at = (path: string) => `http://127.0.0.1:${port}${path}`

describe('every node kind', () => {
  it('has a complete description, valid schemas and valid default arguments', () => {
    for (const [type, { descriptor }] of nodes) {
      expect(descriptor.type).toBe(type)
      expect(checkSchema(descriptor.args_schema)).toEqual([])
      expect(checkSchema(descriptor.output_schema)).toEqual([])
      expect(descriptor.description.length).toBeGreaterThan(20)
      expect(descriptor.colour).toMatch(/^#[0-9a-f]{6}$/)
      expect(descriptor.keywords.length).toBeGreaterThan(2)
      const needsInput = ['subworkflow', 'mail.send', 'wait.event', 'file.read', 'file.convert'].includes(type)
      const result = validateDefinition({ nodes: [{ id: 'a', type, args: descriptor.defaults }] }, descriptorsOf(nodes))
      expect(needsInput || result.ok, `${type}: ${JSON.stringify(result)}`).toBe(true)
    }
  })

  it('is in the registry and in the palette exactly once', () => {
    const registry = describeRegistry(nodes)
    const types = [...registry.tools, ...registry.capabilities, ...registry.agents].map(({ type }) => type)
    expect(types.sort()).toEqual([...nodes.keys()].sort())
    expect(registry.tools.find(({ type }) => type === 'odds.fetch')).toMatchObject({
      available: false,
      unavailable_reason: 'Set ODDS_API_KEY to use The Odds API.',
    })
    expect(registry.capabilities.find(({ type }) => type === 'approval')).toMatchObject({
      available: true,
      ports: ['approved', 'rejected'],
    })
    const palette = describePalette(nodes)
    expect(palette.groups.flatMap((group) => group.nodes.map(({ type }) => type)).sort()).toEqual(types.sort())
    expect(palette.groups[0]?.nodes[0]).toMatchObject({
      icon: 'braces',
      keywords: expect.any(Array),
      defaults: { values: {} },
    })
  })

  it('is found only by its own name, and an unknown or inherited name runs nothing', () => {
    const runnable = runnableOf(nodes)
    for (const name of ['set', 'constructor', '__proto__', 'toString', 'execute.command'])
      expect(runnable[name]).toBeUndefined()
    expect(() => makeNodes({} as never, [{ descriptor: nodes.get('set')!.descriptor, control: true }])).toThrow(
      'exists twice',
    )
  })

  it('refuses invalid arguments from an expression', async () => {
    expect(await failureOf('http.request', { url: null })).toMatchObject({ code: 'args_invalid', retryable: false })
    expect((await failureOf('odds.fetch', { date: 'tomorrow' })).message).toBe('NHL odds: date must be a valid date')
  })
})

describe('control kinds', () => {
  const valid = (type: string, args: JsonObject) =>
    validateJson(nodes.get(type)!.descriptor.args_schema, args).length === 0

  it('accept the arguments of shapes.md', () => {
    expect(valid('wait', { for_s: 5 })).toBe(true)
    expect(valid('wait', { until: '2026-12-24T18:00:00Z' })).toBe(true)
    expect(valid('wait', { for_s: 5, until: '2026-12-24T18:00:00Z' })).toBe(false)
    expect(valid('wait', {})).toBe(false)
    expect(valid('fail', { message: 'no' })).toBe(true)
    expect(valid('subworkflow', { workflow_id: 'wf_1', version_id: 'wfv_1', input: {} })).toBe(true)
    expect(valid('map', { items: [], body: { nodes: [] }, concurrency: 4, on_item_error: 'collect' })).toBe(true)
    expect(
      valid('clarification', {
        question: 'How many?',
        schema: { type: 'integer' },
        due_in_s: 60,
        on_due: 'default',
        default: 1,
      }),
    ).toBe(true)
    const policy: JsonObject = {
      approvers: [
        { kind: 'user', id: 'usr_1' },
        { kind: 'agent', id: 'a', instructions: 'be strict' },
      ],
      veto: ['owner'],
      allow_self: true,
      due_in_s: 60,
      on_due: 'escalate',
      escalate_to: [{ kind: 'team', id: 'team_1' }],
    }
    for (const quorum of ['any', 'all', { n_of: 2 }, { $cel: 'approvals.total > 1' }] as Json[]) {
      expect(valid('approval', { title: 'Pay', payload: 1, policy: { ...policy, quorum } })).toBe(true)
    }
    expect(valid('approval', { title: 'Pay', policy: { ...policy, quorum: 'most' } })).toBe(false)
  })

  it('do not accept a policy, case or code from data', () => {
    const kinds = descriptorsOf(nodes)
    const paths = (type: string, args: JsonObject) => {
      const result = validateDefinition({ nodes: [{ id: 'a', type, args }] }, kinds)
      return result.ok ? [] : result.errors.map(({ path }) => path)
    }
    const from = { $ref: 'input.x' }
    expect(paths('approval', { title: 'a', policy: from })).not.toEqual([])
    expect(paths('approval', { title: 'a', policy: { approvers: from, quorum: from } })).not.toEqual([])
    expect(paths('approval', { title: 'a', policy: { approvers: from, quorum: 'all' } })).not.toEqual([])
    expect(
      paths('approval', { title: 'a', policy: { approvers: [{ kind: 'user', id: from }], quorum: 'all' } }),
    ).toEqual([])
    expect(paths('branch', { cases: from })).not.toEqual([])
    expect(paths('code', { source: from })).toEqual(['/nodes/0/args/source'])
    expect(paths('transform', { expression: { $cel: 'input.x' } })).toEqual(['/nodes/0/args/expression'])
  })
})

describe('http.request', () => {
  it('sends the given request and reads JSON', async () => {
    const output = await run('http.request', {
      method: 'POST',
      url: at('/a?x=1'),
      query: { y: [1, 2], z: 'a b', none: null },
      headers: { Authorization: 'Bearer t', 'X-Count': 3 },
      json: { a: [1] },
    })
    expect(output).toMatchObject({ status: 200, body: { ok: true } })
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/a?x=1&y=1&y=2&z=a+b',
      body: '{"a":[1]}',
      headers: {
        authorization: 'Bearer t',
        'x-count': '3',
        'content-type': 'application/json',
        'idempotency-key': 'e:n:0',
      },
    })
  })

  it('sends the same idempotency key on every attempt of an unsafe method, and none for a safe method', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD', 'OPTIONS'])
      await run('http.request', { method, url: at('/') })
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual([
      ...Array(4).fill('e:n:0'),
      undefined,
      undefined,
      undefined,
    ])
    await run('http.request', { method: 'POST', url: at('/'), headers: { 'Idempotency-Key': 'mine' } })
    expect(seen.at(-1)?.headers['idempotency-key']).toBe('mine')
  })

  it('reads text, empty bodies and other content', async () => {
    const body = async (type: string, content: string | Buffer) => {
      reply = { headers: { 'content-type': type }, body: content }
      return ((await run('http.request', { url: at('/') })) as JsonObject).body
    }
    expect(await body('text/plain; charset=utf-8', 'grüße')).toBe('grüße')
    expect(await body('application/problem+json', '{"a":1}')).toEqual({ a: 1 })
    expect(await body('application/json', '')).toBe(null)
    expect(await body('image/png', Buffer.from([1, 2]))).toEqual({ base64: 'AQI=', content_type: 'image/png' })
    reply = { body: '['.repeat(100_000) + ']'.repeat(100_000) }
    expect((await failureOf('http.request', { url: at('/') })).code).toBe('response_unreadable')
    const wide = (keys: number) =>
      Object.fromEntries(Array.from({ length: keys }, (_, key) => [`key ${key}`, ':{'.repeat(2)]))
    for (const many of [wide(20_001), Array(11).fill(wide(10_000))]) {
      reply = { body: JSON.stringify(many) }
      expect(await failureOf('http.request', { url: at('/') })).toMatchObject({
        code: 'response_too_large',
        retryable: false,
      })
    }
    for (const few of [[wide(20_000), { 'a "b" \\': { c: {} } }], Array(5_000).fill(wide(25))])
      expect(JSON.stringify(await body('application/json', JSON.stringify(few))) === JSON.stringify(few)).toBe(true)
    reply = { body: '{not json' }
    expect(await failureOf('http.request', { url: at('/') })).toMatchObject({
      code: 'response_unreadable',
      retryable: false,
    })
  })

  it.each([
    [404, false],
    [400, false],
    [429, true],
    [503, true],
  ])('treats status %i as an error', async (status, retryable) => {
    reply = { status, body: '{"why":"x"}' }
    expect(await failureOf('http.request', { url: at('/') })).toMatchObject({
      code: 'http_status',
      retryable,
      details: { status, body: '{"why":"x"}' },
    })
    expect(await run('http.request', { url: at('/'), ok_statuses: [status] })).toMatchObject({ status })
  })

  it('returns the time that the target asks to wait', async () => {
    reply = { status: 503, body: '', headers: { 'retry-after': '7' } }
    expect(await failureOf('http.request', { url: at('/') })).toMatchObject({ retryAfterS: 7 })
    reply = { status: 429, body: '', headers: { 'retry-after': new Date(Date.now() + 90_000).toUTCString() } }
    const { retryAfterS } = await failureOf('http.request', { url: at('/') })
    expect(retryAfterS).toBeGreaterThan(80)
    expect(retryAfterS).toBeLessThanOrEqual(91)
    reply = { status: 503, body: '' }
    expect(await failureOf('http.request', { url: at('/') })).toMatchObject({ retryAfterS: undefined })
  })

  const paginate = { next: { $cel: 'response.body.next' }, items: { $cel: 'response.body.items' } }

  it('fetches all pages', async () => {
    pages = {
      '/list?size=2': { items: [1, 2], next: '/list?size=2&from=2' },
      '/list?size=2&from=2': { items: [3, 4], next: '/list?size=2&from=4' },
      '/list?size=2&from=4': { items: [5], next: null },
    }
    const args = { url: at('/list'), query: { size: 2 }, paginate }
    expect(await run('http.request', args)).toEqual({ status: 200, items: [1, 2, 3, 4, 5], pages: 3, more: false })
    expect(await run('http.request', { ...args, paginate: { ...paginate, max_pages: 2 } })).toEqual({
      status: 200,
      items: [1, 2, 3, 4],
      pages: 2,
      more: true,
    })
  })

  it('requests the next page with another query or body, each with its own idempotency key', async () => {
    pages = { '/search': { items: [0], cursor: 'c' } }
    const next = { $cel: 'page < 2 ? {"json": {"cursor": response.body.cursor, "page": page + 1}} : null' }
    const args = { method: 'POST', url: at('/search'), json: { page: 0 }, paginate: { ...paginate, next } }
    expect(await run('http.request', args)).toMatchObject({ items: [0, 0, 0], pages: 3, more: false })
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
      { page: 0 },
      { cursor: 'c', page: 1 },
      { cursor: 'c', page: 2 },
    ])
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(3)
  })

  it('does not fetch journalled pages again', async () => {
    pages = { '/a': { items: [1], next: '/b' }, '/b': { items: [2], next: null } }
    const journal = new Map<string, Json>([['page 0', { items: ['kept'], next: '/b', status: 200 }]])
    const step: NodeCall['step'] = async (name, work) => {
      if (!journal.has(name)) journal.set(name, await work())
      return journal.get(name) as never
    }
    expect(await run('http.request', { url: at('/a'), paginate }, { step })).toMatchObject({ items: ['kept', 2] })
    expect(seen.map(({ url }) => url)).toEqual(['/b'])
  })

  it.each<[string, Json, JsonObject, string]>([
    ['is on another host', { items: [], next: 'http://example.org/2' }, paginate, 'pagination_invalid'],
    ['is not a valid address', { items: [], next: 'http://' }, paginate, 'pagination_invalid'],
    ['is a number', { items: [], next: 7 }, paginate, 'pagination_invalid'],
    ['changes the method', { items: [], next: { method: 'DELETE' } }, paginate, 'pagination_invalid'],
    ['has no list of items', { items: 1, next: null }, paginate, 'pagination_invalid'],
    ['lacks a field of the expression', { items: [] }, paginate, 'expression_failed'],
  ])('fails if a page %s', async (_what, page, how, code) => {
    pages = { '/1': page }
    const error: unknown = await run('http.request', { url: at('/1'), paginate: how }).catch((reason) => reason)
    expect(error).toMatchObject({ code })
  })

  it('refuses pagination with responses that are saved as files', async () => {
    expect(await failureOf('http.request', { url: at('/1'), paginate, response: 'file' })).toMatchObject({
      code: 'args_invalid',
    })
    expect(seen).toEqual([])
  })

  it('waits for a permit before each request if it has a rate', async () => {
    pages = { '/1': { items: [1], next: '/2' }, '/2': { items: [2], next: null } }
    await run('http.request', { url: at('/1'), paginate, rate: { limit: 5, per_s: 1 } }, { nodePath: 'm#2[3].call' })
    expect(rates).toEqual(Array(2).fill({ workspaceId: 'w', key: 'recipe:m.call', limit: 5, perS: 1 }))
    await run('http.request', { url: at('/1') })
    expect(rates).toHaveLength(2)
    rates = Array(5).fill(rates[0])
    expect(await failureOf('http.request', { url: at('/1'), rate: { limit: 1, per_s: 1 } })).toMatchObject({
      code: 'rate_exceeded',
      retryable: true,
      retryAfterS: 60,
    })
  })

  it('refuses private addresses, invalid headers and other protocols', async () => {
    expect(await failureOf('http.request', { url: 'http://169.254.169.254/latest/meta-data/' })).toMatchObject({
      code: 'target_refused',
      retryable: false,
    })
    expect((await failureOf('http.request', { url: at('/'), headers: { 'x-a': 'a\r\nb: c' } })).code).toBe(
      'request_invalid',
    )
    expect((await failureOf('http.request', { url: 'file:///etc/passwd' })).code).toBe('request_invalid')
    expect((await failureOf('http.request', { url: at('/'), json: 1, body: 'x' })).code).toBe('args_invalid')
    expect(seen).toEqual([])
  })
})

describe('transform and code nodes', () => {
  it('return the computed value', async () => {
    expect(await run('transform', { expression: '$sum(n)', input: { n: [1, 2] } })).toBe(3)
    const shown: Json[] = []
    expect(
      await run(
        'code',
        { source: 'console.log("x"); return input + 1', input: 1 },
        { progress: (data) => shown.push(data) },
      ),
    ).toBe(2)
    expect(shown).toEqual([{ logs: ['x'] }])
  })

  it('report the reason of a failure, and whether it may be retried', async () => {
    expect(await failureOf('transform', { expression: '$nope()' })).toMatchObject({
      code: 'transform_failed',
      retryable: false,
    })
    expect(await failureOf('code', { source: 'while (true) {}', limits: { time_ms: 100 } })).toMatchObject({
      code: 'sandbox_timeout',
      retryable: true,
    })
    expect(await failureOf('code', { source: 'console.log(1); throw new Error("no")' })).toMatchObject({
      code: 'code_failed',
      details: { logs: ['1'] },
    })
  })
})

describe('message nodes', () => {
  it('notify people by id, or the person who started the execution', async () => {
    const id = toWire('usr', person)
    expect(await run('notify', { user_ids: [id], title: 't', body: 'b', link: '/x' })).toEqual({ user_ids: [id] })
    expect(notified[0]).toMatchObject({ workspaceId: 'w', userIds: [person], key: 'e:n:0', link: '/x' })
    await run('notify', { title: 't', body: 'b' })
    expect(notified[1]).toMatchObject({ userIds: null, startedBy: person })
    expect((await failureOf('notify', { user_ids: ['usr_x'], title: 't', body: 'b' })).code).toBe('unknown_reference')
    expect((await failureOf('notify', { title: 't', body: 'b', link: 'javascript:alert(1)' })).code).toBe(
      'args_invalid',
    )
  })

  it('send mail', async () => {
    expect(await run('mail.send', { to: 'ann@example.org', subject: 's', text: 't' })).toMatchObject({
      provider: 'outbox',
      accepted: ['ann@example.org'],
    })
    expect(mails[0]).toMatchObject({
      workspace_id: 'w',
      idempotency_key: 'e:n:0',
      recipient: ['ann@example.org'],
      body_text: 't',
    })
    expect((await failureOf('mail.send', { to: 'ann@example.org', subject: 's' })).code).toBe('args_invalid')
    mail = { ...mail, send: async () => Promise.reject(new MailFailure('mail_unavailable', 'gone')) }
    expect(await failureOf('mail.send', { to: ['ann@example.org'], subject: 's', html: '<p>' })).toMatchObject({
      code: 'mail_unavailable',
      retryable: true,
    })
  })
})

describe('odds.fetch', () => {
  it('returns the odds, and reports why it cannot', async () => {
    expect(await failureOf('odds.fetch', { date: '2026-01-15' })).toMatchObject({
      code: 'provider_not_configured',
      retryable: false,
    })
    const answer = { date: '2026-01-15', games: [], provider: 'p', fetched_at: 'f' }
    odds = { unavailable: () => null, fetch: async () => answer }
    expect(await run('odds.fetch', { date: '2026-01-15', regions: ['us'] })).toEqual(answer)
  })
})
