import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fromWire, newId } from '#platform/ids'
import { type Answer, type SharedService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Services through the HTTP API: saving, running, and responses from a vendor on this machine.

let vendor: Server
let site: string
const shared = useSharedService()
let service: SharedService
let world: World
let credentialId: string
let asked: { method: string; url: string; token: string; body: string }[] = []
let answers: { status: number; headers?: Record<string, string>; body: unknown }[] = []
const TOKEN = 'glpat-a-secret-of-the-test'

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

beforeAll(async () => {
  vendor = createServer(async (request, response) => {
    const body = await bodyOf(request)
    asked.push({
      method: request.method ?? '',
      url: request.url ?? '',
      token: String(request.headers['private-token']),
      body,
    })
    const answer = answers.shift() ?? { status: 200, body: {} }
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  service = shared()
  service.allow(`127.0.0.1:${port}`)
})
beforeEach(async () => {
  world = await makeWorld(service)
  asked = []
  answers = []
  const made = await world.owner.call('POST', '/api/credentials', {
    body: { name: 'GitLab', service: 'gitlab', hosts: [new URL(site).host], secrets: { value: TOKEN } },
  })
  expect(made.status, made.text).toBe(201)
  credentialId = made.body.credential_id
})
afterAll(async () => {
  vendor.close()
})

const node = (action: string, args: object, more: object = {}) => ({
  id: 'call',
  type: 'service.call',
  args: { service: 'gitlab', action, credential_id: credentialId, args: { site, project: '1', ...args } },
  ...more,
})
const save = (...nodes: object[]): Promise<Answer> =>
  world.owner.call('POST', '/api/workflows', { body: { name: 'W', definition: { nodes, edges: [] } } })

async function run(...nodes: object[]): Promise<Answer['body']> {
  const made = await save(...nodes)
  expect(made.status, made.text).toBe(201)
  const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input: {} } })
  expect(started.status, started.text).toBe(202)
  return until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
    return body.finished_at !== null && body
  }, 'the end of the run')
}

test('an action is called with the secret, and the secret is masked in the response', async () => {
  answers = [{ status: 201, body: { iid: 4, echo: TOKEN } }]
  const ended = await run(node('create_issue', { title: 'Broken', labels: ['bug'] }))
  expect(ended.status, JSON.stringify(ended.error)).toBe('succeeded')
  expect(asked).toEqual([
    {
      method: 'POST',
      url: '/api/v4/projects/1/issues',
      token: TOKEN,
      body: '{"title":"Broken","labels":"bug"}',
    },
  ])
  const shown = await world.owner.call('GET', `/api/workflows/executions/${ended.execution_id}/events`)
  expect(shown.text).not.toContain(TOKEN)
  expect(shown.text).toContain('•••')
})

test('a read is retried after the time that the vendor requests; an error is not retried', async () => {
  answers = [
    { status: 429, headers: { 'retry-after': '0' }, body: { message: 'Retry later' } },
    { status: 200, body: { iid: 3 } },
  ]
  const retry = { retry: { max_attempts: 3, backoff_s: 1 } }
  expect((await run(node('get_issue', { number: 3 }, retry))).status).toBe('succeeded')
  expect(asked).toHaveLength(2)
  answers = [{ status: 404, body: { message: '404 Project Not Found' } }]
  const failed = await run(node('get_issue', { number: 3 }, retry))
  expect(failed.error).toMatchObject({
    code: 'service_refused',
    message: 'GitLab answered 404: 404 Project Not Found',
    details: { service: 'gitlab', action: 'get_issue', status: 404 },
  })
  expect(asked).toHaveLength(3)
})

test('a write with an unknown outcome is not retried; a rate-limited write is', async () => {
  const retry = { retry: { max_attempts: 3, backoff_s: 0 } }
  answers = [{ status: 502, body: {} }]
  const failed = await run(node('create_issue', { title: 'A' }, retry))
  expect(failed.error.code).toBe('service_unavailable')
  expect(asked).toHaveLength(1)
  answers = [
    { status: 429, headers: { 'retry-after': '0' }, body: {} },
    { status: 201, body: { iid: 1 } },
  ]
  expect((await run(node('create_issue', { title: 'A' }, retry))).status).toBe('succeeded')
  expect(asked).toHaveLength(3)
})

