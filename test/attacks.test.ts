import { beforeAll, describe, expect, test } from 'vitest'
import { newId, newSecret, type Prefix, toWire } from '#platform/ids'
import { cases } from './access/cases.ts'
import { type Cast, type Kind, makeCast } from './access/matrix.ts'
import { signUp } from './harness/browser.ts'
import { type Answer, useService } from './harness/service.ts'
import { makeWorkspace } from './harness/world.ts'

// What outsiders try. The matrix in access/ covers every id in a path and every kind of caller; here are the ids inside
// bodies, fields that the server owns, and credentials that are none.

const OPERATOR = 'operator@example.com'
const service = useService({ env: { HEDDLE_OPERATORS: OPERATOR } })
let cast: Cast
/** Things of another workspace, and of ours, by name. */
let theirs: Record<string, string>
let ours: Record<string, string>

const constant = { nodes: [{ id: 'a', type: 'set', args: { values: { a: 1 } } }], edges: [] }

async function furnish(person: Cast['author']): Promise<Record<string, string>> {
  const make = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const answer = await person.call('POST', path, { body })
    expect(answer.status, `${path}: ${answer.text}`).toBe(201)
    return answer.body
  }
  const workflow = await make('/api/workflows', { name: 'W', definition: constant })
  const spare = await make('/api/workflows', { name: 'To give away', definition: constant })
  const { team_id } = await make('/api/teams', { name: 'T' })
  const { dataset_id } = await make('/api/datasets', { name: 'D', records: [{ a: 1 }] })
  const { template_id } = await make('/api/templates', { name: 'P', workflow_ids: [] })
  const { company_id } = await make('/api/companies', { name: 'C' })
  const { credential_id } = await make('/api/credentials', {
    name: 'K',
    kind: 'bearer',
    hosts: ['api.example.com'],
    secrets: { token: 'a-token-to-guess' },
  })
  return {
    usr: person.id,
    wf: workflow.workflow_id!,
    wfv: workflow.active_version_id!,
    spare: spare.workflow_id!,
    team: team_id!,
    ds: dataset_id!,
    tmpl: template_id!,
    co: company_id!,
    cred: credential_id!,
  }
}

beforeAll(async () => {
  cast = await makeCast(service(), OPERATOR)
  theirs = await furnish(cast.stranger)
  ours = await furnish(cast.author)
  const second = await makeWorkspace(service(), cast.stranger, 'Not yours')
  theirs.ws = second.id
})

const same = (method: string, path: string, body: unknown): Promise<Answer> =>
  cast.author.call(method, path, { body, headers: { 'x-request-id': 'the-same' } })
const withNode = (type: string, args: unknown) => ({ nodes: [{ id: 'n', type, args }], edges: [] })
const inMap = (inner: unknown) => withNode('map', { items: [1], body: inner })
const workflowWith = (definition: unknown) => ['POST', '/api/workflows', { name: 'W', definition }] as const
const gate = (policy: Record<string, unknown>) =>
  withNode('approval', { title: 'Go?', payload: 1, policy: { approvers: [{ kind: 'role', id: 'owner' }], ...policy } })
const calling = (credential_id: string) => withNode('http.request', { url: 'https://api.example.com', credential_id })
const destination = (more: object) =>
  [
    'POST',
    '/api/event-destinations',
    { url: 'https://hooks.example.com/in', event_types: ['execution.*'], ...more },
  ] as const
const sharing = (kind: string, id: string) =>
  [
    'POST',
    '/api/credentials',
    {
      name: 'S',
      kind: 'bearer',
      hosts: ['api.example.com'],
      secrets: { token: 'a-token-to-share' },
      shared: [{ kind, id, role: 'use' }],
    },
  ] as const
const asking = (who: unknown) => withNode('clarification', { question: 'Which?', schema: {}, who: [who] })

