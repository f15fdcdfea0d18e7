import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { type FakeMcp, startFakeMcp } from '#test/fakes/mcp/server'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'
import { headersOf, makeRunMetrics } from './telemetry.ts'

// The test's own collector, which decodes the wire format without using the encoder.

type Field = { number: number; kind: number; value: bigint | Buffer }

function fieldsOf(buffer: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer.readUInt8(at++)
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < buffer.length) {
    const tag = Number(varint())
    const [number, kind] = [tag >> 3, tag & 7]
    if (kind === 0) fields.push({ number, kind, value: varint() })
    else if (kind === 1) {
      fields.push({ number, kind, value: buffer.subarray(at, at + 8) })
      at += 8
    } else if (kind === 2) {
      const length = Number(varint())
      if (at + length > buffer.length) throw new Error('a field is longer than its message')
      fields.push({ number, kind, value: buffer.subarray(at, at + length) })
      at += length
    } else throw new Error(`no kind ${kind} is expected`)
  }
  return fields
}
const all = (buffer: Buffer, number: number): Buffer[] =>
  fieldsOf(buffer)
    .filter((field) => field.number === number)
    .map(({ value }) => value as Buffer)
const one = (buffer: Buffer, number: number): Buffer => all(buffer, number)[0]!
const number_ = (buffer: Buffer, number: number): number =>
  Number(fieldsOf(buffer).find((field) => field.number === number)!.value as bigint)
const attributesOf = (buffer: Buffer, number: number): Record<string, unknown> =>
  Object.fromEntries(
    all(buffer, number).map((pair) => {
      const [value] = fieldsOf(one(pair, 2))
      const read = value!.number === 1 ? (value!.value as Buffer).toString() : Number(value!.value as bigint)
      return [one(pair, 1).toString(), read]
    }),
  )

const spansIn = (request: Buffer) =>
  all(request, 1)
    .flatMap((resource) => all(resource, 2))
    .flatMap((scope) => all(scope, 2))
    .map((span) => ({
      traceId: one(span, 1).toString('hex'),
      spanId: one(span, 2).toString('hex'),
      parent: all(span, 4)[0]?.toString('hex') ?? null,
      name: one(span, 5).toString(),
      start: one(span, 7).readBigUInt64LE(),
      end: one(span, 8).readBigUInt64LE(),
      attributes: attributesOf(span, 9),
      error: all(span, 15)[0] ? { message: one(one(span, 15), 2).toString(), code: number_(one(span, 15), 3) } : null,
    }))

let collector: Server
let service: Service
let vendor: Vendor
let tools: FakeMcp
let world: World
let answer = 200
/** The collector refuses requests that contain this text with 400. */
const UNWANTED = 'unwanted-node'
let unwanted = 0
const received: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = []

beforeAll(async () => {
  collector = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts)
      const isUnwanted = body.includes(UNWANTED)
      if (isUnwanted) unwanted += 1
      else if (answer === 200) received.push({ path: request.url!, headers: request.headers, body })
      response.writeHead(isUnwanted ? 400 : answer).end()
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const { port } = collector.address() as AddressInfo
  vendor = await startVendor()
  tools = await startFakeMcp()
  service = await startService({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme,authorization=Bearer%20abc',
      OTEL_SERVICE_NAME: 'weaver',
      HEDDLE_ALLOW_TARGETS: `${vendor.host},${tools.target}`,
    },
  })
  world = await makeWorld(service)
})
afterAll(async () => {
  await service?.stop()
  await vendor?.stop()
  await tools?.close()
  await new Promise((resolve) => collector?.close(resolve))
})

async function run(nodes: object[]): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Traced', definition: { nodes, edges: [] } },
  })
  const ran = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, {
    body: { input: { secret: 'plum' } },
  })
  return ran.body.execution_id
}
const spansOf = (executionId: string) =>
  until(async () => {
    const traceId = fromWire('exe', executionId)!.replaceAll('-', '')
    const spans = received.filter(({ path }) => path === '/v1/traces').flatMap(({ body }) => spansIn(body))
    const its = spans.filter((span) => span.traceId === traceId)
    return its.length > 0 && its
  }, 'the trace')

