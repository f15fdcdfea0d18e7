import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { json, say, status } from '#test/fakes/llm/answers'
import { type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type FakeMcp, startFakeMcp } from '#test/fakes/mcp/server'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

// Each workspace has its own language models. In these tests tenants may not use the installation's models.

let first: FakeLlm
let second: FakeLlm
let mcp: FakeMcp
let service: Service
let world: World

beforeAll(async () => {
  first = await startFakeLlm()
  second = await startFakeLlm()
  mcp = await startFakeMcp()
  service = await startService({
    env: {
      HEDDLE_ALLOW_TARGETS: [new URL(first.baseUrl).host, new URL(second.baseUrl).host, mcp.target].join(','),
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'of-the-installation',
      LLM_API_KEY: 'installation-key-1234',
      LLM_BASE_URL: second.baseUrl,
      LLM_FOR_TENANTS: 'closed',
    },
  })
  world = await makeWorld(service)
})
beforeEach(async () => {
  first.reset()
  second.reset()
  await choose({ credential_id: null })
})
afterAll(async () => {
  await service?.stop()
  await first?.close()
  await second?.close()
  await mcp?.close()
})

const KEY = 'sk-of-a-workspace-1234'
async function stored(fake: FakeLlm, person: TestPerson = world.owner, more: object = {}): Promise<string> {
  const made = await person.call('POST', '/api/credentials', {
    body: {
      name: 'Model',
      kind: 'llm',
      config: { provider: 'openai-compatible', base_url: fake.baseUrl, default_model: 'their-model' },
      secrets: { api_key: fake.key },
      ...more,
    },
  })
  expect(made.status, made.text).toBe(201)
  return made.body.credential_id
}
const choose = (body: object, person: TestPerson = world.owner): Promise<Answer> =>
  person.call('PUT', `/api/workspaces/${world.workspace.id}/language-model`, { body })
async function run(type: string, args: object, person: TestPerson = world.owner): Promise<Answer['body']> {
  const definition = { nodes: [{ id: 'n', type, args }], edges: [], output: { $ref: 'nodes.n.output' } }
  const made = await person.call('POST', '/api/workflows', { body: { name: 'M', definition } })
  expect(made.status, made.text).toBe(201)
  const ran = await person.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, {
    body: { input: {} },
  })
  return (await person.call('GET', `/api/workflows/executions/${ran.body.execution_id}`)).body
}

describe('the model of a node', () => {
  test('is missing if the operator does not offer the installation’s model to tenants', async () => {
    const ended = await run('llm.generate', { prompt: 'Hello' })
    expect(ended.nodes[0].error).toMatchObject({
      code: 'provider_not_configured',
      message: expect.stringContaining('Store a credential'),
    })
    expect(second.asked).toHaveLength(0)
  })

  test('is the model that the node names, with its name, temperature and images', async () => {
    const id = await stored(first)
    first.script(say('Bonjour'))
    const ended = await run('llm.generate', {
      prompt: 'What is this?',
      credential_id: id,
      model: 'another-model',
      temperature: 0.3,
      images: [{ base64: 'iVBORw0KGgo=', content_type: 'image/png' }],
    })
    expect(ended.results?.text, JSON.stringify(ended.nodes)).toBe('Bonjour')
    const sent = JSON.stringify(first.asked[0])
    expect(sent).toContain('another-model')
    expect(sent).toContain('"temperature":0.3')
    expect(sent).toContain('data:image/png;base64,iVBORw0KGgo=')
    expect(JSON.stringify(ended)).not.toContain(first.key)
  })

  test('is the workspace’s model if the node names none, for every user of the workspace', async () => {
    const id = await stored(first)
    expect((await choose({ credential_id: id })).body).toEqual({
      credential_id: id,
      fallback_credential_id: null,
      embedding_model: null,
      source: 'workspace',
    })
    first.script(say('Guten Tag'))
    expect((await run('llm.generate', { prompt: 'Hello' }, world.member)).results.text).toBe('Guten Tag')
  })

  test('is the fallback if the first model is unavailable', async () => {
    const [away, there] = [await stored(first), await stored(second)]
    first.script(status(503), status(503), status(503))
    second.script(say('Here I am'))
    const args = { prompt: 'Hello', credential_id: away, fallback_credential_id: there, model: 'only-of-the-first' }
    expect((await run('llm.generate', args)).results.text).toBe('Here I am')
    expect(JSON.stringify(second.asked[0])).toContain('their-model')
    await choose({ credential_id: away, fallback_credential_id: there })
    first.script(status(503), status(503), status(503))
    second.script(say('Again'))
    expect((await run('llm.generate', { prompt: 'Hello' })).results.text).toBe('Again')
  })

  test('is not the fallback if the first model refuses the request', async () => {
    const [refusing, there] = [await stored(first), await stored(second)]
    first.script(status(400))
    const ended = await run('llm.generate', { prompt: 'Hello', credential_id: refusing, fallback_credential_id: there })
    expect(ended.nodes[0].error.code).toBe('provider_refused')
    expect(second.asked).toHaveLength(0)
  })

  test('must be a language model that the principal may use', async () => {
    const token = await world.owner.call('POST', '/api/credentials', {
      body: { name: 'T', kind: 'bearer', hosts: ['a.example'], secrets: { token: KEY } },
    })
    const wrong = await run('llm.generate', { prompt: 'Hello', credential_id: token.body.credential_id })
    expect(wrong.nodes[0].error.code).toBe('credential_not_allowed')
    const refused = await choose({ credential_id: token.body.credential_id })
    expect([refused.status, refused.body.code]).toEqual([422, 'unknown_reference'])
    const foreign = await stored(first, world.member)
    expect((await choose({ credential_id: foreign })).status).toBe(422)
    expect((await choose({ credential_id: null }, world.member)).status).toBe(403)
  })

  test('reads messages for a caller who may use it', async () => {
    const id = await stored(first)
    first.script(json({ found: [{ name: 'name', value_json: '"Ada"', quote: 'Ada' }] }))
    const body = { message: 'I am Ada', requirements: ['name'], credential_id: id }
    const read = await world.owner.call('POST', '/api/workflows/extract-requirements', { body })
    expect(read.body, read.text).toMatchObject({
      values: { name: 'Ada' },
      extracted_by: expect.stringContaining('model:'),
    })
    const refused = await world.member.call('POST', '/api/workflows/extract-requirements', { body })
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/credential_id'])
  })

  test('votes on a gate if an approver names it', async () => {
    const id = await stored(first)
    first.script(json({ decision: 'approve', rationale: 'It is fine.', confidence: 0.9, evidence: [] }))
    const ended = await run('approval', {
      title: 'Pay?',
      payload: { sum: 3 },
      policy: {
        approvers: [{ kind: 'agent', id: 'judge', instructions: 'Approve small sums.', credential_id: id }],
        quorum: 'any',
      },
    })
    const [gate] = await until(async () => {
      const path = `/api/workflows/executions/${ended.execution_id}/approvals`
      const { body } = await world.owner.call('GET', path)
      return body.items[0]?.votes.length === 1 && body.items
    }, 'the vote')
    expect(gate.votes[0]).toMatchObject({ voter: { kind: 'agent' }, decision: 'approve' })
    expect(first.asked).toHaveLength(1)
  })

  test('speaks for a template if the template’s owner may use it', async () => {
    const id = await stored(first)
    const { body: template } = await world.owner.call('POST', '/api/templates', {
      body: { name: 'T', llm: { credential_id: id } },
    })
    expect(template.llm).toEqual({ credential_id: id })
    expect((await world.owner.call('GET', `/api/credentials/${id}/usage`)).body.templates).toEqual([
      { template_id: template.template_id, name: 'T' },
    ])
    const foreign = await stored(first, world.member)
    const refused = await world.owner.call('PATCH', `/api/templates/${template.template_id}`, {
      body: { llm: { credential_id: foreign } },
    })
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/llm/credential_id'])
  })
})

