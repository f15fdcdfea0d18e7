import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeWall } from '#platform/wall/wall'
import { callTools, say } from '#test/fakes/llm/answers'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'
import { packProgram } from '#test/pieces/pack'

// An MCP server that is a program. Its package comes from a mirror, it runs behind the wall, and its tools call a
// vendor on this machine.

const TOKEN = 'parcels-token-58a1'

let vendor: Server
let site: string
let mirror: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let service: Service
let world: World
let asked: { method: string; url: string; authorization: string }[] = []
let model: FakeLlm

beforeAll(async () => {
  vendor = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    asked.push({ method, url, authorization: String(headers.authorization) })
    const known = headers.authorization === `Bearer ${TOKEN}`
    request.resume().on('end', () => {
      response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ at: 'Berne', seen: headers.authorization }))
    })
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  mirror = await makeTemporaryDirectory()
  packProgram('parcels', '1.0.0', mirror.path)
  packProgram('parcels', '1.1.0', mirror.path, { dependencies: { other: '1.0.0' } })
  const wall = makeWall({ outgoing: makeOutgoing({ allowTargets: [] }), level: 'namespaces', processes: 1 })
  model = await startFakeLlm()
  service = await startService({
    env: {
      HEDDLE_WALL: (await wall.problem()) === undefined ? 'namespaces' : 'node',
      HEDDLE_ALLOW_TARGETS: `127.0.0.1:${port}`,
      HEDDLE_PIECES_MIRROR: mirror.path,
      HEDDLE_MCP_PACKAGES: '@parts/parcels, @parts/absent',
      HEDDLE_WALL_PROCESSES: '4',
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
})
afterAll(async () => {
  await service?.stop()
  await mirror?.remove()
  await model?.close()
  vendor.close()
})

const take = (body: object): Promise<Answer> => world.owner.call('POST', '/api/services/import', { body })

async function credential(token = TOKEN): Promise<string> {
  const made = await world.owner.call('POST', '/api/credentials', {
    body: { name: 'Parcels', kind: 'bearer', hosts: [new URL(site).host], secrets: { token } },
  })
  expect(made.status, made.text).toBe(201)
  return made.body.credential_id
}

const parcels = (credential_id: string) => ({
  name: 'parcels',
  mcp_package: '@parts/parcels',
  mcp_version: '1.0.0',
  mcp_args: ['--quiet', 'key={{token}}'],
  mcp_environment: { PARCELS_URL: site, PARCELS_TOKEN: '{{token}}' },
  credential_id,
})

const run = (action: string, args: object, credential_id: string): Promise<Answer['body']> =>
  runNode({ id: 'call', type: 'service.call', args: { service: 'custom.parcels', action, args, credential_id } })

async function runNode(node: object): Promise<Answer['body']> {
  const made = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'W', definition: { nodes: [node], edges: [], output: { $ref: 'nodes.call.output' } } },
  })
  expect(made.status, made.text).toBe(201)
  const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input: {} } })
  return until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
    return body.finished_at !== null && body
  }, 'the end of the run')
}

test('a program is installed, lists its tools behind the wall, and gets a placeholder instead of the secret', async () => {
  const id = await credential()
  const made = await take(parcels(id))
  expect(made.status, made.text).toBe(201)
  expect(made.body).toMatchObject({
    service: 'custom.parcels',
    version: '1.0.0',
    credential_required: true,
    package: { name: '@parts/parcels', version: '1.0.0', holds_secret: false },
  })
  expect(made.body.actions.map(({ name, effect }: { name: string; effect: string }) => [name, effect])).toEqual([
    ['get_find_parcel', 'read'],
    ['call_send_parcel', 'write'],
    ['call_look_around', 'write'],
  ])
  const listed = await world.owner.call('GET', '/api/services?q=parcels')
  expect(listed.body.items).toMatchObject([{ service: 'custom.parcels', source: 'mcp_program' }])

  const found = await run('get_find_parcel', { number: 'a/1' }, id)
  expect(found.status, JSON.stringify(found.error)).toBe('succeeded')
  expect(asked).toEqual([{ method: 'GET', url: '/parcels/a%2F1', authorization: `Bearer ${TOKEN}` }])
  expect(JSON.stringify(found)).toContain('Berne')
  expect(JSON.stringify(found)).not.toContain(TOKEN)

  const around = await run('call_look_around', {}, id)
  expect(around.status, JSON.stringify(around.error)).toBe('succeeded')
  const seen = JSON.parse(around.results.content[0].text)
  expect(seen.environment).toEqual(['PARCELS_TOKEN', 'PARCELS_URL'])
  expect(seen.token).toMatch(/^hdlph[0-9a-f]{40}$/)
  expect(seen.started_with).toEqual(['--quiet', `key=${seen.token}`])
  expect(seen.passwords).toBe('ERR_ACCESS_DENIED')

  // The running process uses the changed secret, although it never had the secret itself.
  const changed = await world.owner.call('PUT', `/api/credentials/${id}/secret`, {
    body: { secrets: { token: 'another' } },
  })
  expect(changed.status, changed.text).toBe(200)
  const refused = await run('call_send_parcel', { to: 'Basel' }, id)
  expect(refused.error).toMatchObject({ code: 'mcp_tool_error' })
  expect(asked.at(-1)).toMatchObject({ method: 'POST', authorization: 'Bearer another' })
})

test('an agent can use the tools of a program', async () => {
  const id = await credential()
  expect((await take(parcels(id))).status).toBe(201)
  model.reset()
  model.script(callTools([{ name: 'custom_parcels_get_find_parcel', arguments: { number: '7' } }]), ({ messages }) => {
    expect(messages.findLast(({ role }) => role === 'tool')!.text).toContain('Berne')
    return say('It is in Berne.')
  })
  const tool = { service: 'custom.parcels', action: 'get_find_parcel', credential_id: id }
  const ended = await runNode({ id: 'call', type: 'agent.run', args: { goal: 'Where is 7?', tools: [tool] } })
  expect(ended.status, JSON.stringify(ended.error)).toBe('succeeded')
  expect(ended.results.answer).toBe('It is in Berne.')
  expect(asked).toEqual([{ method: 'GET', url: '/parcels/7', authorization: `Bearer ${TOKEN}` }])
})

test('packages that are not allowed, missing or incomplete are refused with the reason', async () => {
  const errorsOf = async (more: object) => (await take({ name: 'p', ...more })).body.errors
  expect(await errorsOf({ mcp_package: '@parts/other' })).toMatchObject([
    { path: '/mcp_package', message: expect.stringContaining('HEDDLE_MCP_PACKAGES') },
  ])
  expect(await errorsOf({ mcp_package: '@parts/absent' })).toMatchObject([
    { path: '/mcp_package', message: expect.stringContaining('has no package') },
  ])
  expect(await errorsOf({ mcp_package: '@parts/parcels' })).toMatchObject([
    { path: '/mcp_package', message: expect.stringContaining('does not bundle other') },
  ])
  expect(
    await errorsOf({ mcp_package: '@parts/parcels', mcp_environment: { NODE_OPTIONS: '--inspect' } }),
  ).toMatchObject([{ path: '/mcp_environment/NODE_OPTIONS' }])
  expect(await errorsOf({ mcp_package: '@parts/parcels', mcp_environment: { A: '{{token}}' } })).toMatchObject([
    { path: '/credential_id' },
  ])
  expect(await errorsOf({ url: 'https://example.com/a.json', mcp_args: ['x'] })).toMatchObject([
    { path: '/mcp_package' },
  ])
})