test('saving reports errors in a call and in its credential', async () => {
  const errorsOf = async (...nodes: object[]) => {
    const refused = await save(...nodes)
    expect(refused.status, refused.text).toBe(422)
    return refused.body.errors
  }
  expect(await errorsOf(node('create_issue', { title: 7, extra: 1 }))).toEqual([
    { path: '/definition/nodes/0/args/args/title', message: 'must be string' },
    { path: '/definition/nodes/0/args/args/extra', message: 'unknown field' },
  ])
  expect(await errorsOf(node('fly', {}))).toEqual([
    { path: '/definition/nodes/0/args/action', message: 'GitLab has no action "fly"' },
  ])
  const other = { id: 'a', type: 'service.call', args: { service: 'nothing', action: 'x' } }
  expect(await errorsOf(other)).toEqual([
    { path: '/definition/nodes/0/args/service', message: 'there is no service "nothing"' },
  ])
  const without = { ...node('list_projects', {}), args: { service: 'gitlab', action: 'list_projects' } }
  expect(await errorsOf(without)).toMatchObject([{ path: '/definition/nodes/0/args/credential_id' }])
  const slack = { service: 'slack', action: 'list_users', credential_id: credentialId }
  const body = { nodes: [{ id: 's', type: 'service.call', args: slack }], edges: [] }
  const inside = { id: 'm', type: 'map', args: { items: [1], body } }
  expect(await errorsOf(inside)).toEqual([
    {
      path: '/definition/nodes/0/args/body/nodes/0/args/credential_id',
      message: '"GitLab" is not for Slack; it takes a credential for slack or slack_oauth',
    },
  ])
  expect((await save(node('create_issue', { title: { $ref: 'input.title' } }))).status).toBe(201)
})

test('the catalog is searched by service and action, and returns the forms', async () => {
  const found = await world.owner.call('GET', '/api/services?q=gitlab%20issue')
  expect(found.body.items.map((item: { service: string }) => item.service)).toEqual(['gitlab'])
  expect(found.body.items[0].actions.map((action: { name: string }) => action.name)).toContain('create_issue')
  expect(found.body.items[0].actions.map((action: { name: string }) => action.name)).not.toContain('list_commits')
  const first = await world.owner.call('GET', '/api/services?limit=2')
  const second = await world.owner.call('GET', `/api/services?limit=2&cursor=${first.body.next_cursor}`)
  expect(first.body.items).toHaveLength(2)
  expect(second.body.items[0].service > first.body.items[1].service).toBe(true)
  const titles = (await world.owner.call('GET', '/api/services?sort=-title&limit=200')).body.items.map(
    ({ title }: { title: string }) => title,
  )
  expect(titles.length).toBeGreaterThan(10)
  expect(titles).toEqual(titles.toSorted().reverse())
  const open = (await world.owner.call('GET', '/api/services?credential_required=false&limit=200')).body.items
  expect(open.map(({ service }: { service: string }) => service)).toContain('rss')
  expect(open.every((item: { credential_required: boolean }) => !item.credential_required)).toBe(true)
  const one = await world.owner.call('GET', '/api/services/gitlab')
  const create = one.body.actions.find((action: { name: string }) => action.name === 'create_issue')
  expect(create.args_schema.required).toEqual(['project', 'title'])
  expect(create.args_schema.properties.project['x-options']).toBe('projects')
  expect(one.body.options.labels.args).toEqual(['site', 'project'])
  expect((await world.owner.call('GET', '/api/services/nothing')).status).toBe(404)
})

test('options are read with the credential of the caller', async () => {
  const ask = (person: World['owner'], body: object) => person.call('POST', '/api/services/gitlab/options', { body })
  answers = [{ status: 200, body: [{ id: 1, path_with_namespace: 'group/web' }] }]
  const listed = await ask(world.owner, { options: 'projects', args: { site }, credential_id: credentialId })
  expect(listed.body).toEqual({ options: [{ value: 1, label: 'group/web' }], more: false })
  expect(asked[0]!.token).toBe(TOKEN)
  const refused = await ask(world.member, { options: 'projects', args: { site }, credential_id: credentialId })
  expect(refused.status).toBe(422)
  expect(refused.body.code).toBe('unknown_reference')
  const missing = await ask(world.owner, { options: 'labels', args: { site }, credential_id: credentialId })
  expect(missing.body.errors).toEqual([
    { path: '/args/project', message: 'is required before the choices can be listed' },
  ])
  answers = [{ status: 403, body: { message: 'Forbidden' } }]
  const failed = await ask(world.owner, { options: 'projects', args: { site }, credential_id: credentialId })
  expect([failed.status, failed.body.detail]).toEqual([422, 'GitLab answered 403: Forbidden'])
  expect(asked).toHaveLength(2)
})

type Failed = { execution_id: string; failures: number; message: string }

const failuresOf = async (person: World['owner'], query = ''): Promise<Failed[]> => {
  const listed = await person.call('GET', `/api/services/gitlab/errors${query}`)
  expect(listed.status, listed.text).toBe(200)
  return listed.body.items
}