type Request = readonly [method: string, path: string, body: unknown]
/** Every place in a body that names something of the workspace: its kind, and the request with an id put there. */
const places: Record<string, [Prefix, (id: string) => Request]> = {
  'member of a new workflow': ['usr', (id) => ['POST', '/api/workflows', { name: 'W', members: [{ user_id: id }] }]],
  'member of a workflow': ['usr', (id) => ['PATCH', `/api/workflows/${ours.wf}`, { members: [{ user_id: id }] }]],
  'owner of a workflow': ['usr', (id) => ['PATCH', `/api/workflows/${ours.spare}`, { owner_id: id }]],
  'error workflow': ['wf', (id) => ['PATCH', `/api/workflows/${ours.wf}`, { settings: { error_workflow_id: id } }]],
  'error workflow of a new one': [
    'wf',
    (id) => ['POST', '/api/workflows', { name: 'W', settings: { error_workflow_id: id } }],
  ],
  'version to run': ['wfv', (id) => ['POST', `/api/workflows/${ours.wf}/run`, { version_id: id }]],
  'sub-workflow': ['wf', (id) => workflowWith(withNode('subworkflow', { workflow_id: id }))],
  'version of a sub-workflow': [
    'wfv',
    (id) => workflowWith(withNode('subworkflow', { workflow_id: ours.wf, version_id: id })),
  ],
  'sub-workflow in a map': ['wf', (id) => workflowWith(inMap(withNode('subworkflow', { workflow_id: id })))],
  'sub-workflow in a map in a map': [
    'wf',
    (id) => workflowWith(inMap(inMap(withNode('subworkflow', { workflow_id: id })))),
  ],
  'sub-workflow in a new version': [
    'wf',
    (id) => [
      'POST',
      `/api/workflows/${ours.wf}/versions`,
      { definition: withNode('subworkflow', { workflow_id: id }) },
    ],
  ],
  'dataset that a node reads': ['ds', (id) => workflowWith(withNode('dataset.read', { dataset_id: id }))],
  'dataset read in a map': ['ds', (id) => workflowWith(inMap(withNode('dataset.read', { dataset_id: id })))],
  'person to notify': ['usr', (id) => workflowWith(withNode('notify', { user_ids: [id], title: 'Hello', body: 'x' }))],
  approver: ['usr', (id) => workflowWith(gate({ approvers: [{ kind: 'user', id }] }))],
  'team of approvers': ['team', (id) => workflowWith(gate({ approvers: [{ kind: 'team', id }] }))],
  'approver in a map': ['usr', (id) => workflowWith(inMap(gate({ approvers: [{ kind: 'user', id }] })))],
  'person to escalate to': [
    'usr',
    (id) => workflowWith(gate({ due_in_s: 9, on_due: 'escalate', escalate_to: [{ kind: 'user', id }] })),
  ],
  'one person to escalate to': [
    'usr',
    (id) => workflowWith(gate({ due_in_s: 9, on_due: 'escalate', escalate_to: { kind: 'user', id } })),
  ],
  'person who may answer': ['usr', (id) => workflowWith(asking({ kind: 'user', id }))],
  'person who may answer, by id alone': ['usr', (id) => workflowWith(asking(id))],
  'team that may answer': ['team', (id) => workflowWith(asking({ kind: 'team', id }))],
  'workflow of a job': ['wf', (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: id }]],
  'dataset of a job': [
    'ds',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: ours.wf, dataset_id: id }],
  ],
  'dataset a job writes': [
    'ds',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: ours.wf, output: { dataset_id: id } }],
  ],
  'source of a job': [
    'src',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: ours.wf, source_id: id }],
  ],
  'approver in a job’s own definition': [
    'usr',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', definition: gate({ approvers: [{ kind: 'user', id }] }) }],
  ],
  'sub-workflow in a job’s own definition': [
    'wf',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', definition: withNode('subworkflow', { workflow_id: id }) }],
  ],
  'workflow of a template': ['wf', (id) => ['POST', '/api/templates', { name: 'P', workflow_ids: [ours.wf, id] }]],
  'workflow added to a template': ['wf', (id) => ['PATCH', `/api/templates/${ours.tmpl}`, { workflow_ids: [id] }]],
  'template of a thread': ['tmpl', (id) => ['POST', '/api/chat-thread', { title: 'T', template_id: id }]],
  'template of a channel': [
    'tmpl',
    (id) => ['POST', '/api/gateway/channels', { channel: 'webhook', external_id: 'x', template_id: id }],
  ],
  'person of a team': [
    'usr',
    (id) => ['POST', `/api/teams/${ours.team}/add_users`, { user_ids: [cast.member.id, id] }],
  ],
  'source to capture': ['src', (id) => ['POST', '/api/datasets/capture', { source_id: id }]],
  'workspace of a key': ['ws', (id) => ['POST', '/auth/api-keys', { name: 'K', workspace_id: id }]],
  'company of a workspace': ['co', (id) => ['POST', '/api/workspaces', { name: 'W', company_id: id }]],
  'credential of a node': ['cred', (id) => workflowWith(calling(id))],
  'credential of a node in a map': ['cred', (id) => workflowWith(inMap(calling(id)))],
  'credential of a tool server': [
    'cred',
    (id) =>
      workflowWith(withNode('mcp.call', { server: { url: 'https://api.example.com', credential_id: id }, tool: 't' })),
  ],
  'credential in a list of an agent': [
    'cred',
    (id) =>
      workflowWith(
        withNode('agent.run', { goal: 'g', mcp: [{ url: 'https://api.example.com', credential_id: id }], tools: [] }),
      ),
  ],
  'credential in a job’s own definition': [
    'cred',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', definition: calling(id) }],
  ],
  'credential of an imported workflow': [
    'cred',
    (id) => ['POST', '/api/workflows/import', { document: { name: 'I', definition: calling(id) } }],
  ],
  'workflow to import into': [
    'wf',
    (id) => [
      'POST',
      '/api/workflows/import',
      { document: { name: 'I', definition: constant }, workflow_id: id, dry_run: true },
    ],
  ],
  'person a credential is shared with': ['usr', (id) => sharing('user', id)],
  'team a credential is shared with': ['team', (id) => sharing('team', id)],
  'credential of a destination': ['cred', (id) => destination({ credential_id: id })],
  'workflow of a destination': ['wf', (id) => destination({ workflow_id: id })],
  'receiver of a workflow': ['usr', (id) => ['POST', `/api/workflows/${ours.spare}/transfer`, { user_id: id }]],
  'team of a workflow': ['team', (id) => ['PATCH', `/api/workflows/${ours.wf}`, { teams: [{ team_id: id }] }]],
  'team of a new workflow': ['team', (id) => ['POST', '/api/workflows', { name: 'W', teams: [{ team_id: id }] }]],
  'team of a template': ['team', (id) => ['PATCH', `/api/templates/${ours.tmpl}`, { teams: [{ team_id: id }] }]],
  'workflow whose requirements are wanted': [
    'wf',
    (id) => ['POST', '/api/workflows/extract-requirements', { message: 'Hello', workflow_id: id }],
  ],
}

