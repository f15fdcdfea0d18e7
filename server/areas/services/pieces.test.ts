import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire, newId } from '#platform/ids'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeWall } from '#platform/wall/wall'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'
import { packPiece } from '#test/pieces/pack'

// A piece through the HTTP API: imported from a mirror, filled in, used in a workflow, and run behind the wall against
// a vendor on this machine.

const TOKEN = 'depot-token-"81f2+c'

type Asked = { method: string; url: string; headers: IncomingMessage['headers']; body: string }

let vendor: Server
let site: string
let mirror: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let service: Service
let world: World
let stored: string
let asked: Asked[] = []
let answer: { status: number; body: unknown } = { status: 200, body: {} }

const known = ({ headers }: Asked): boolean => headers.authorization === `Token ${TOKEN}`

function replyTo(request: Asked): { status: number; body: unknown } {
  if (!known(request)) return { status: 401, body: { message: 'Who are you?' } }
  if (request.url === '/me') return { status: 200, body: {} }
  if (request.url.startsWith('/shelves'))
    return { status: 200, body: [{ id: 'a', title: `Shelf A ${new URL(request.url, site).search}` }] }
  return answer
}

beforeAll(async () => {
  vendor = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
    asked.push(one)
    const { status, body } = replyTo(one)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  mirror = await makeTemporaryDirectory()
  packPiece('depot', '1.0.0', mirror.path)
  packPiece('depot', '1.1.0', mirror.path)
  packPiece('hostile', '1.0.0', mirror.path)
  const wall = makeWall({ outgoing: makeOutgoing({ allowTargets: [] }), level: 'namespaces', processes: 1 })
  service = await startService({
    env: {
      // The wall itself is tested elsewhere, so any level is sufficient here.
      HEDDLE_WALL: (await wall.problem()) === undefined ? 'namespaces' : 'node',
      HEDDLE_ALLOW_TARGETS: `127.0.0.1:${port}`,
      HEDDLE_PIECES_MIRROR: mirror.path,
      HEDDLE_PIECES: 'depot, broken, absent',
      HEDDLE_WALL_PROCESSES: '4',
    },
  })
})
beforeEach(() => {
  asked = []
  answer = { status: 200, body: {} }
})
afterAll(async () => {
  await service?.stop()
  await mirror?.remove()
  vendor.close()
})

const take = (body: object, who = world.owner): Promise<Answer> => who.call('POST', '/api/services/import', { body })
const preview = (body: object): Promise<Answer> => world.owner.call('POST', '/api/services/import/preview', { body })

async function imported(piece_version = '1.0.0'): Promise<Answer['body']> {
  const made = await take({ piece: 'depot', piece_version })
  expect(made.status, made.text).toBe(201)
  return made.body
}

async function credential(more: object = {}): Promise<string> {
  const made = await world.owner.call('POST', '/api/credentials', {
    body: {
      name: 'Depot',
      kind: 'piece',
      config: { service: 'piece.depot', auth: 'CUSTOM_AUTH', values: { base_url: site } },
      secrets: { token: TOKEN },
      ...more,
    },
  })
  expect(made.status, made.text).toBe(201)
  return made.body.credential_id
}

const save = (args: object): Promise<Answer> =>
  world.owner.call('POST', '/api/workflows', {
    body: { name: 'W', definition: { nodes: [{ id: 'call', type: 'service.call', args }], edges: [] } },
  })
async function run(args: object, input: object = {}): Promise<Answer['body']> {
  const made = await save(args)
  expect(made.status, made.text).toBe(201)
  const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input } })
  return until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
    return body.finished_at !== null && body
  }, 'the end of the run')
}

