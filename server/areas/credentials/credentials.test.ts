import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { getJob, makeDataset, makeJob } from '#test/harness/jobs'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makeWorld, type TestPerson, type World } from '#test/harness/world'

const TOKEN = 'tok-9f8e7d6c5b4a'
let service: Service
let world: World
let vendor: Vendor
let other: Vendor

beforeAll(async () => {
  vendor = await startVendor()
  other = await startVendor()
  service = await startService({ env: { HEDDLE_ALLOW_TARGETS: `${vendor.host},${other.host}` } })
  world = await makeWorld(service)
})
const plain: Vendor['answer'] = (_request, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
beforeEach(() => {
  vendor.seen.length = 0
  other.seen.length = 0
  vendor.answer = plain
})
afterAll(async () => {
  await service?.stop()
  await vendor?.stop()
  await other?.stop()
})

const body = (more: object = {}) => ({
  name: 'Shop',
  kind: 'bearer',
  hosts: [vendor.host],
  secrets: { token: TOKEN },
  ...more,
})
async function store(more: object = {}, person: TestPerson = world.member): Promise<string> {
  const made = await person.call('POST', '/api/credentials', { body: body(more) })
  expect(made.status, made.text).toBe(201)
  return made.body.credential_id
}
const one = (args: object) => ({
  nodes: [{ id: 'n', type: 'http.request', args }],
  edges: [],
  output: { $ref: 'nodes.n.output' },
})
const save = (definition: unknown, person: TestPerson = world.member): Promise<Answer> =>
  person.call('POST', '/api/workflows', { body: { name: 'Calls', definition } })
async function runSaved(workflow: string, person: TestPerson = world.member): Promise<Answer['body']> {
  const ran = await person.call('POST', `/api/workflows/${workflow}/run?wait_s=60`, { body: { input: {} } })
  return (await person.call('GET', `/api/workflows/executions/${ran.body.execution_id}`)).body
}
async function run(args: object, person: TestPerson = world.member): Promise<Answer['body']> {
  const made = await save(one(args), person)
  expect(made.status, made.text).toBe(201)
  return runSaved(made.body.workflow_id, person)
}
const errorOf = (execution: Answer['body']) => execution.nodes[0].error

describe('a credential', () => {
  test('is stored, listed and read without its secret', async () => {
    const made = await world.member.call('POST', '/api/credentials', { body: body({ name: 'Plain' }) })
    expect(made.body).toMatchObject({
      name: 'Plain',
      kind: 'bearer',
      service: null,
      hosts: [vendor.host],
      config: {},
      state: 'ready',
      owner_id: world.member.id,
      shared: [],
      role: 'owner',
      last_used_at: null,
      last_test: null,
    })
    const { credential_id } = made.body
    const read = await world.member.call('GET', `/api/credentials/${credential_id}`)
    const listed = await world.member.call('GET', '/api/credentials?kind=bearer&usable=true')
    expect(read.body).toEqual(made.body)
    expect(listed.body.items).toContainEqual(made.body)
    expect(made.text + read.text + listed.text).not.toContain(TOKEN)
  })

  test.each<[what: string, change: object, path: string]>([
    ['no hosts', { hosts: undefined }, '/hosts'],
    ['an empty list of hosts', { hosts: [] }, '/hosts'],
    ['a URL as a host', { hosts: ['https://a.example/'] }, '/hosts/0'],
    ['a wildcard for a top-level domain', { hosts: ['*.com'] }, '/hosts/0'],
    ['an unknown kind', { kind: 'magic' }, '/kind'],
    ['no kind', { kind: undefined }, '/kind'],
    ['no secret', { secrets: undefined }, '/secrets/token'],
    ['a secret too short to be masked', { secrets: { token: 'abc' } }, '/secrets/token'],
    ['a secret with a line break', { secrets: { token: 'abcdef\r\nX: y' } }, '/secrets/token'],
    ['a field that the kind does not have', { secrets: { token: TOKEN, more: 'abcdef' } }, '/secrets/more'],
    ['a setting that the kind does not have', { config: { name: 'x' } }, '/config/name'],
    ['an invalid header name', { kind: 'header', config: { name: 'a b' }, secrets: { value: TOKEN } }, '/config/name'],
    ['an unknown service', { service: 'no-such-service' }, '/service'],
    [
      'a share with a person outside the workspace',
      { shared: [{ kind: 'user', id: 'usr_01kf3v6h2he3wtpk1fw5c0wz9d', role: 'use' }] },
      '/shared/0/id',
    ],
  ])('with %s is refused', async (_what, change, path) => {
    const refused = await world.member.call('POST', '/api/credentials', { body: body(change) })
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([422, path])
    expect(refused.text).not.toContain(TOKEN)
  })

  test('requires its secret again when its hosts change', async () => {
    const id = await store()
    const path = `/api/credentials/${id}`
    const refused = await world.member.call('PATCH', path, { body: { hosts: [vendor.host, other.host] } })
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/secrets'])
    expect((await world.member.call('PATCH', path, { body: { name: 'Other', hosts: [vendor.host] } })).status).toBe(200)
    const moved = await world.member.call('PATCH', path, {
      body: { hosts: [other.host], secrets: { token: 'tok-of-the-other' } },
    })
    expect(moved.body.hosts).toEqual([other.host])
    await run({ url: `${other.url}/`, credential_id: id })
    expect(other.seen[0]?.headers.authorization).toBe('Bearer tok-of-the-other')
  })

  test('cannot be opened after its hosts were changed in the database', async () => {
    const id = await store()
    await service.sql(`update credentials set hosts = $1 where name = 'Shop' and hosts = $2`, [
      [other.host],
      [vendor.host],
    ])
    const ended = await run({ url: `${other.url}/`, credential_id: id })
    expect(errorOf(ended).code).toBe('credential_unreadable')
    expect(other.seen).toHaveLength(0)
  })
})

describe('a credential in a request', () => {
  const kinds: [
    kind: string,
    more: () => object,
    sent: (seen: Vendor['seen'][number]) => unknown,
    expected: unknown,
  ][] = [
    ['bearer', () => ({}), ({ headers }) => headers.authorization, `Bearer ${TOKEN}`],
    [
      'header',
      () => ({ config: { name: 'X-Api-Key', prefix: 'Key ' }, secrets: { value: TOKEN } }),
      ({ headers }) => headers['x-api-key'],
      `Key ${TOKEN}`,
    ],
    [
      'query',
      () => ({ config: { name: 'api_key' }, secrets: { value: 'a b&c=d/e' } }),
      ({ path }) => path,
      '/?a=1&api_key=a+b%26c%3Dd%2Fe',
    ],
    [
      'basic',
      () => ({ config: { username: 'ann' }, secrets: { password: 'päss word' } }),
      ({ headers }) => headers.authorization,
      `Basic ${Buffer.from('ann:päss word').toString('base64')}`,
    ],
    [
      'aws_sigv4',
      () => ({
        config: { region: 'eu-central-1', service: 'sqs', access_key_id: 'AKIDEXAMPLE' },
        secrets: { secret_access_key: 'wJalrXUtnFEMI' },
      }),
      ({ headers }) =>
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/sqs\//.test(headers.authorization ?? ''),
      true,
    ],
    [
      'llm',
      () => ({ config: { provider: 'anthropic' }, secrets: { api_key: TOKEN } }),
      ({ headers }) => headers['x-api-key'],
      TOKEN,
    ],
  ]
  test.each(kinds)('of the kind %s is added when the request is sent', async (kind, more, sent, expected) => {
    const id = await store({ kind, ...more() })
    const ended = await run({ url: `${vendor.url}/`, query: { a: 1 }, credential_id: id })
    expect(ended.status).toBe('succeeded')
    expect(sent(vendor.seen[0]!)).toEqual(expected)
  })

  test('is sent only to its hosts', async () => {
    const id = await store()
    const ended = await run({ url: `${other.url}/`, credential_id: id })
    expect(errorOf(ended)).toMatchObject({ code: 'credential_refused', message: expect.stringContaining(other.host) })
    expect(other.seen).toHaveLength(0)
  })

  test('is sent only over TLS, except to hosts that the operator allowed', async () => {
    const id = await store({ hosts: ['api.example.com'] })
    const ended = await run({ url: 'http://api.example.com/', credential_id: id })
    expect(errorOf(ended)).toMatchObject({ code: 'credential_refused', message: expect.stringContaining('https') })
  })

  test.each([302, 307])(
    'is not sent along with a redirect (%i) to another host, even if both hosts are allowed',
    async (status) => {
      const id = await store({ hosts: [vendor.host, other.host] })
      vendor.answer = (_request, response) => response.writeHead(status, { location: `${other.url}/?k=${TOKEN}` }).end()
      const ended = await run({ url: `${vendor.url}/`, credential_id: id })
      expect(ended.status).toBe('succeeded')
      expect(vendor.seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
      expect(other.seen).toHaveLength(1)
      expect(JSON.stringify(other.seen)).not.toContain(TOKEN)
    },
  )

  test('is sent along with a redirect on the same host', async () => {
    const id = await store()
    vendor.answer = ({ path }, response) =>
      path === '/a' ? response.writeHead(302, { location: '/b' }).end() : plain(vendor.seen[0]!, response)
    await run({ url: `${vendor.url}/a`, credential_id: id })
    expect(vendor.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`])
  })

  test('is masked in the response, also in an error', async () => {
    const id = await store()
    vendor.answer = ({ headers }, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'x-echo': headers.authorization! })
        .end(JSON.stringify({ you_sent: headers.authorization, [TOKEN]: Buffer.from(`x${TOKEN}`).toString('base64') }))
    const ended = await run({ url: `${vendor.url}/`, credential_id: id })
    expect(ended.results.headers['x-echo']).toBe('Bearer •••')
    expect(ended.results.body.you_sent).toBe('Bearer •••')
    vendor.answer = ({ headers }, response) => response.writeHead(400).end(`bad token ${headers.authorization}`)
    const failed = await run({ url: `${vendor.url}/`, credential_id: id })
    expect(errorOf(failed).details.body).toBe('bad token Bearer •••')
    expect(JSON.stringify([ended, failed])).not.toContain(TOKEN)
  })
})

describe('a credential in a workflow', () => {
  const naming = (id: string) => one({ url: `${vendor.url}/`, credential_id: id })

  test('can be named only by a person who may use it, anywhere in the definition', async () => {
    const id = await store()
    const elsewhere = await world.stranger.call('POST', '/api/credentials', { body: body() })
    for (const foreign of [id, elsewhere.body.credential_id, 'cred_01kf3v6h2he3wtpk1fw5c0wz9d', 'nonsense']) {
      const refused = await save(naming(foreign), world.owner)
      expect([refused.status, refused.body.code, refused.body.errors[0].path]).toEqual([
        422,
        'unknown_reference',
        '/definition/nodes/0/args/credential_id',
      ])
    }
    const hidden = { nodes: [{ id: 'n', type: 'set', args: { values: { deep: [{ any: id }] } } }], edges: [] }
    const nested = await save(hidden, world.owner)
    expect(nested.body.errors[0].path).toBe('/definition/nodes/0/args/values/deep/0/any')
    expect((await save(hidden, world.member)).status).toBe(201)
    expect((await save(naming(id), world.guest)).status).toBeGreaterThanOrEqual(403)
  })

  test('must be a literal: an expression is refused', async () => {
    const id = await store()
    const refused = await save(one({ url: `${vendor.url}/`, credential_id: { $cel: `"${id}"` } }))
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/definition/nodes/0/args/credential_id'])
  })

  test.each<[with_: string, share: () => Promise<object>]>([
    ['a person', async () => ({ kind: 'user', id: world.owner.id, role: 'use' })],
    ['the workspace', async () => ({ kind: 'workspace', role: 'use' })],
    [
      'a team',
      async () => {
        const team = await world.owner.call('POST', '/api/teams', { body: { name: `T${Math.random()}` } })
        await service.sql(
          `insert into team_members (workspace_id, team_id, user_id) select workspace_id, team_id, $1 from teams
           on conflict do nothing`,
          [world.owner.uuid],
        )
        return { kind: 'team', id: team.body.team_id, role: 'use' }
      },
    ],
  ])('can be shared with %s and unshared: each execution checks the right again', async (_with, share) => {
    const id = await store()
    const shared = [await share()]
    const patched = await world.member.call('PATCH', `/api/credentials/${id}`, { body: { shared } })
    expect(patched.body.shared, patched.text).toEqual(shared)
    const made = await save(naming(id), world.owner)
    expect(made.status, made.text).toBe(201)
    expect((await runSaved(made.body.workflow_id, world.owner)).status).toBe('succeeded')
    await world.member.call('PATCH', `/api/credentials/${id}`, { body: { shared: [] } })
    const refused = await runSaved(made.body.workflow_id, world.owner)
    expect(errorOf(refused).code).toBe('credential_not_allowed')
    expect(vendor.seen).toHaveLength(1)
  })

  test('is checked for the person for whom the workflow acts, not for the person who starts it', async () => {
    const id = await store()
    const made = await save(naming(id))
    const { workflow_id } = made.body
    await world.member.call('PATCH', `/api/workflows/${workflow_id}`, {
      body: { members: [{ user_id: world.owner.id, role: 'member' }] },
    })
    expect((await runSaved(workflow_id, world.owner)).status).toBe('succeeded')
  })

  test('can be shared only by its owner, not changed with the role `use`, and seen and revoked by workspace owners', async () => {
    const id = await store({ shared: [{ kind: 'user', id: world.owner.id, role: 'edit' }] })
    const path = `/api/credentials/${id}`
    const refused = await world.owner.call('PATCH', path, { body: { shared: [] } })
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
    await world.member.call('PATCH', path, { body: { shared: [] } })
    expect((await world.owner.call('GET', path)).body.role).toBe('manage')
    expect((await world.owner.call('PUT', `${path}/secret`, { body: { secrets: { token: TOKEN } } })).status).toBe(403)
    expect((await world.viewer.call('GET', path)).status).toBe(404)
    expect((await world.owner.call('DELETE', path)).status).toBe(204)
  })

  test('is passed on with the workflows to an owner of the workspace when its owner leaves', async () => {
    const mine = await makeWorld(service)
    const id = await store({}, mine.member)
    const left = await mine.owner.call('DELETE', `/api/workspaces/${mine.workspace.id}/members/${mine.member.id}`)
    expect(left.status, left.text).toBe(204)
    const read = await mine.owner.call('GET', `/api/credentials/${id}`)
    expect(read.body.role, read.text).toBe('owner')
  })

  test('is checked for each workflow separately if the person for whom they acted has left', async () => {
    const { owner, member, viewer, workspace } = await makeWorld(service)
    await addMember(service, workspace, viewer, 'member')
    const id = await store({ shared: [{ kind: 'user', id: member.id, role: 'use' }] }, owner)
    /** Returns an execution of a workflow of this person, which acted for the member who leaves. */
    const ranFor = async (person: TestPerson): Promise<string> => {
      const made = await save(one({ url: `${vendor.url}/` }), person)
      const path = `/api/workflows/${made.body.workflow_id}`
      await person.call('PATCH', path, { body: { members: [{ user_id: member.id, role: 'editor' }] } })
      const version = { definition: naming(id), activate: true }
      expect((await member.call('POST', `${path}/versions`, { body: version })).status).toBe(201)
      return (await runSaved(made.body.workflow_id, person)).execution_id
    }
    const [allowed, refused] = [await ranFor(owner), await ranFor(viewer)]
    expect(vendor.seen).toHaveLength(2)
    await owner.call('DELETE', `/api/workspaces/${workspace.id}/members/${member.id}`)
    const retried = async (execution: string, person: TestPerson) => {
      const again = await person.call('POST', `/api/workflows/executions/${execution}/retry`, { body: {} })
      return until(async () => {
        const { body } = await person.call('GET', `/api/workflows/executions/${again.body.execution_id}`)
        return ['succeeded', 'failed'].includes(body.status) ? body : undefined
      }, 'an ended execution')
    }
    expect((await retried(allowed, owner)).status).toBe('succeeded')
    expect(errorOf(await retried(refused, viewer)).code).toBe('credential_not_allowed')
    expect(vendor.seen).toHaveLength(3)
  })
})

describe('a stored credential', () => {
  test('can get a new secret and keeps its id', async () => {
    const id = await store()
    await world.member.call('PUT', `/api/credentials/${id}/secret`, { body: { secrets: { token: 'tok-rotated-1' } } })
    await run({ url: `${vendor.url}/`, credential_id: id })
    expect(vendor.seen[0]?.headers.authorization).toBe('Bearer tok-rotated-1')
  })

  test('can be revoked, works again with a new secret, and is deleted when it is revoked a second time', async () => {
    const id = await store({ name: 'Gone' })
    const made = await save(one({ url: `${vendor.url}/`, credential_id: id }))
    await world.member.call('DELETE', `/api/credentials/${id}`)
    expect((await world.member.call('GET', `/api/credentials/${id}`)).body.state).toBe('revoked')
    const [row] = await service.sql<{ secrets: Buffer | null }>(`select secrets from credentials where name = 'Gone'`)
    expect(row!.secrets).toBeNull()
    expect(errorOf(await runSaved(made.body.workflow_id)).code).toBe('credential_revoked')
    const rearmed = await world.member.call('PUT', `/api/credentials/${id}/secret`, {
      body: { secrets: { token: TOKEN } },
    })
    expect(rearmed.body.state).toBe('ready')
    expect((await runSaved(made.body.workflow_id)).status).toBe('succeeded')
    await world.member.call('DELETE', `/api/credentials/${id}`)
    await world.member.call('DELETE', `/api/credentials/${id}`)
    expect((await world.member.call('GET', `/api/credentials/${id}`)).status).toBe(404)
    expect(errorOf(await runSaved(made.body.workflow_id)).code).toBe('credential_not_allowed')
  })

  test('expires', async () => {
    const id = await store({ expires_at: '2020-01-01T00:00:00Z' })
    expect(errorOf(await run({ url: `${vendor.url}/`, credential_id: id })).code).toBe('credential_expired')
    expect(vendor.seen).toHaveLength(0)
  })

  test('lists where it is named, and its jobs pause until it works again', async () => {
    const id = await store()
    const definition = one({ url: `${vendor.url}/`, credential_id: id })
    const { body: workflow } = await save(definition)
    const dataset_id = await makeDataset(world.member, [{ n: 1 }])
    const job = await makeJob(world.member, { workflow_id: workflow.workflow_id, dataset_id })
    const usage = await world.member.call('GET', `/api/credentials/${id}/usage`)
    expect(usage.body).toMatchObject({
      workflows: [{ workflow_id: workflow.workflow_id, name: 'Calls', versions: [{ number: 1, active: true }] }],
      jobs: [{ job_id: job, name: 'Job' }],
      templates: [],
    })
    await world.member.call('DELETE', `/api/credentials/${id}`)
    expect(await getJob(world.member, job)).toMatchObject({ status: 'paused', paused_reason: 'credential_unusable' })
    const refused = await world.member.call('POST', `/api/enrichment-jobs/${job}/run-now`, { body: {} })
    expect([refused.status, refused.body.code]).toEqual([409, 'credential_unusable'])
    await world.member.call('PUT', `/api/credentials/${id}/secret`, { body: { secrets: { token: TOKEN } } })
    expect((await getJob(world.member, job)).status).toBe('idle')
  })

  test('can be tested, and the outcome is stored', async () => {
    const id = await store()
    const path = `/api/credentials/${id}`
    vendor.answer = ({ headers }, response) =>
      response.writeHead(headers.authorization === `Bearer ${TOKEN}` ? 200 : 401).end(headers.authorization)
    const good = await world.member.call('POST', `${path}/test`, { body: { url: `${vendor.url}/me` } })
    expect(good.body).toMatchObject({ ok: true, message: `${vendor.host} answered 200.` })
    await world.member.call('PUT', `${path}/secret`, { body: { secrets: { token: 'tok-that-is-wrong' } } })
    const bad = await world.member.call('POST', `${path}/test`, { body: { url: `${vendor.url}/me` } })
    expect(bad.body.ok).toBe(false)
    expect((await world.member.call('GET', path)).body.last_test).toEqual(bad.body)
    const foreign = await world.member.call('POST', `${path}/test`, { body: { url: `${other.url}/me` } })
    expect(foreign.body).toMatchObject({ ok: false, message: expect.stringContaining('is not for') })
    expect(other.seen).toHaveLength(0)
  })

  test('is not written a hundred times for a hundred uses', async () => {
    const id = await store({ name: 'Busy' })
    const made = await save({
      nodes: [
        {
          id: 'm',
          type: 'map',
          args: {
            items: Array.from({ length: 100 }, (_, n) => n),
            body: {
              nodes: [{ id: 'n', type: 'http.request', args: { url: `${vendor.url}/`, credential_id: id } }],
              edges: [],
            },
          },
        },
      ],
      edges: [],
    })
    expect(made.status, made.text).toBe(201)
    const versions = async () =>
      (
        await service.sql<{ v: string; used: boolean }>(
          `select xmin::text as v, last_used_at is not null as used from credentials where name = 'Busy'`,
        )
      )[0]!
    const before = await versions()
    expect((await runSaved(made.body.workflow_id)).status).toBe('succeeded')
    expect(vendor.seen).toHaveLength(100)
    expect(await versions()).toEqual(before)
  })

  test('has kinds with forms for an editor', async () => {
    const { body: kinds } = await world.member.call('GET', '/api/credential-kinds')
    expect(kinds.kinds.map(({ kind }: { kind: string }) => kind)).toEqual([
      'bearer',
      'header',
      'query',
      'basic',
      'oauth2_client',
      'oauth2_code',
      'aws_sigv4',
      'tls_client',
      'llm',
      'service',
      'piece',
    ])
    for (const { config_schema, secret_schema } of kinds.kinds)
      expect([config_schema.type, secret_schema.type]).toEqual(['object', 'object'])
  })
})