test('failures are listed for their service, once per step of an execution, to users who may see the execution', async () => {
  const refused = { status: 404, body: { message: '404 Not Found' } }
  answers = [refused]
  const first = await run(node('get_issue', { number: 3 }))
  answers = [refused, refused, refused]
  const body = { nodes: [node('get_issue', { number: { $ref: 'item' } })], edges: [] }
  const second = await run({ id: 'each', type: 'map', args: { items: [1, 2, 3], on_item_error: 'collect', body } })
  expect([first.status, second.status]).toEqual(['failed', 'succeeded'])
  // Failures are stored every second, which may be between two items.
  const listed = await until(async () => {
    const found = await failuresOf(world.owner)
    return found.reduce((sum, { failures }) => sum + failures, 0) >= 4 && found
  }, 'all four failures')
  expect(listed).toMatchObject([
    { execution_id: second.execution_id, failures: 3, node_id: expect.stringMatching(/^each\[\d\]\.call$/) },
    {
      error_id: expect.stringMatching(/^err_[0-9a-z]{26}$/),
      execution_id: first.execution_id,
      workflow_id: first.workflow_id,
      action: 'get_issue',
      node_id: 'call',
      code: 'service_refused',
      message: 'GitLab answered 404: 404 Not Found',
      failures: 1,
    },
  ])
  expect(await failuresOf(world.owner, '?q=no+such+text')).toEqual([])
  expect(await failuresOf(world.owner, `?workflow_id=${first.workflow_id}`)).toHaveLength(1)
  // No other user has access to these workflows, and another workspace does not see these failures.
  for (const person of [world.member, world.viewer, world.stranger]) expect(await failuresOf(person)).toEqual([])
  expect((await world.owner.call('GET', '/api/services/github/errors')).body.items).toEqual([])
  expect((await world.owner.call('GET', '/api/services/custom.nothing/errors')).status).toBe(404)
  await service.sql('delete from executions where execution_id = $1', [fromWire('exe', first.execution_id)])
  expect(await failuresOf(world.owner)).toHaveLength(1)
  expect(await service.sql('select from service_errors where workspace_id = $1', [world.workspace.uuid])).toHaveLength(
    1,
  )
})

test('the last 50 failures of a workflow are kept, and one workflow does not displace the failures of another', async () => {
  const rowOf = (workflow_id: string | null, n: number) => ({
    workspace_id: world.workspace.uuid,
    execution_id: newId(),
    step: 'call',
    error_id: newId(),
    workflow_id,
    service: 'gitlab',
    action: 'get_issue',
    node_id: 'call',
    code: 'timeout',
    message: `failure ${n}`,
    failures: 1,
    failed_at: Date.now(),
  })
  const add = (rows: object[]) => service.sql('select add_service_errors($1, 50)', [JSON.stringify(rows)])
  const busy = newId()
  await add([rowOf(newId(), 0), rowOf(null, 1)])
  for (let n = 0; n < 3; n += 1) await add(Array.from({ length: 30 }, (_, at) => rowOf(busy, 30 * n + at)))
  const kept = await service.sql<{ of_busy: boolean; rows: number; first: string }>(
    `select workflow_id is not distinct from $2 as of_busy, count(*)::integer as rows, min(error_id::text) as first
     from service_errors where workspace_id = $1 group by 1 order by 1`,
    [world.workspace.uuid, busy],
  )
  expect(kept).toMatchObject([
    { of_busy: false, rows: 2 },
    { of_busy: true, rows: 50 },
  ])
})

test('the accounts of a service are the fitting credentials that the person may see', async () => {
  const namesOf = async (person: World['owner'], name: string) => {
    const listed = await person.call('GET', `/api/services/${name}/credentials`)
    expect(listed.status, listed.text).toBe(200)
    return listed.body.items.map((one: { name: string }) => one.name)
  }
  const store = (body: object) => world.owner.call('POST', '/api/credentials', { body })
  await store({ name: 'Wild', kind: 'bearer', hosts: ['*.example.com'], secrets: { token: 'a-token' } })
  await store({ name: 'Other', kind: 'bearer', hosts: ['shop.example.org'], secrets: { token: 'a-token' } })
  const document = {
    openapi: '3.0.0',
    info: { title: 'Shop', version: '1' },
    servers: [{ url: 'https://shop.example.com/v1' }],
    paths: { '/orders': { get: { operationId: 'listOrders', responses: {} } } },
  }
  const made = await world.owner.call('POST', '/api/services/import', { body: { name: 'shop', document } })
  expect(made.status, made.text).toBe(201)
  expect(await namesOf(world.owner, 'gitlab')).toEqual(['GitLab'])
  expect(await namesOf(world.owner, 'github')).toEqual([])
  expect(await namesOf(world.owner, 'custom.shop')).toEqual(['Wild'])
  for (const person of [world.member, world.viewer, world.stranger])
    expect(await namesOf(person, 'gitlab'), person.name).toEqual([])
  expect((await world.stranger.call('GET', '/api/services/custom.shop/credentials')).status).toBe(404)
})