describe('importing a piece', () => {
  beforeEach(async () => {
    world = await makeWorld(service)
  })

  test('describes its actions as forms, with its authentication methods', async () => {
    const shown = await preview({ piece: 'depot' })
    expect(shown.status, shown.text).toBe(200)
    expect(shown.body).toMatchObject({
      service: 'piece.depot',
      title: 'Depot',
      version: '1.1.0',
      package: { name: 'depot', version: '1.1.0', holds_secret: false },
      credential_required: true,
      skipped: 1,
      changes: null,
    })
    expect(shown.body.package.integrity).toMatch(/^sha512-/)
    expect((await world.owner.call('GET', '/api/services/piece.depot')).status).toBe(404)

    await imported()
    const { body } = await world.owner.call('GET', '/api/services/piece.depot')
    expect(body.source).toBe('piece')
    expect(body.auth).toEqual([
      {
        kind: 'piece',
        title: 'Token of the depot',
        config: { service: 'piece.depot', auth: 'CUSTOM_AUTH' },
        can_test: true,
        fields: [
          {
            name: 'base_url',
            title: 'Address',
            description: '',
            secret: false,
            required: true,
            default: 'https://depot.example.com',
          },
          { name: 'token', title: 'Token', description: '', secret: true, required: true },
        ],
      },
      {
        kind: 'oauth2_code',
        title: 'Depot account',
        config: {
          authorize_url: 'https://depot.example.com/authorize',
          token_url: 'https://depot.example.com/token',
          scopes: ['items:read', 'items:write'],
          client_auth: 'basic',
        },
        fields: [],
        can_test: false,
      },
    ])
    const names = body.actions.map(({ name, effect }: { name: string; effect: string }) => `${name} ${effect}`)
    expect(names).toEqual([
      'call_create_item write',
      'call_elsewhere write',
      'get_download read',
      'get_list_items read',
      'put_rename_item idempotent',
    ])
    const create = body.actions[0].args_schema
    expect(create.required).toEqual(['name'])
    expect(create.properties.note).toBeUndefined()
    expect(create.properties.count).toMatchObject({ type: 'number', default: 1 })
    expect(create.properties.size).toMatchObject({ enum: ['s', 'l'] })
    expect(create.properties.shelf).toMatchObject({ 'x-options': 'createItem.shelf' })
    expect(body.options['createItem.shelf']).toEqual({ args: ['size'] })
    expect(body.triggers.map(({ name, kind }: { name: string; kind: string }) => `${name} ${kind}`)).toEqual([
      'new_item polling',
      'item_sold webhook',
    ])
    const found = await world.owner.call('GET', '/api/services?q=shelf')
    expect(found.status).toBe(200)
    const palette = await world.owner.call('GET', '/api/services?q=depot')
    expect(palette.body.items[0]).toMatchObject({ service: 'piece.depot', source: 'piece' })
    expect(Object.keys(palette.body.items[0].triggers[0]).sort()).toEqual(['description', 'kind', 'name', 'title'])
    expect(palette.body.items[0].triggers.map(({ name }: { name: string }) => name)).toEqual(['new_item', 'item_sold'])
  })

  test('shows what an update changes, and updates only on request', async () => {
    await imported('1.0.0')
    const again = await take({ piece: 'depot' })
    expect(again.status).toBe(409)
    const shown = await preview({ piece: 'depot' })
    expect(shown.body.changes).toEqual({ added: ['get_count_items'], removed: ['put_rename_item'], changed: [] })
    const replaced = await take({ piece: 'depot', replace: true })
    expect(replaced.status, replaced.text).toBe(201)
    const { body } = await world.owner.call('GET', '/api/services/piece.depot')
    expect(body.version).toBe('1.1.0')
  })

  test('is refused with a reason', async () => {
    const messageOf = async (body: object): Promise<string> => {
      const refused = await take(body)
      expect(refused.status, refused.text).toBe(422)
      return refused.body.errors[0].message
    }
    expect(await messageOf({ piece: 'hostile' })).toBe('the operator of this installation does not allow this piece')
    expect(await messageOf({ piece: 'absent' })).toContain('has no package @activepieces/piece-absent')
    expect(await messageOf({ piece: 'depot', piece_version: '9.9.9' })).toContain('9.9.9')
    expect(await messageOf({ piece: '../depot' })).toContain('is the name of a piece')
    expect(await messageOf({ piece: 'depot', name: 'x' })).toContain('a name of its own')
    expect(await messageOf({ piece: 'depot', base_url: 'https://x.example' })).toContain('base_url')
    writeFileSync(join(mirror.path, 'activepieces-piece-broken-1.0.0.tgz'), 'not an archive')
    expect(await messageOf({ piece: 'broken' })).toContain('is not an archive')
    packPiece('depot', '1.0.0', mirror.path, { 'index.cjs': 'throw new Error("a broken release")' })
    rmSync(join(mirror.path, 'activepieces-piece-broken-1.0.0.tgz'))
    packPiece('depot', '1.0.0', mirror.path)
  })

  test('runs no other code than the imported release', async () => {
    await imported('1.0.0')
    await service.sql(
      `update imported_services set package = package || '{"integrity": "sha512-other"}' where service = 'piece.depot'`,
    )
    const ended = await run({
      service: 'piece.depot',
      action: 'get_list_items',
      credential_id: await credential(),
      args: {},
    })
    expect(ended.error).toMatchObject({ code: 'piece_unavailable' })
    expect(asked).toEqual([])
  })
})