describe('an id inside a body', () => {
  for (const [place, [prefix, request]] of Object.entries(places)) {
    test(`${place}: another workspace's, a random and an ill-formed one are refused with the same bytes`, async () => {
      const given = [theirs[prefix] ?? toWire(prefix, newId()), toWire(prefix, newId()), `${prefix}_nonsense`]
      const answers: Answer[] = []
      for (const id of given) answers.push(await same(...request(id)))
      expect(answers[0]!.body).toMatchObject({ status: 422, code: 'unknown_reference' })
      expect(new Set(answers.map(({ text }) => text)).size, answers.map(({ text }) => text).join('\n')).toBe(1)
      // The same request with what is ours is taken: it was the id that was refused.
      if (ours[prefix] === undefined) return
      const own = prefix === 'usr' ? cast.member.id : ours[prefix]
      const { status, body } = await same(...request(own))
      expect([status < 300 || body.code !== 'unknown_reference', status]).toEqual([true, expect.any(Number)])
    })
  }
})

/** Fields that no body may set: those of the server, of other tenants, and of other programs of this kind. */
const stolen = (): Record<string, unknown> => ({
  workspace_id: theirs.ws,
  org_id: toWire('org', newId()),
  user_id: theirs.usr,
  owner_id: theirs.usr,
  created_by: theirs.usr,
  operator: true,
  sha256: '0'.repeat(64),
  record_count: 7,
  token_hash: 'x',
  created_at: '2020-01-01T00:00:00.000Z',
  constructor: { prototype: { operator: true } },
})

