import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FakeMcp, startFakeMcp } from '#test/fakes/mcp/server'
import { type Answer, type SharedService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// The tools of an MCP server as actions of a service.

const TOKEN = 'a-token-of-the-tool-server'
let mcp: FakeMcp
const shared = useSharedService()
let service: SharedService
let world: World

beforeAll(async () => {
  mcp = await startFakeMcp()
  service = shared()
  service.allow(mcp.target)
})
beforeEach(async () => {
  world = await makeWorld(service)
  mcp.calls.length = 0
  mcp.onCall = () => {}
  mcp.more = [
    { name: 'look-up', title: 'Look up', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  ]
  Object.assign(mcp.mode, { answers: 'json', token: null, version: '2025-06-18' })
})
afterAll(async () => {
  await mcp.close()
})

const take = (body: object, who = world.owner): Promise<Answer> => who.call('POST', '/api/services/import', { body })

async function credential(): Promise<string> {
  const made = await world.owner.call('POST', '/api/credentials', {
    body: { name: 'Tools', kind: 'bearer', hosts: [mcp.target], secrets: { token: TOKEN } },
  })
  expect(made.status, made.text).toBe(201)
  return made.body.credential_id
}

const save = (args: object): Promise<Answer> =>
  world.owner.call('POST', '/api/workflows', {
    body: { name: 'W', definition: { nodes: [{ id: 'call', type: 'service.call', args }], edges: [] } },
  })
async function run(args: object): Promise<Answer['body']> {
  const made = await save(args)
  expect(made.status, made.text).toBe(201)
  const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input: {} } })
  return until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
    return body.finished_at !== null && body
  }, 'the end of the run')
}

test('tools are listed as actions, with their forms', async () => {
  const made = await take({ name: 'tools', title: 'Tools', mcp_url: mcp.url })
  expect(made.status, made.text).toBe(201)
  expect(made.body).toMatchObject({ service: 'custom.tools', base_url: mcp.url, credential_required: false })
  expect(made.body.actions).toMatchObject([
    { name: 'call_add', title: 'add', description: 'Adds two numbers', effect: 'write', path: 'add' },
    { name: 'get_look_up', title: 'Look up', effect: 'read', path: 'look-up' },
    { name: 'call_fail' },
  ])
  const one = await world.member.call('GET', '/api/services/custom.tools?action=call_add')
  expect(one.body).toMatchObject({ source: 'mcp', actions: [{ args_schema: { required: ['a', 'b'] } }] })
  expect(mcp.openSessions()).toBe(0)
})

test('a tool whose pattern has the escape of NUL is imported; a tool whose schema contains NUL is left out', async () => {
  const inputSchema = { type: 'object', properties: { name: { type: 'string', pattern: '^[^\\u0000-\\u001f]+$' } } }
  mcp.more = [
    { name: 'named', inputSchema },
    { name: 'broken', inputSchema: { type: 'object', properties: { end: { type: 'string', enum: ['\u0000'] } } } },
  ]
  const made = await take({ name: 'tools', mcp_url: mcp.url })
  expect(made.status, made.text).toBe(201)
  expect(made.body.actions.map(({ name }: { name: string }) => name)).toEqual(['call_add', 'call_named', 'call_fail'])
  expect(made.body.notes).toMatchObject([{ path: 'broken' }])
})

test('an action calls its tool with the credential, and the secret is not visible anywhere', async () => {
  mcp.mode.token = TOKEN
  const credential_id = await credential()
  expect((await take({ name: 'tools', mcp_url: mcp.url })).body.code).toBe('probe_failed')
  const made = await take({ name: 'tools', mcp_url: mcp.url, credential_id })
  expect([made.status, made.body.credential_required]).toEqual([201, true])
  const call = { service: 'custom.tools', action: 'call_add', credential_id }
  const ended = await run({ ...call, args: { a: 2, b: 3 } })
  expect(ended.status, JSON.stringify(ended.error)).toBe('succeeded')
  expect(ended.nodes[0].output.structuredContent).toEqual({ sum: 5 })
  const shown = await world.owner.call('GET', `/api/workflows/executions/${ended.execution_id}/events`)
  expect(shown.text).not.toContain(TOKEN)
  expect(mcp.calls).toMatchObject([{ name: 'add', arguments: { a: 2, b: 3 } }])
  expect(mcp.openSessions()).toBe(0)
  const refused = await save({ ...call, args: { a: 'x' } })
  expect(refused.body.errors).toEqual([
    { path: '/definition/nodes/0/args/args/b', message: 'is required' },
    { path: '/definition/nodes/0/args/args/a', message: 'must be number' },
  ])
  expect((await run({ ...call, action: 'call_fail', args: {} })).error.code).toBe('mcp_tool_error')
})

test('a tool server is called only with a credential that the caller may use, and not combined with other sources', async () => {
  const credential_id = await credential()
  expect((await take({ name: 'a', mcp_url: mcp.url, credential_id }, world.member)).body.code).toBe('unknown_reference')
  const errorsOf = async (body: object) => (await take(body)).body.errors
  expect(await errorsOf({ name: 'a', mcp_url: mcp.url, url: mcp.url })).toMatchObject([{ path: '/document' }])
  expect(await errorsOf({ name: 'a', url: mcp.url, credential_id })).toMatchObject([{ path: '/mcp_url' }])
  for (const mcp_url of ['http://169.254.169.254/mcp', `${new URL(mcp.url).origin}/nothing`])
    expect((await take({ name: 'a', mcp_url })).body.code).toBe('probe_failed')
  mcp.mode.answers = 'broken'
  expect((await take({ name: 'a', mcp_url: mcp.url })).body.code).toBe('probe_failed')
})