/** Uses one workspace with the piece for all tests, so that its process stays warm. */
const useDepot = (): void => {
  beforeAll(async () => {
    world = await makeWorld(service)
    await imported()
    stored = await credential()
  })
}

describe('an action of a piece', () => {
  useDepot()

  test('runs with a secret that its code never receives', async () => {
    answer = { status: 200, body: { id: 7, echoed: TOKEN } }
    const ended = await run({
      service: 'piece.depot',
      action: 'call_create_item',
      credential_id: stored,
      args: { name: 'Lamp', size: 'l', more: { weight: 2 } },
    })
    expect(ended.status, JSON.stringify(ended.error)).toBe('succeeded')
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /items'])
    expect(known(asked[0]!)).toBe(true)
    expect(JSON.parse(asked[0]!.body)).toEqual({ name: 'Lamp', count: 1, size: 'l', more: { weight: 2 } })
    expect(JSON.stringify(ended)).not.toContain(TOKEN)
    expect(JSON.stringify(ended)).toContain('•••')
  })

  test('checks its arguments and its credential when a definition is saved', async () => {
    const credential_id = stored
    const issues = async (args: object): Promise<string> => {
      const refused = await save(args)
      expect(refused.status, refused.text).toBe(422)
      return refused.text
    }
    const call = { service: 'piece.depot', action: 'call_create_item', credential_id, args: { name: 'x' } }
    expect(await issues({ ...call, args: {} })).toContain('/args/name')
    expect(await issues({ ...call, args: { name: 'x', size: 'huge' } })).toContain('size')
    expect(await issues({ ...call, action: 'call_nothing' })).toContain('has no action')
    expect(await issues({ ...call, credential_id: undefined })).toContain('credential')
    expect(await issues({ ...call, service: 'piece.absent' })).toContain('there is no service')
  })

  test('fails with the same error codes as other services', async () => {
    const credential_id = stored
    const failing = async (status: number, body: object, action = 'call_create_item'): Promise<unknown> => {
      answer = { status, body }
      const ended = await run({ service: 'piece.depot', action, credential_id, args: { name: 'x' } })
      return ended.error
    }
    expect(await failing(422, { message: 'No room' })).toMatchObject({
      code: 'service_refused',
      message: 'No room',
    })
    expect(await failing(429, { message: 'Wait' })).toMatchObject({ code: 'rate_limited' })
    expect(await failing(503, { message: 'Away' })).toMatchObject({ code: 'service_unavailable' })
    const wrong = await credential({ secrets: { token: 'another token' } })
    const ended = await run({ service: 'piece.depot', action: 'get_list_items', credential_id: wrong, args: {} })
    expect(ended.error).toMatchObject({ code: 'credential_rejected' })
  })

  test('can call only the hosts of its credential', async () => {
    const ended = await run({
      service: 'piece.depot',
      action: 'call_elsewhere',
      credential_id: stored,
      args: { url: 'https://elsewhere.example.com/' },
    })
    expect(ended.error).toMatchObject({ code: 'credential_refused' })
    const other = await credential({
      config: { service: 'piece.other', auth: 'CUSTOM_AUTH', values: { base_url: site } },
    })
    const refused = await run({ service: 'piece.depot', action: 'get_list_items', credential_id: other, args: {} })
    expect(refused.error).toMatchObject({ code: 'piece_unavailable' })
    expect(asked).toEqual([])
  })

  test('accepts and creates files', async () => {
    const credential_id = stored
    const made = await run({ service: 'piece.depot', action: 'get_download', credential_id, args: {} })
    expect(made.status, JSON.stringify(made.error)).toBe('succeeded')
    const file = JSON.stringify(made).match(/"\$file":\{[^}]*"name":"label\.txt"[^}]*\}/)
    expect(file).not.toBeNull()
    const definition = {
      nodes: [
        { id: 'label', type: 'service.call', args: { service: 'piece.depot', action: 'get_download', credential_id } },
        {
          id: 'create',
          type: 'service.call',
          args: {
            service: 'piece.depot',
            action: 'call_create_item',
            credential_id,
            args: { name: 'x', photo: { $ref: 'nodes.label.output.label' } },
          },
        },
      ],
      edges: [{ from: { node: 'label' }, to: 'create' }],
    }
    const saved = await world.owner.call('POST', '/api/workflows', { body: { name: 'F', definition } })
    expect(saved.status, saved.text).toBe(201)
    const started = await world.owner.call('POST', `/api/workflows/${saved.body.workflow_id}/run`, { body: {} })
    await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
      return body.finished_at !== null
    }, 'the end of the run')
    const posted = asked.find(({ method }) => method === 'POST')
    expect(JSON.parse(posted?.body ?? '{}').photo).toEqual({ name: 'label.txt', text: 'a label' })
  })
})