describe('a tool server', () => {
  test('gets the credential that is named for it', async () => {
    mcp.mode.token = 'mcp-secret-token'
    const made = await world.owner.call('POST', '/api/credentials', {
      body: { name: 'Tools', kind: 'bearer', hosts: [mcp.target], secrets: { token: 'mcp-secret-token' } },
    })
    const server = { url: mcp.url, credential_id: made.body.credential_id }
    const ended = await run('mcp.call', { server, tool: 'add', arguments: { a: 1, b: 2 } })
    expect(ended.status, JSON.stringify(ended.nodes)).toBe('succeeded')
    const without = await run('mcp.call', { server: mcp.url, tool: 'add', arguments: { a: 1, b: 2 } })
    expect(without.status).toBe('failed')
    const id = await stored(first)
    first.script(say('done'))
    const agent = await run('agent.run', { goal: 'Add', mcp: [server], credential_id: id })
    expect(agent.status, JSON.stringify(agent.nodes)).toBe('succeeded')
    mcp.mode.token = null
  })

  test('gets no credential that comes from an expression', async () => {
    const made = await world.owner.call('POST', '/api/credentials', {
      body: { name: 'Tools', kind: 'bearer', hosts: [mcp.target], secrets: { token: 'mcp-secret-token' } },
    })
    const server = { $cel: `{"url": "${mcp.url}", "credential_id": "${made.body.credential_id}"}` }
    const ended = await run('mcp.call', { server, tool: 'add', arguments: { a: 1, b: 2 } })
    expect(ended.nodes[0].error.code).toBe('credential_not_allowed')
  })
})

test('the judge of a suite uses the model of the workspace', async () => {
  await choose({ credential_id: await stored(first) })
  first.otherwise(json({ decision: 'approve', rationale: 'As it should be.' }))
  const dataset = await world.owner.call('POST', '/api/datasets', { body: { name: 'Cases', records: [{ a: 1 }] } })
  const made = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Judged', definition: { nodes: [{ id: 'n', type: 'set', args: { values: { a: 1 } } }], edges: [] } },
  })
  const suite = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/suites`, {
    body: {
      name: 'Suite',
      dataset_id: dataset.body.dataset_id,
      checks: [{ kind: 'judge', instructions: 'Is it one?' }],
    },
  })
  const started = await world.owner.call('POST', `/api/suites/${suite.body.suite_id}/run`)
  expect(started.status, started.text).toBeLessThan(300)
  const report = await until(async () => {
    const { body } = await world.owner.call('GET', `/api/suites/${suite.body.suite_id}/runs/${started.body.run_id}`)
    return body.finished_at !== null && body
  }, 'the report')
  expect(report).toMatchObject({ passed: 1 })
  expect(first.asked.length).toBeGreaterThan(0)
  expect(second.asked).toHaveLength(0)
})
