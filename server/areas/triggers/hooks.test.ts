import { createHmac } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeWall } from '#platform/wall/wall'
import { serviceCatalogue } from '#providers/services/catalogue'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { inputsOf, makeTriggered, readTrigger } from '#test/harness/triggers'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'
import { packPiece } from '#test/pieces/pack'
import { deliveryOf, eventOf, hookFault, isHandshake } from './hook-request.ts'

// Triggers that the vendor calls, through the HTTP API: registered at a vendor on this machine, called by it, and
// removed.

type Registered = { id: number | string; url: string; secret: string | undefined; by: string }

let vendor: Server
let site: string
let mirror: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let service: Service
let world: World
let hooks: Registered[] = []
let attempts = 0
let refuses = 0
let last = 0
/** Resolves when the vendor may respond. */
let ready: Promise<void> = Promise.resolve()
const renewed: string[] = []
/** Each test has its own project at the vendor, since triggers of earlier tests continue with theirs. */
let project = 0

beforeAll(async () => {
  vendor = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const say = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const asked = /\/projects\/(\d+)\//.exec(url)?.[1]
    if (asked !== undefined && asked !== String(project)) return say(404, { message: '404 Project Not Found' })
    const by = String(headers['private-token'] ?? headers.authorization)
    if (method === 'POST' && url.endsWith('/hooks')) {
      attempts += 1
      if (attempts <= refuses) return say(500, { message: 'down' })
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { url: string; token?: string; own?: string }
      last += 1
      hooks.push({ id: body.own ?? last, url: body.url, secret: body.token, by })
      return say(201, body.own === undefined ? { id: last } : {})
    }
    if (method === 'GET' && url.split('?')[0]!.endsWith('/hooks')) return say(200, hooks)
    if (url === '/hooks/ready') {
      await ready
      return say(200, {})
    }
    if (method === 'PUT' && url.endsWith('/renew')) {
      renewed.push(`${url} ${(JSON.parse(Buffer.concat(chunks).toString()) as { url: string }).url}`)
      return say(200, { id: renewed.length })
    }
    if (method === 'DELETE') {
      const id = url.split('/').at(-1)
      if (!hooks.some((hook) => String(hook.id) === id)) return say(404, { message: '404 Not found' })
      hooks = hooks.filter((hook) => String(hook.id) !== id)
      response.writeHead(204).end()
      return
    }
    return say(404, {})
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  mirror = await makeTemporaryDirectory()
  packPiece('depot', '1.0.0', mirror.path)
  const wall = makeWall({ outgoing: makeOutgoing({ allowTargets: [] }), level: 'namespaces', processes: 1 })
  service = await startService({
    env: {
      HEDDLE_WALL: (await wall.problem()) === undefined ? 'namespaces' : 'node',
      HEDDLE_ALLOW_TARGETS: `127.0.0.1:${port}`,
      HEDDLE_PIECES_MIRROR: mirror.path,
    },
  })
})
beforeEach(async () => {
  world = await makeWorld(service)
  project += 1
  hooks = []
  attempts = 0
  refuses = 0
})
afterAll(async () => {
  await service?.stop()
  await mirror?.remove()
  vendor.close()
})

const workflow = (): Promise<string> => makeTriggered(world.owner)

async function gitlab(workflowId: string): Promise<{ trigger_id: string; kind: string }> {
  const credential = await world.owner.call('POST', '/api/credentials', {
    body: { name: 'G', service: 'gitlab', hosts: [new URL(site).host], secrets: { value: 'glpat-a-secret' } },
  })
  const made = await world.owner.call('POST', `/api/workflows/${workflowId}/triggers`, {
    body: {
      service: 'gitlab',
      trigger: 'project_event',
      args: { site, project: String(project), issues_events: true },
      credential_id: credential.body.credential_id,
    },
  })
  expect(made.status, made.text).toBe(201)
  return made.body
}