describe('a field that the server owns', () => {
  for (const [operation, one] of Object.entries(cases)) {
    test(`${operation}: is refused in a body, or not taken`, async () => {
      const route = service().app.routes.find((candidate) => candidate.operation === operation)!
      if (route.method === 'GET' || route.method === 'DELETE' || route.bodyKind !== undefined || !route.body) return
      const kind = (['author', 'workspaceOwner', 'operator'] as const).find((each: Kind) => one.expect[each] === 'ok')
      if (!kind) return
      const prepared = (await one.prepare?.(cast)) ?? {}
      if (prepared.raw !== undefined) return
      const shape = new Set(Object.keys((route.body as { shape?: object }).shape ?? {}))
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => prepared.params![name]!)
      for (const [field, value] of Object.entries(stolen())) {
        if (shape.has(field)) continue
        const answer = await service().call(route.method, path + (prepared.query ?? ''), {
          token: prepared.token ?? cast[kind].key,
          headers: prepared.headers ?? {},
          body: { ...(prepared.body as object), [field]: value },
        })
        const named = answer.body?.errors?.some((error: { path: string }) => error.path === `/${field}`)
        expect([operation, field, answer.status, named]).toEqual([operation, field, 422, true])
      }
    })
  }
})

describe('what is no credential', () => {
  test('opens nothing: empty, null, of another kind, twice, or in the address', async () => {
    const { body } = await cast.author.call('POST', `/api/workflows/${ours.wf}/tokens`, { body: {} })
    const trigger = `/api/webhooks/workflow/${ours.wf}/trigger`
    expect((await service().call('POST', trigger, { token: body.token })).status).toBe(202)
    const lies = [
      '',
      'Bearer',
      'Bearer ',
      'Bearer null',
      'Bearer undefined',
      'Bearer []',
      `Bearer ${newSecret('hk')}`,
      `Bearer ${newSecret('whs')}`,
      `Bearer ${'x'.repeat(7000)}`,
      `Basic ${Buffer.from(`${cast.author.key}:`).toString('base64')}`,
      `Bearer ${cast.author.key}x`,
      `Bearer ${cast.author.key} ${cast.author.key}`,
      `Bearer ${cast.author.key.toUpperCase()}`,
    ]
    for (const authorization of lies) {
      for (const [method, path] of [
        ['GET', '/api/workflows'],
        ['POST', trigger],
      ] as const) {
        const { status } = await service().call(method, path, { headers: { authorization } })
        expect([authorization.slice(0, 30), path, status]).toEqual([authorization.slice(0, 30), path, 401])
      }
    }
    // Each kind of token where the other belongs.
    expect((await service().call('POST', trigger, { token: cast.author.key })).status).toBe(401)
    expect((await service().call('GET', '/api/workflows', { token: body.token })).status).toBe(401)
    for (const query of [
      `?token=${body.token}`,
      `?access_token=${body.token}`,
      `?authorization=Bearer%20${body.token}`,
    ])
      expect([query.slice(0, 9), (await service().call('POST', trigger + query)).status]).toEqual([
        query.slice(0, 9),
        401,
      ])
    for (const query of [`?api_key=${cast.author.key}`, `?token=${cast.author.key}`])
      expect((await service().call('GET', `/api/workflows${query}`)).status).toBe(401)
  })

  test('is refused before the id is looked at, and a good one does not make an ill-formed id any better', async () => {
    const { body } = await cast.author.call('POST', `/api/workflows/${ours.wf}/tokens`, { body: {} })
    const at = (workflow: string, execution: string) => `/api/webhooks/workflow/${workflow}/executions/${execution}`
    const status = async (path: string, token?: string) =>
      (await service().call('GET', path, token === undefined ? {} : { token })).status
    expect(await status(at('wf_nonsense', 'exe_nonsense'))).toBe(401)
    expect(await status(at('wf_nonsense', 'exe_nonsense'), body.token)).toBe(401)
    expect(await status(at(toWire('wf', newId()), 'exe_nonsense'), body.token)).toBe(401)
    expect(await status(at(ours.wf!, 'exe_nonsense'), body.token)).toBe(404)
    expect(await status(at(ours.wf!, toWire('exe', newId())), body.token)).toBe(404)
  })

  test('a bad key is not made good by a session that is sent along', async () => {
    const { browser } = await signUp(service().base)
    expect((await browser.call('GET', '/auth/me')).status).toBe(200)
    expect((await browser.call('GET', '/auth/me', { token: newSecret('hk') })).status).toBe(401)
  })

  test('a cookie of another site’s page changes nothing, whatever it says of itself', async () => {
    const { browser } = await signUp(service().base)
    const attempts: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${service().base}.evil.example` },
      { 'sec-fetch-site': 'cross-site' },
      { origin: service().base.replace(/:\d+$/, ':1') },
    ]
    for (const headers of attempts) {
      const answer = await browser.call('POST', '/api/companies', { body: { name: 'Forged' }, headers })
      expect([headers, answer.body.code]).toEqual([headers, 'foreign_origin'])
    }
    expect(await service().sql(`select from companies where name = 'Forged'`)).toEqual([])
  })
})

test('a notification links to the console or the web, never to another host in disguise', async () => {
  const linking = (link: string) => same(...workflowWith(withNode('notify', { title: 'T', body: 'B', link })))
  for (const link of ['//evil.example', '/\\evil.example', 'javascript:alert(1)', 'data:text/html,x', 'evil'])
    expect([link, (await linking(link)).status]).toEqual([link, 422])
  for (const link of ['/', '/runs/1', 'https://example.com/'])
    expect([link, (await linking(link)).status]).toEqual([link, 201])
})

describe('other spellings of an address', () => {
  test('are not it', async () => {
    for (const path of [
      '/api/workflows/',
      '/API/workflows',
      '/api//workflows',
      '/api/workflows%2f',
      `/api/workflows/${ours.wf}%00`,
      `/api/workflows/${ours.wf!.toUpperCase()}`,
      `/api/workflows/..%2fworkflows%2f${ours.wf}`,
      `/api/workflows/%2e%2e%2f%2e%2e%2fetc%2fpasswd`,
    ]) {
      const { status } = await cast.author.call('GET', path)
      expect([path, status]).toEqual([path, 404])
    }
    for (const query of [
      '?limit=1&limit=2',
      '?limit[]=1',
      '?limit=1e9',
      '?limit=-1',
      '?cursor=x&cursor=y',
      '?__proto__=1',
    ]) {
      const { status } = await cast.author.call('GET', `/api/workflows${query}`)
      expect([query, status]).toEqual([query, 422])
    }
  })

  test('an address that only reads changes nothing, asked with any other verb', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      expect([method, (await cast.author.call(method, '/api/workflows')).status]).toEqual([method, 405])
    const forged = await cast.author.call('GET', `/api/workflows/${ours.wf}`, {
      headers: { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' },
    })
    expect(forged.status).toBe(200)
    expect((await cast.author.call('GET', `/api/workflows/${ours.wf}?_method=DELETE`)).status).toBe(422)
    expect((await cast.author.call('GET', `/api/workflows/${ours.wf}`)).status).toBe(200)
  })
})

describe('a cursor that somebody made up', () => {
  const forged = [
    'nonsense',
    ...[
      ['x'],
      [null],
      [1.5],
      [2 ** 40],
      [-1],
      ['x', 'y'],
      [null, null],
      [1, 'x'],
      ['2020-01-01', 'x'],
      [[1]],
      [{}],
    ].map((key) => Buffer.from(JSON.stringify(key)).toString('base64url')),
  ]
  for (const [operation, one] of Object.entries(cases)) {
    test(`${operation}: is refused or ignored, and fails nothing`, async () => {
      const route = service().app.routes.find((candidate) => candidate.operation === operation)!
      const shape = (route.query as { shape?: object } | undefined)?.shape ?? {}
      if (route.method !== 'GET' || !('cursor' in shape)) return
      const kind = (['author', 'workspaceOwner', 'operator'] as const).find((each: Kind) => one.expect[each] === 'ok')
      const prepared = (await one.prepare?.(cast)) ?? {}
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => prepared.params![name]!)
      for (const cursor of forged) {
        const { status } = await service().call('GET', `${path}?cursor=${cursor}`, {
          token: prepared.token ?? cast[kind!].key,
          headers: prepared.headers ?? {},
        })
        expect([operation, Buffer.from(cursor, 'base64url').toString(), status < 500]).toEqual([
          operation,
          Buffer.from(cursor, 'base64url').toString(),
          true,
        ])
      }
    })
  }
})