describe('a form of a piece', () => {
  useDepot()

  test('lists choices and fields that depend on others', async () => {
    const credential_id = stored
    const options = (body: object): Promise<Answer> =>
      world.owner.call('POST', '/api/services/piece.depot/options', { body: { credential_id, ...body } })
    const shelves = await options({ options: 'createItem.shelf', args: { size: 'l' } })
    expect(shelves.status, shelves.text).toBe(200)
    expect(shelves.body).toEqual({ options: [{ value: 'a', label: 'Shelf A ?size=l' }], more: false })
    const more = await options({ options: 'createItem.more', args: { shelf: 'a' } })
    expect(more.body.args_schema).toMatchObject({
      properties: { weight: { type: 'number', title: 'Weight on a' } },
      required: ['weight'],
    })
    expect((await options({ options: 'createItem.name' })).body.code).toBe('probe_failed')
    expect((await options({ options: 'nothing' })).status).toBe(422)
  })

  test('tests a credential with the piece’s own validation', async () => {
    const attempt = (credential_id: string): Promise<Answer> =>
      world.owner.call('POST', '/api/services/piece.depot/test', { body: { credential_id } })
    const good = await attempt(stored)
    expect(good.status, good.text).toBe(200)
    expect(good.body).toEqual({ ok: true, message: 'The service takes this credential.' })
    const other = await credential({ name: 'Other', secrets: { token: 'another token' } })
    const wrong = await attempt(other)
    expect(wrong.body).toEqual({ ok: false, message: 'The depot does not know this token.' })
    const { body } = await world.owner.call('GET', '/api/services/piece.depot/credentials?sort=name')
    expect(body.items).toMatchObject([
      { credential_id: stored, last_test: { ok: true } },
      { credential_id: other, last_test: { ok: false, message: 'The depot does not know this token.' } },
    ])
    expect((await world.owner.call('POST', '/api/services/rss/test', { body: { credential_id: stored } })).status).toBe(
      404,
    )
  })
})

