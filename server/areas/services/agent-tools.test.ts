import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeWall } from '#platform/wall/wall'
import { callTools, say } from '#test/fakes/llm/answers'
import type { Asked } from '#test/fakes/llm/chat'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type FakeMcp, startFakeMcp } from '#test/fakes/mcp/server'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makeToken, visit } from '#test/harness/widget'
import { makeWorld, type World } from '#test/harness/world'
import { packPiece } from '#test/pieces/pack'

// Actions of imported services, as tools of an agent in a workflow and of an assistant on a site.

let vendor: Server
let site: string
let mcp: FakeMcp
let mirror: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let model: FakeLlm
let service: Service
let world: World
let asked: { url: string; secret: string }[] = []

beforeAll(async () => {
  vendor = createServer((request, response) => {
    const { url = '', headers } = request
    asked.push({ url, secret: String(headers['x-shop-key'] ?? headers.authorization) })
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([{ id: 7, name: 'Loom' }]))
    })
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  mcp = await startFakeMcp()
  model = await startFakeLlm()
  mirror = await makeTemporaryDirectory()
  packPiece('depot', '1.0.0', mirror.path)
  const wall = makeWall({ outgoing: makeOutgoing({ allowTargets: [] }), level: 'namespaces', processes: 1 })
  service = await startService({
    env: {
      HEDDLE_WALL: (await wall.problem()) === undefined ? 'namespaces' : 'node',
      HEDDLE_ALLOW_TARGETS: `127.0.0.1:${port}, ${mcp.target}`,
      HEDDLE_PIECES_MIRROR: mirror.path,
      HEDDLE_PIECES: 'depot',
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'fake-model',
      LLM_MODELS: '*',
      LLM_API_KEY: FAKE_KEY,
      LLM_BASE_URL: model.baseUrl,
    },
  })
})
beforeEach(async () => {
  world = await makeWorld(service)
  asked = []
  mcp.calls.length = 0
  model.reset()
})
afterAll(async () => {
  await service?.stop()
  await mirror?.remove()
  await model?.close()
  await mcp?.close()
  vendor.close()
})

const document = () => ({
  openapi: '3.0.3',
  info: { title: 'Shop', version: '7' },
  servers: [{ url: site }],
  security: [{ key: [] }],
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Shop-Key' } } },
  paths: { '/orders': { get: { operationId: 'listOrders', summary: 'List orders', responses: {} } } },
})

async function post(path: string, body: object): Promise<Answer['body']> {
  const made = await world.owner.call('POST', path, { body })
  expect(made.status, made.text).toBe(201)
  return made.body
}

type Imported = { tool: { service: string; action: string; credential_id?: string }; args: object; said: string }

const ways: Record<string, () => Promise<Imported>> = {
  'an OpenAPI document': async () => {
    const { credential_id } = await post('/api/credentials', {
      name: 'Shop',
      kind: 'header',
      hosts: [new URL(site).host],
      config: { name: 'X-Shop-Key' },
      secrets: { value: 'a-key-of-the-shop' },
    })
    await post('/api/services/import', { name: 'shop', document: document() })
    return { tool: { service: 'custom.shop', action: 'get_list_orders', credential_id }, args: {}, said: 'Loom' }
  },
  'an MCP server': async () => {
    await post('/api/services/import', { name: 'tools', mcp_url: mcp.url })
    return { tool: { service: 'custom.tools', action: 'call_add' }, args: { a: 2, b: 3 }, said: '5' }
  },
  'a piece': async () => {
    await post('/api/services/import', { piece: 'depot', piece_version: '1.0.0' })
    const { credential_id } = await post('/api/credentials', {
      name: 'Depot',
      kind: 'piece',
      config: { service: 'piece.depot', auth: 'CUSTOM_AUTH', values: { base_url: site } },
      secrets: { token: 'depot-token' },
    })
    return { tool: { service: 'piece.depot', action: 'get_list_items', credential_id }, args: {}, said: 'Loom' }
  },
}