describe('an execution', () => {
  test('is a trace with a span for each of its nodes', async () => {
    const id = await run([
      { id: 'first', type: 'set', args: { values: {} } },
      { id: 'stop', type: 'fail', args: { code: 'no_stock', message: 'None of plum' } },
    ])
    const spans = await spansOf(id)
    const root = spans.find(({ name }) => name === 'execution')!
    expect(root).toMatchObject({
      parent: null,
      attributes: { 'heddle.execution_id': id, 'heddle.workspace_id': world.workspace.id, 'heddle.status': 'failed' },
      error: { message: 'no_stock', code: 2 },
    })
    const stop = spans.find(({ name }) => name === 'stop')!
    expect(stop).toMatchObject({
      parent: root.spanId,
      attributes: { 'heddle.node_type': 'fail', 'heddle.attempt': 1 },
      error: { message: 'no_stock' },
    })
    expect(stop.end).toBeGreaterThanOrEqual(stop.start)
    expect(root.end / 1_000_000n).toBeGreaterThan(BigInt(Date.now() - 600_000))
    const { headers, body } = received.find(({ path }) => path === '/v1/traces')!
    expect(headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      'x-tenant': 'acme',
      authorization: 'Bearer abc',
    })
    expect(attributesOf(one(one(body, 1), 1), 1)).toEqual({ 'service.name': 'weaver' })
    expect(Buffer.concat(received.map((request) => request.body)).includes('plum')).toBe(false)
  })

  test('is part of its caller’s trace, and passes it on to requests and called workflows', async () => {
    const calling = { nodes: [{ id: 'ask', type: 'http.request', args: { url: `${vendor.url}/asked` } }], edges: [] }
    const save = async (body: object): Promise<string> => {
      const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Traced', ...body } })
      expect(made.status, made.text).toBe(201)
      return made.body.workflow_id
    }
    const child = await save({ definition: calling })
    const each = { items: [1], body: calling }
    const workflow = await save({
      definition: {
        nodes: [
          ...calling.nodes,
          { id: 'each', type: 'map', args: each },
          { id: 'sub', type: 'subworkflow', args: { workflow_id: child } },
        ],
        edges: [],
      },
    })
    const traceOf = async (traceId: string, count: number) =>
      until(async () => {
        const spans = received.filter(({ path }) => path === '/v1/traces').flatMap(({ body }) => spansIn(body))
        const its = spans.filter((span) => span.traceId === traceId)
        return its.length === count && its
      }, 'the trace')
    const sent = () => vendor.seen.map(({ headers }) => headers.traceparent)

    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
    const ran = await world.owner.call('POST', `/api/workflows/${workflow}/run?wait_s=60`, { body: {}, headers })
    expect(ran.body.status, ran.text).toBe('succeeded')
    const spans = await traceOf(traceId, 6)
    const roots = spans.filter(({ name }) => name === 'execution')
    const root = roots.find(({ attributes }) => attributes['heddle.execution_id'] === ran.body.execution_id)!
    expect(root.parent).toBe('00f067aa0ba902b7')
    const span = (name: string, parent = root.spanId): string =>
      spans.find((one) => one.name === name && one.parent === parent)!.spanId
    const called = roots.find((one) => one !== root)!
    expect(called.parent).toBe(span('sub'))
    expect(sent().sort()).toEqual(
      [span('ask'), span('each'), span('ask', called.spanId)].map((id) => `00-${traceId}-${id}-01`).sort(),
    )

    // Started by a webhook. A trace that the caller does not record is passed on, but not sent to the collector.
    vendor.seen.length = 0
    const token = await world.owner.call('POST', `/api/workflows/${child}/tokens`, { body: { name: 'Hook' } })
    expect(token.status, token.text).toBe(201)
    const hook = async (traceparent: string) =>
      service.call('POST', `/api/webhooks/workflow/${child}/trigger?wait_s=60`, {
        body: {},
        headers: { authorization: `Bearer ${token.body.token}`, traceparent },
      })
    const unsampled = '11111111111111111111111111111111'
    expect((await hook(`00-${unsampled}-00f067aa0ba902b7-00`)).status).toBe(200)
    expect(sent()).toEqual([expect.stringMatching(`^00-${unsampled}-[0-9a-f]{16}-00$`)])
    const hooked = '22222222222222222222222222222222'
    expect((await hook(`00-${hooked}-00f067aa0ba902b7-01`)).status).toBe(200)
    await traceOf(hooked, 2)
    const all = received.flatMap(({ path, body }) => (path === '/v1/traces' ? spansIn(body) : []))
    expect(all.filter((one) => one.traceId === unsampled)).toEqual([])

    // Without a valid traceparent, the execution has its own trace.
    vendor.seen.length = 0
    const own = await world.owner.call('POST', `/api/workflows/${child}/run?wait_s=60`, {
      body: {},
      headers: { traceparent: '00-zzz' },
    })
    const its = await spansOf(own.body.execution_id)
    const asked = its.find(({ name }) => name === 'ask')!
    expect(sent()).toEqual([`00-${asked.traceId}-${asked.spanId}-01`])
  })

  test('passes its trace on to services and MCP servers, and is part of the trace of an MCP caller', async () => {
    const document = {
      openapi: '3.0.3',
      info: { title: 'Shop', version: '1' },
      servers: [{ url: vendor.url }],
      paths: { '/orders': { get: { operationId: 'listOrders', summary: 'List', responses: {} } } },
    }
    const imported = await world.owner.call('POST', '/api/services/import', { body: { name: 'traced', document } })
    expect(imported.status, imported.text).toBe(201)
    const nodes = [
      { id: 'shop', type: 'service.call', args: { service: 'custom.traced', action: 'get_list_orders', args: {} } },
      { id: 'tool', type: 'mcp.call', args: { server: { url: tools.url }, tool: 'add', arguments: { a: 1, b: 2 } } },
    ]
    const made = await world.owner.call('POST', '/api/workflows', {
      body: { name: 'Traced tool', definition: { nodes, edges: [] }, settings: { mcp_tool: true } },
    })
    expect(made.status, made.text).toBe(201)
    vendor.seen.length = 0
    const traceId = '33333333333333333333333333333333'
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, accept: 'application/json, text/event-stream' }
    const ask = (method: string, params: object) =>
      world.owner.call('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method, params }, headers })
    const listed = await ask('tools/list', {})
    const [{ name }] = listed.body.result.tools
    const called = await ask('tools/call', { name, arguments: {} })
    expect(called.body.result.isError ?? false, called.text).toBe(false)
    const spans = await until(async () => {
      const its = received
        .flatMap(({ path, body }) => (path === '/v1/traces' ? spansIn(body) : []))
        .filter((span) => span.traceId === traceId)
      return its.length === 3 && its
    }, 'the trace')
    const root = spans.find((span) => span.name === 'execution')!
    expect(root.parent).toBe('00f067aa0ba902b7')
    const spanOf = (id: string) => spans.find((span) => span.name === id)!
    expect([spanOf('shop'), spanOf('tool')]).toMatchObject([
      { parent: root.spanId, attributes: { 'heddle.node_type': 'service.call', 'heddle.status': 'succeeded' } },
      { parent: root.spanId, attributes: { 'heddle.node_type': 'mcp.call', 'heddle.status': 'succeeded' } },
    ])
    expect(vendor.seen.map((seen) => seen.headers.traceparent)).toEqual([`00-${traceId}-${spanOf('shop').spanId}-01`])
    expect(new Set(tools.traceparents)).toEqual(new Set([`00-${traceId}-${spanOf('tool').spanId}-01`]))
  })

  test('is counted by status, with its duration', async () => {
    await run([{ id: 'first', type: 'set', args: { values: {} } }])
    const metrics = await until(async () => {
      const last = received.findLast(({ path }) => path === '/v1/metrics')
      if (!last) return undefined
      const found = all(one(one(last.body, 1), 2), 2)
      const counter = found.find((metric) => one(metric, 1).toString() === 'heddle.executions')!
      const points = all(one(counter, 7), 1).map((point) => ({
        value: one(point, 4).readDoubleLE(),
        ...attributesOf(point, 7),
      }))
      return points.some((point) => (point as Record<string, unknown>)['heddle.status'] === 'succeeded') && found
    }, 'the metrics')
    const histogram = metrics.find((metric) => one(metric, 1).toString() === 'heddle.execution.duration')!
    for (const point of all(one(histogram, 9), 1)) {
      const counts = one(point, 6)
      const bounds = one(point, 7)
      expect(counts.length / 8).toBe(bounds.length / 8 + 1)
      let sum = 0n
      for (let at = 0; at < counts.length; at += 8) sum += counts.readBigUInt64LE(at)
      expect(sum).toBe(one(point, 4).readBigUInt64LE())
    }
  })

  test('is dropped if the collector refuses it permanently, and the next one is sent', async () => {
    await run([{ id: UNWANTED, type: 'set', args: { values: {} } }])
    await until(async () => unwanted > 0, 'the refusal')
    const id = await run([{ id: 'second', type: 'set', args: { values: {} } }])
    expect(await spansOf(id)).toHaveLength(2)
  })

  test('continues while the collector refuses everything, and is sent when the collector accepts again', async () => {
    answer = 503
    const id = await run([{ id: 'first', type: 'set', args: { values: {} } }])
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${id}`)
    expect(body.status).toBe('succeeded')
    answer = 200
    expect(await spansOf(id)).toHaveLength(2)
  })
})

test('headers are parsed in the notation of OpenTelemetry', () => {
  expect(headersOf(null)).toEqual({})
  expect(headersOf('a=1, b = two%20words ,broken,=x,c=%zz')).toEqual({ a: '1', b: 'two words', c: '%zz' })
})

test('metrics are returned once for each change', () => {
  const metrics = makeRunMetrics(() => 5)
  expect(metrics.read()).toBeUndefined()
  metrics.note({ status: 'succeeded', startedAt: 0, finishedAt: 20 })
  metrics.note({ status: 'succeeded', startedAt: 0, finishedAt: 1e9 })
  expect(metrics.read()).toMatchObject({
    counters: [{ points: [{ value: 2 }] }],
    histograms: [{ points: [{ counts: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1] }] }],
  })
  expect(metrics.read()).toBeUndefined()
})