describe('a trigger of a piece', () => {
  useDepot()

  const definition = (id: object) => ({
    inputs: { properties: { item: { properties: { id } } } },
    nodes: [{ id: 'a', type: 'set', args: { values: { item: { $ref: 'input.item' } } } }],
    edges: [],
  })

  async function triggered(id: object = {}) {
    const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'T', definition: definition(id) } })
    expect(made.status, made.text).toBe(201)
    const path = `/api/workflows/${made.body.workflow_id}/triggers`
    const add = (body: object): Promise<Answer> =>
      world.owner.call('POST', path, { body: { service: 'piece.depot', credential_id: stored, ...body } })
    expect((await add({ trigger: 'nothing' })).status).toBe(422)
    const added = await add({ trigger: 'new_item' })
    expect(added.status, added.text).toBe(201)
    const one = async (): Promise<Answer['body']> =>
      (await world.owner.call('GET', `${path}/${added.body.trigger_id}`)).body
    await until(async () => (await one()).last_polled_at !== null, 'the first poll')
    /** Makes the trigger due, and waits for the end of the poll. */
    const look = async (): Promise<Answer['body']> => {
      const id = fromWire('trg', added.body.trigger_id)
      await service.sql(`update service_triggers set next_poll_at = '2000-01-01' where trigger_id = $1`, [id])
      const isOver = `select from service_triggers where trigger_id = $1 and busy_until is null and next_poll_at > now()`
      await until(async () => (await service.sql(isOver, [id])).length === 1, 'a poll of the depot')
      return one()
    }
    const started = async (): Promise<string[]> => {
      const listed = await world.owner.call('GET', `/api/workflows/${made.body.workflow_id}/executions?limit=200`)
      const inputs = listed.body.items.map(async ({ execution_id }: { execution_id: string }) => {
        const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution_id}`)
        return body.input.item.id
      })
      return (await Promise.all(inputs)).sort()
    }
    const patch = (body: object): Promise<Answer> =>
      world.owner.call('PATCH', `${path}/${added.body.trigger_id}`, { body })
    return { look, started, patch, workflowId: made.body.workflow_id }
  }

  test('starts one execution for each item that the piece reports as new', async () => {
    answer = { status: 200, body: [{ id: 'old' }] }
    const { look, started } = await triggered()
    answer = { status: 200, body: [{ id: 'old' }, { id: 'b' }, { id: 'c' }] }
    expect((await look()).last_error).toBeNull()
    expect(await started()).toEqual(['b', 'c'])
    await look()
    answer = { status: 503, body: { message: 'Away' } }
    expect((await look()).last_error).toBe('Away')
    answer = { status: 200, body: [{ id: 'old' }, { id: 'b' }, { id: 'c' }, { id: 'd' }] }
    await look()
    expect(await started()).toEqual(['b', 'c', 'd'])
  })

  test('skips and reports an item that does not fit the workflow, and starts the others', async () => {
    answer = { status: 200, body: [] }
    const { look, started } = await triggered({ type: 'string' })
    answer = { status: 200, body: [{ id: 'a' }, { id: 1 }, { id: 'b' }, { id: 2 }] }
    const report = '2 of 4 new items started nothing. The input does not fit the workflow: /item/id must be string'
    expect((await look()).last_error).toBe(report)
    expect(await started()).toEqual(['a', 'b'])
    // A poll that finds nothing new does not withdraw the report. The piece does not return a skipped item again.
    expect((await look()).last_error).toBe(report)
    answer = { status: 200, body: [{ id: 'a' }, { id: 1 }, { id: 'b' }, { id: 2 }, { id: 'c' }] }
    expect((await look()).last_error).toBeNull()
    expect(await started()).toEqual(['a', 'b', 'c'])
  })

  test('starts many items in several steps, and asks the piece once', async () => {
    answer = { status: 200, body: [] }
    const { look, workflowId } = await triggered()
    const body = Array.from({ length: 2_001 }, (_, id) => ({ id }))
    answer = { status: 200, body }
    asked = []
    expect((await look()).last_error).toBeNull()
    expect(asked).toHaveLength(1)
    const ids = await service.sql(
      `select (input #>> '{item,id}')::integer as id from executions where workflow_id = $1 order by 1`,
      [fromWire('wf', workflowId)],
    )
    expect(ids).toEqual(body)
  })

  test('accepts the first 10,000 items, reports how many were left out, and goes on with the next poll', async () => {
    answer = { status: 200, body: [] }
    const { look, started } = await triggered({ type: 'integer', minimum: 9_999 })
    const body = Array.from({ length: 10_002 }, (_, id) => ({ id }))
    answer = { status: 200, body }
    asked = []
    const { last_error } = await look()
    const leftOut = 'The piece returned 10002 items at once. The last 2 were left out.'
    expect(last_error.startsWith(`${leftOut} 999 of 1000 new items started nothing.`), last_error).toBe(true)
    expect(await started()).toEqual([9_999])
    // A poll that finds nothing new does not withdraw the report.
    expect((await look()).last_error).toBe(last_error)
    expect(asked).toHaveLength(2)
    answer = { status: 200, body: [...body, { id: 10_002 }] }
    expect((await look()).last_error).toBeNull()
    expect(new Set(await started())).toEqual(new Set([9_999, 10_002]))
  })

  test('keeps the items that the plan does not admit, and starts them when it does', async () => {
    answer = { status: 200, body: [] }
    const { look, started } = await triggered({ type: 'string' })
    const limitedTo = async (more: number): Promise<void> => {
      const { quotas } = (await world.owner.call('GET', '/api/payments/usage')).body
      const { used } = quotas.find(({ quota }: { quota: string }) => quota === 'runs_per_month')
      await service.sql('update plans set quotas = $2 where plan_id = $1', [plan, { runs_per_month: used + more }])
      // Reading the usage makes this server reload the plan.
      await world.owner.call('GET', '/api/payments/usage')
    }
    const plan = newId()
    await service.sql(
      `insert into plans (plan_id, org_id, name, amount, currency, interval)
       select $1, org_id, 'Free', 0, 'eur', 'month' from orgs order by org_id limit 1`,
      [plan],
    )
    try {
      await limitedTo(2)
      answer = { status: 200, body: [{ id: 'a' }, { id: 1 }, { id: 'b' }, { id: 'c' }, { id: 'd' }] }
      expect((await look()).last_error).toContain('executions this month')
      expect(await started()).toEqual(['a', 'b'])
      await limitedTo(1)
      asked = []
      expect((await look()).last_error).toContain('executions this month')
      expect(await started()).toEqual(['a', 'b', 'c'])
      await limitedTo(9)
      expect((await look()).last_error).toBeNull()
      expect(asked).toEqual([])
      answer = { status: 200, body: [...(answer.body as object[]), { id: 'e' }] }
      await look()
      expect(await started()).toEqual(['a', 'b', 'c', 'd', 'e'])
    } finally {
      await service.sql('delete from plans where plan_id = $1', [plan])
    }
  })

  test('forgets the items that have not started when it is switched off', async () => {
    answer = { status: 200, body: [] }
    const { look, started, patch } = await triggered()
    answer = { status: 200, body: [{ id: 'a' }] }
    await service.sql(`update service_triggers set unstarted = '[{"id": "b"}]'`)
    await patch({ enabled: false })
    await patch({ enabled: true })
    await look()
    expect(await started()).toEqual([])
  })
})