/** Scripts the model to call the tool of the service and then to report the result. */
const scripted = ({ tool, args, said }: Imported): void =>
  model.script(
    (seen: Asked) => {
      const name = seen.tools.find((one) => one.startsWith(tool.service.replaceAll('.', '_')))!
      return callTools([{ name, arguments: args }])
    },
    ({ messages }: Asked) => {
      const { text } = messages.findLast(({ role }) => role === 'tool')!
      expect(text).toContain(said)
      expect(text).not.toMatch(/a-key-of-the-shop|depot-token/)
      return say('It is done.')
    },
  )

describe.each(Object.keys(ways))('an action of %s', (way) => {
  test('can be called by an agent in a workflow', async () => {
    const imported = await ways[way]!()
    scripted(imported)
    const node = { id: 'call', type: 'agent.run', args: { goal: 'Look it up', tools: [imported.tool] } }
    const { workflow_id } = await post('/api/workflows', {
      name: 'W',
      definition: { nodes: [node], edges: [], output: { $ref: 'nodes.call.output' } },
    })
    const started = await world.owner.call('POST', `/api/workflows/${workflow_id}/run`, { body: { input: {} } })
    const ended = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
      return body.finished_at !== null && body
    }, 'the end of the run')
    expect(ended.status, JSON.stringify(ended.error)).toBe('succeeded')
    expect(ended.results.answer).toBe('It is done.')
    expect(asked.length + mcp.calls.length).toBe(1)
  })

  test('can be called by an assistant on a site', async () => {
    const imported = await ways[way]!()
    scripted(imported)
    const { template_id } = await post('/api/templates', { name: 'Shop', mode: 'agent', tools: [imported.tool] })
    const { token } = await makeToken(world.owner, `/api/templates/${template_id}`, {
      allowed_origins: ['https://shop.example'],
    })
    const visitor = await visit(service, template_id, token)
    const { body } = await visitor.chat('Look it up, please')
    expect(body.messages.map(({ text }: { text: string }) => text)).toEqual(['It is done.'])
    expect(asked.length + mcp.calls.length).toBe(1)
  })
})

test('an assistant has a credential only while its owner may use the credential', async () => {
  const { tool } = await ways['an OpenAPI document']!()
  const { owner, member } = world
  const share = (shared: object[]) =>
    owner.call('PATCH', `/api/credentials/${tool.credential_id}`, { body: { shared } })
  expect((await share([{ kind: 'user', id: member.id, role: 'use' }])).status).toBe(200)
  const made = await member.call('POST', '/api/templates', { body: { name: 'Shop', mode: 'agent', tools: [tool] } })
  expect(made.status, made.text).toBe(201)
  const { template_id } = made.body
  const origins = { allowed_origins: ['https://shop.example'] }
  const { token } = await makeToken(member, `/api/templates/${template_id}`, origins)
  const visitor = await visit(service, template_id, token)
  const look = callTools([{ name: 'custom_shop_get_list_orders', arguments: {} }])
  const toldBy = ({ messages }: Asked) => say(messages.findLast(({ role }) => role === 'tool')!.text)
  const said = async (): Promise<string> => {
    model.script(look, toldBy)
    return (await visitor.chat('Look it up, please')).body.messages[0].text
  }
  expect(await said()).toContain('Loom')
  expect((await share([])).status).toBe(200)
  expect(await said()).toContain('credential_not_allowed')
  expect(asked).toHaveLength(1)
})

test('an assistant cannot get an action that its service does not have, or an action of another workspace', async () => {
  const { tool } = await ways['an MCP server']!()
  const give = (one: object) =>
    world.owner.call('POST', '/api/templates', { body: { name: 'Shop', mode: 'agent', tools: [one] } })
  const refused = await give({ ...tool, action: 'call_absent' })
  expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/tools/0/service'])
  expect((await give({ ...tool, arguments: { fixed: { c: 1 } } })).body.errors[0].path).toBe(
    '/tools/0/arguments/fixed/c',
  )
  world = await makeWorld(service)
  expect((await give(tool)).status).toBe(422)
})