const switched = async (workflowId: string, triggerId: string, enabled: boolean): Promise<Answer['body']> => {
  const path = `/api/workflows/${workflowId}/triggers/${triggerId}`
  const answer = await world.owner.call('PATCH', path, { body: { enabled } })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

const one = (workflowId: string, triggerId: string) => readTrigger(world.owner, workflowId, triggerId)
const due = (triggerId: string): Promise<unknown> =>
  service.sql(`update service_triggers set next_poll_at = '2000-01-01' where trigger_id = $1`, [
    fromWire('trg', triggerId),
  ])
/** Waits until the trigger is registered and the following pass has ended. */
const registered = (workflowId: string, triggerId: string) =>
  until(async () => {
    const [row] = await service.sql<{ rests: boolean }>(
      'select registered and busy_until is null and next_poll_at > now() as rests from service_triggers where trigger_id = $1',
      [fromWire('trg', triggerId)],
    )
    return row!.rests && (await one(workflowId, triggerId)).registered
  }, 'the registration')

const send = (hook: Registered, body: object, headers: Record<string, string> = {}) =>
  service.call('POST', new URL(hook.url).pathname + new URL(hook.url).search, {
    body,
    headers: { ...(hook.secret !== undefined && { 'x-gitlab-token': hook.secret }), ...headers },
  })

const started = async (workflowId: string): Promise<Answer['body'][]> =>
  (await inputsOf(world.owner, workflowId)).sort((a, b) => (JSON.stringify(a.item) < JSON.stringify(b.item) ? -1 : 1))
const items = async (workflowId: string) => (await started(workflowId)).map(({ item }) => item)

describe('a process that died after it called the vendor', () => {
  /**
   * Simulates the state after the crash: the number of the registration is stored, but the vendor's response is not.
   */
  async function left(workflowId: string): Promise<{ trigger_id: string }> {
    const made = await gitlab(workflowId)
    await registered(workflowId, made.trigger_id)
    await service.sql(
      `update service_triggers set registered = false, store = '{}', hook_confirmed = 0 where trigger_id = $1`,
      [fromWire('trg', made.trigger_id)],
    )
    hooks.push({ id: 99, url: 'https://other.example.com/hook', secret: undefined, by: 'somebody' })
    return made
  }

  test('leaves nothing at the vendor after the trigger is registered again', async () => {
    const workflowId = await workflow()
    const { trigger_id } = await left(workflowId)
    const [dead] = hooks
    await due(trigger_id)
    await registered(workflowId, trigger_id)
    expect(hooks.map(({ id }) => id).sort()).toEqual([Number(dead!.id) + 1, 99].sort())
    expect((await send(dead!, { object_kind: 'issue' })).status).toBe(404)
  })

  test('leaves nothing at the vendor after the trigger is deleted', async () => {
    const workflowId = await workflow()
    const { trigger_id } = await left(workflowId)
    await world.owner.call('DELETE', `/api/workflows/${workflowId}/triggers/${trigger_id}`)
    await until(() => Promise.resolve(hooks.length === 1), 'the removal of the registration')
    expect(hooks[0]).toMatchObject({ id: 99 })
  })
})

describe('a trigger of a manifest', () => {
  test('is registered, starts an execution for each event, checks the secret, and is unregistered when it is deleted', async () => {
    const workflowId = await workflow()
    const { trigger_id, kind } = await gitlab(workflowId)
    expect(kind).toBe('webhook')
    await registered(workflowId, trigger_id)
    // A registration that does not expire needs no pass for renewal.
    const { next_poll_at, every_s } = await one(workflowId, trigger_id)
    expect(every_s).toBeGreaterThan(120)
    expect(Date.parse(next_poll_at) - Date.now()).toBeGreaterThan(60_000)
    const [hook] = hooks
    expect(hooks).toMatchObject([{ by: 'glpat-a-secret', secret: expect.stringMatching(/^[0-9a-f]{48}$/) }])

    const event = { object_kind: 'issue', id: 1 }
    expect((await send(hook!, event, { 'idempotency-key': 'a' })).status).toBe(200)
    // The vendor repeats a delivery for which it received no response.
    expect((await send(hook!, event, { 'idempotency-key': 'a' })).status).toBe(200)
    expect((await send(hook!, { object_kind: 'issue', id: 2 }, { 'idempotency-key': 'b' })).status).toBe(200)
    expect((await send(hook!, { id: 3 }, { 'x-gitlab-token': 'wrong' })).status).toBe(401)
    await until(async () => (await started(workflowId)).length === 2, 'two runs')
    expect(await started(workflowId)).toMatchObject([
      { item: event, trigger: { service: 'gitlab', trigger: 'project_event', event: 'issue' } },
      { item: { id: 2 } },
    ])

    const path = `/api/workflows/${workflowId}/triggers/${trigger_id}`
    expect((await world.owner.call('DELETE', path)).status).toBe(204)
    expect((await send(hook!, { id: 4 })).status).toBe(404)
    await until(async () => hooks.length === 0, 'the end of the registration')
    await until(
      async () =>
        (await service.sql('select from service_trigger_removals where workspace_id = $1', [world.workspace.uuid]))
          .length === 0,
      'no removals left',
    )
    expect(await items(workflowId)).toHaveLength(2)
  })

  test('refuses calls to an unconfirmed registration, and accepts calls to the next one', async () => {
    const workflowId = await workflow()
    const { trigger_id } = await gitlab(workflowId)
    await registered(workflowId, trigger_id)
    const [first] = hooks
    // Simulates a process that died after it called the vendor and before it stored the result.
    await service.sql('update service_triggers set registered = false where trigger_id = $1', [
      fromWire('trg', trigger_id),
    ])
    await due(trigger_id)
    await registered(workflowId, trigger_id)
    expect(hooks).toHaveLength(2)
    expect((await send(first!, { id: 1 })).status).toBe(404)
    expect((await send(hooks[1]!, { id: 1 })).status).toBe(200)
    await until(async () => (await started(workflowId)).length === 1, 'one run')
  })

  test('retries a vendor that is unavailable, and shows the reason', async () => {
    refuses = 1
    const workflowId = await workflow()
    const { trigger_id } = await gitlab(workflowId)
    const failed = await until(async () => {
      const now = await one(workflowId, trigger_id)
      return now.last_error !== null && now
    }, 'the refusal')
    expect(failed).toMatchObject({ registered: false, last_error: 'GitLab answered 500: down' })
    await due(trigger_id)
    await registered(workflowId, trigger_id)
    expect((await one(workflowId, trigger_id)).last_error).toBeNull()
  })

  test('is unregistered and starts nothing when disabled, and is registered again when enabled', async () => {
    const workflowId = await workflow()
    const { trigger_id } = await gitlab(workflowId)
    await registered(workflowId, trigger_id)
    const [old] = hooks
    expect(await switched(workflowId, trigger_id, false)).toMatchObject({ enabled: false })
    expect((await send(old!, { id: 1 })).status).toBe(404)
    await until(async () => hooks.length === 0, 'the end of the registration')
    await until(async () => !(await one(workflowId, trigger_id)).registered, 'the trigger to show its end')
    expect(await switched(workflowId, trigger_id, false)).toMatchObject({ enabled: false, registered: false })
    // Simulates a request that was being stored while the trigger was disabled.
    await service.sql(
      `insert into service_trigger_events (workspace_id, event_id, trigger_id, payload)
       values ($1, '00000000-0000-7000-8000-000000000000', $2, '{"body": {"id": 1}, "headers": {}}')`,
      [world.workspace.uuid, fromWire('trg', trigger_id)],
    )
    expect(await switched(workflowId, trigger_id, true)).toMatchObject({ enabled: true })
    await registered(workflowId, trigger_id)
    expect((await send(old!, { id: 2 })).status).toBe(404)
    expect((await send(hooks[0]!, { id: 3 })).status).toBe(200)
    await until(async () => (await started(workflowId)).length > 0, 'the run')
    expect(await items(workflowId)).toEqual([{ id: 3 }])
    const log = await world.owner.call('GET', `/api/audit-log?subject=${trigger_id}&action=trigger.*`)
    expect(log.body.items.map(({ action }: Answer['body']) => action)).toEqual([
      'trigger.enabled',
      // The request that changed nothing.
      'trigger.updated',
      'trigger.disabled',
      'trigger.created',
    ])
  })

  test('is disabled and registered again if the vendor has lost the registration', async () => {
    const workflowId = await workflow()
    const { trigger_id } = await gitlab(workflowId)
    await registered(workflowId, trigger_id)
    hooks = []
    await switched(workflowId, trigger_id, false)
    await until(async () => !(await one(workflowId, trigger_id)).registered, 'the trigger to show its end')
    expect((await one(workflowId, trigger_id)).last_error).toBeNull()
    await switched(workflowId, trigger_id, true)
    await registered(workflowId, trigger_id)
    expect(hooks).toHaveLength(1)
  })

  test('is registered only while a version may run, and is unregistered with the workflow', async () => {
    const workflowId = await workflow()
    const { trigger_id } = await gitlab(workflowId)
    await registered(workflowId, trigger_id)
    const require = (required: boolean) =>
      service.sql('update workflows set activation_required = $2 where workflow_id = $1', [
        fromWire('wf', workflowId),
        required,
      ])
    await require(true)
    await until(async () => hooks.length === 0, 'the end of the registration')
    await until(async () => !(await one(workflowId, trigger_id)).registered, 'the trigger to show its end')
    await require(false)
    await registered(workflowId, trigger_id)
    expect(hooks).toHaveLength(1)
    expect((await send(hooks[0]!, { id: 9 })).status).toBe(200)
    await until(async () => (await started(workflowId)).length === 1, 'the run')
    // Deleting the workflow removes the registration.
    expect((await world.owner.call('DELETE', `/api/workflows/${workflowId}?cancel_runs=true`)).status).toBe(204)
    await until(async () => hooks.length === 0, 'the end of the registration')
  })
})

describe('a trigger of a piece', () => {
  async function depot(workflowId: string, shelf: string): Promise<string> {
    expect((await world.owner.call('POST', '/api/services/import', { body: { piece: 'depot' } })).status).toBe(201)
    const credential = await world.owner.call('POST', '/api/credentials', {
      body: {
        name: 'Depot',
        kind: 'piece',
        config: { service: 'piece.depot', auth: 'CUSTOM_AUTH', values: { base_url: site } },
        secrets: { token: 'depot-token' },
      },
    })
    const made = await world.owner.call('POST', `/api/workflows/${workflowId}/triggers`, {
      body: {
        service: 'piece.depot',
        trigger: 'item_sold',
        args: { shelf },
        credential_id: credential.body.credential_id,
      },
    })
    expect(made.status, made.text).toBe(201)
    return made.body.trigger_id
  }

  test('registers with its own code, answers the handshake, returns items, and is unregistered', async () => {
    const workflowId = await workflow()
    const triggerId = await depot(workflowId, 'a')
    await registered(workflowId, triggerId)
    expect(hooks).toMatchObject([{ by: 'Token depot-token' }])
    const { pathname } = new URL(hooks[0]!.url)

    const shaken = await service.call('GET', `${pathname}?challenge=%3Cb%3Eabc`)
    expect([shaken.status, shaken.text]).toEqual([200, '<b>abc'])
    expect(shaken.headers.get('content-type')).toContain('text/plain')
    expect((await service.call('GET', pathname)).status).toBe(405)
    // A vendor checks the address by HEAD. It is answered, and is no event.
    expect((await fetch(`${service.base}${pathname}`, { method: 'HEAD' })).status).toBe(200)
    const events = 'select from service_trigger_events where trigger_id = $1'
    expect(await service.sql(events, [fromWire('trg', triggerId)])).toEqual([])

    expect((await send(hooks[0]!, { sold: [{ id: 1 }, { id: 2 }] })).status).toBe(200)
    await until(async () => (await started(workflowId)).length === 2, 'two runs')
    expect(await items(workflowId)).toEqual([{ id: 1 }, { id: 2 }])
    expect((await send(hooks[0]!, { broken: true })).status).toBe(200)
    expect((await send(hooks[0]!, { sold: [{ id: 3 }] })).status).toBe(200)
    // An event that the piece cannot read is retried a limited number of times, and delays later events only until
    // then.
    await until(async () => {
      await due(triggerId)
      return (await started(workflowId)).length === 3
    }, 'the event after the unreadable event')
    const storeOf = async () =>
      (
        await service.sql<{ store: object }>('select store from service_triggers where trigger_id = $1', [
          fromWire('trg', triggerId),
        ])
      )[0]!.store
    expect(await storeOf()).toMatchObject({ events: 2 })

    // The piece defines the times of its renewal.
    await service.sql(`update service_triggers set renew_at = '2000-01-01' where trigger_id = $1`, [
      fromWire('trg', triggerId),
    ])
    await due(triggerId)
    await until(async () => renewed.length === 1, 'the renewal')
    expect(renewed).toEqual([`/hooks/${hooks[0]!.id}/renew ${hooks[0]!.url}`])
    await until(async () => 'renewed' in (await storeOf()), 'the stored value of the renewal')
    expect(await storeOf()).toMatchObject({ events: 2, renewed: 1 })

    await world.owner.call('DELETE', `/api/workflows/${workflowId}/triggers/${triggerId}`)
    await until(async () => hooks.length === 0, 'the end of the registration')
  })

  test('starts the items of an event that fit the workflow, and reports the others', async () => {
    const id = { type: 'integer' }
    const workflowId = await makeTriggered(world.owner, { properties: { item: { properties: { id } } } })
    const triggerId = await depot(workflowId, 'a')
    await registered(workflowId, triggerId)
    expect((await send(hooks[0]!, { sold: [{ id: 'x' }, { id: 1 }, { id: 2 }] })).status).toBe(200)
    await until(async () => (await started(workflowId)).length === 2, 'two runs')
    expect(await items(workflowId)).toEqual([{ id: 1 }, { id: 2 }])
    await until(async () => (await one(workflowId, triggerId)).last_error !== null, 'the report')
    expect((await one(workflowId, triggerId)).last_error).toMatch(/^1 of 3 new items started nothing\..*\/item\/id/)
  })

  /** Creates a trigger whose vendor has responded before the piece continues. Returns the recorded exchanges. */
  async function answeredDepot(piece: string) {
    let answer = (): void => {}
    ready = new Promise((resolve) => {
      answer = resolve
    })
    const workflowId = await workflow()
    const triggerId = await depot(workflowId, piece)
    const exchanges = await until(async () => {
      const [row] = await service.sql<{ hook_exchanges: object[] | null }>(
        'select hook_exchanges from service_triggers where trigger_id = $1',
        [fromWire('trg', triggerId)],
      )
      return row!.hook_exchanges
    }, 'the response of the vendor to be recorded')
    answer()
    await registered(workflowId, triggerId)
    return { workflowId, triggerId, exchanges }
  }

  /** Simulates a process that died before the piece had finished. */
  const forget = (triggerId: string, exchanges: object[]): Promise<unknown> =>
    service.sql(
      `update service_triggers set registered = false, store = '{}', hook_confirmed = 0, hook_exchanges = $2::jsonb where trigger_id = $1`,
      [fromWire('trg', triggerId), JSON.stringify(exchanges)],
    )

  test('that invented the name of its registration is unregistered by that name', async () => {
    const { workflowId, triggerId, exchanges } = await answeredDepot('own')
    const [dead] = hooks
    await forget(triggerId, exchanges)
    await due(triggerId)
    await registered(workflowId, triggerId)
    expect(hooks).toHaveLength(1)
    expect(hooks[0]!.id).not.toBe(dead!.id)
  })

  test('that is disabled during registration is unregistered, and is registered again when enabled', async () => {
    let answer = (): void => {}
    ready = new Promise((resolve) => {
      answer = resolve
    })
    const workflowId = await workflow()
    const triggerId = await depot(workflowId, 'slow')
    await until(async () => hooks.length === 1, 'the request to the vendor')
    expect(await switched(workflowId, triggerId, false)).toMatchObject({ registered: false })
    answer()
    await until(async () => hooks.length === 0, 'the end of the registration')
    await switched(workflowId, triggerId, true)
    await registered(workflowId, triggerId)
    expect(hooks).toHaveLength(1)
  })

  test('that was registered by a process that died is unregistered with the recorded response of the vendor', async () => {
    const { workflowId, triggerId, exchanges } = await answeredDepot('slow')
    expect(exchanges).toMatchObject([{ method: 'POST', status: 201 }])
    expect(hooks).toHaveLength(1)
    const [dead] = hooks
    await forget(triggerId, exchanges)
    await due(triggerId)
    await registered(workflowId, triggerId)
    expect(hooks.map(({ id }) => id)).toEqual([Number(dead!.id) + 1])

    const body = Buffer.from(JSON.stringify(hooks[0])).toString('base64')
    await forget(triggerId, [{ ...exchanges[0], body }])
    await world.owner.call('DELETE', `/api/workflows/${workflowId}/triggers/${triggerId}`)
    await until(async () => hooks.length === 0, 'the end of the registration')
  })
})

describe('a request of a vendor', () => {
  const hookOf = (name: string) => [...serviceCatalogue().get(name)!.hooks.values()][0]!
  const body = Buffer.from('{"a":1}')
  const now = Date.parse('2026-11-17T00:00:00Z')
  const hmac = (encoding: 'hex' | 'base64') => createHmac('sha256', 'key').update(body).digest(encoding)
  const faultOf = (name: string, headers: Record<string, string>) =>
    hookFault(hookOf(name), { headers, body, secret: 'key', now })

  test.each([
    ['github', { 'x-hub-signature-256': `sha256=${hmac('hex')}` }],
    ['gitlab', { 'x-gitlab-token': 'key' }],
    ['telegram', { 'x-telegram-bot-api-secret-token': 'key' }],
    ['typeform', { 'typeform-signature': `sha256=${hmac('base64')}` }],
  ])('from %s is verified as its reference describes', (name, headers) => {
    expect(faultOf(name, headers)).toBeUndefined()
    expect(faultOf(name, {})).toEqual(expect.any(String))
    const wrong = Object.fromEntries(
      Object.entries(headers).map(([header, value]) => [header, `${value.slice(0, -1)}_`]),
    )
    expect(faultOf(name, wrong)).toEqual(expect.any(String))
  })

  test('is registered and unregistered with actions that accept the given arguments', () => {
    for (const { service: name, hooks: known, actions } of serviceCatalogue().values())
      for (const hook of known.values()) {
        const place = `${name}.${hook.name}`
        const takes = (action: string) => Object.keys(actions.get(action)!.args_schema.properties as object)
        const needs = (action: string) => actions.get(action)!.args_schema.required as string[]
        expect(takes(hook.register), place).toEqual(expect.arrayContaining(['hook_url', 'hook_secret']))
        const given = [...Object.keys(hook.args_schema.properties as object), ...Object.keys(hook.fixed ?? {})]
        const ends = hook.lasts_s === undefined ? [] : ['hook_until', 'hook_until_ms']
        const first = [...given, 'hook_url', 'hook_secret', 'hook_id', ...ends]
        for (const field of needs(hook.register)) expect(first, place).toContain(field)
        const later = [...given, ...Object.keys(hook.keep ?? {})]
        for (const field of needs(hook.unregister)) expect(later, place).toContain(field)
        if (hook.renew) for (const field of needs(hook.renew)) expect([...later, ...ends], place).toContain(field)
      }
  })

  test('has a delivery id and an event', () => {
    const of = (name: string, headers: object, inside: object) =>
      deliveryOf(hookOf(name), { headers: headers as Record<string, string>, body: inside as never })
    expect(of('github', { 'x-github-delivery': 'd1' }, {})).toBe('d1')
    expect(of('telegram', {}, { update_id: 7 })).toBe('7')
    expect(of('telegram', { 'webhook-id': 'x' }, {})).toBeUndefined()
    expect(deliveryOf(undefined, { headers: { 'x-shopify-webhook-id': 's' }, body: null })).toBe('s')
    expect(deliveryOf(undefined, { headers: {}, body: null })).toBeUndefined()
    expect(eventOf(hookOf('github'), { headers: { 'x-github-event': 'push' } })).toBe('push')
    expect(eventOf(hookOf('github'), { headers: { 'x-github-event': 'ping' } })).toBeUndefined()
    expect(eventOf(hookOf('telegram'), { headers: {} })).toBeNull()
  })

  test('is recognised as a handshake', () => {
    const seen = { headers: { 'x-hook': 'a' }, query: { q: '1' }, body: { type: 'b' } }
    const is = (strategy: string, paramName: string) => isHandshake({ strategy, paramName }, seen)
    expect([is('HEADER_PRESENT', 'X-Hook'), is('QUERY_PRESENT', 'q'), is('BODY_PARAM_PRESENT', 'type')]).toEqual([
      true,
      true,
      true,
    ])
    expect([is('HEADER_PRESENT', 'q'), is('NONE', 'q'), isHandshake(null, seen)]).toEqual([false, false, false])
  })
})
