import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sealSecrets } from '#areas/credentials/box'
import type { JsonObject } from '#model/definition'
import { fromWire } from '#platform/ids'
import { serviceCatalogue } from '#providers/services/catalogue'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { makeTestDatabase } from '#test/harness/postgres'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Registrations that expire, at a vendor on this machine with subscriptions like Microsoft Graph and channels like
// Google.

type Registered = { id: string; url: string; secret: string; until: number; resource: string }

let vendor: Server
let site: string
let database: Awaited<ReturnType<typeof makeTestDatabase>>
let service: Service
let world: World
let registered: Registered[] = []
let renewals = 0
let isDown = false
/** Resolves when the vendor may respond that a registration was created or removed. */
let answered: Promise<void> = Promise.resolve()
let last = 0

const sharesHandshake = async (url: string): Promise<boolean> => {
  const asked = new URL(url)
  asked.searchParams.set('validationToken', 'Validation: <b>')
  const answer = await fetch(asked, { method: 'POST' })
  return answer.status === 200 && (await answer.text()) === 'Validation: <b>'
}

async function answerOf(method: string, path: string, body: Record<string, string>): Promise<[number, unknown?]> {
  if (isDown) return [503, { error: { message: 'Service Unavailable' } }]
  const id = path.split('/').at(-1)!
  const known = registered.find((one) => one.id === id && one.until > Date.now())
  if (method === 'POST' && path === '/subscriptions') {
    const { notificationUrl: url = '', clientState: secret = '', resource = '' } = body
    if (!(await sharesHandshake(url))) return [400, { error: { message: 'Subscription validation request failed.' } }]
    last += 1
    registered.push({ id: `sub-${last}`, url, secret, until: Date.parse(body.expirationDateTime!), resource })
    await answered
    return [201, { id: `sub-${last}`, expirationDateTime: body.expirationDateTime }]
  }
  if (method === 'GET') return [200, { value: registered.map((one) => ({ id: one.id, notificationUrl: one.url })) }]
  if (method === 'POST' && path.endsWith('/watch')) {
    const { id: channel = '', address: url = '', token: secret = '' } = body
    registered.push({ id: channel, url, secret, until: Number(body.expiration), resource: path })
    await answered
    return [200, { id: channel, resourceId: `resource of ${channel}`, expiration: body.expiration }]
  }
  if (method === 'POST' && path === '/channels/stop') {
    registered = registered.filter((one) => one.id !== body.id || body.resourceId !== `resource of ${one.id}`)
    return [204]
  }
  if (!known) return [404, { error: { message: 'The object was not found.' } }]
  if (method === 'DELETE') {
    registered = registered.filter((one) => one !== known)
    await answered
    return [204]
  }
  renewals += 1
  known.until = Date.parse(body.expirationDateTime!)
  return [200, { id, expirationDateTime: body.expirationDateTime }]
}

const start = (): Promise<Service> => {
  const { host } = new URL(site)
  return startService({ database, env: { HEDDLE_ALLOW_TARGETS: host } })
}

beforeAll(async () => {
  vendor = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const path = (request.url ?? '').split('?')[0]!
    const isKnown = request.headers.authorization === 'Bearer vendor-token'
    const [status, answer] = isKnown
      ? await answerOf(request.method ?? '', path, text === '' ? {} : JSON.parse(text))
      : [401, {}]
    response.writeHead(status, { 'content-type': 'application/json' }).end(answer ? JSON.stringify(answer) : undefined)
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  site = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
  // The real addresses of the vendors cannot be reached from here.
  for (const name of ['outlook', 'google_calendar']) serviceCatalogue().get(name)!.base_url = site
  database = await makeTestDatabase()
  service = await start()
})
beforeEach(async () => {
  // Uses the service that is running at the time of the call.
  world = await makeWorld({
    sql: (text, values) => service.sql(text, values),
    call: (method, path, options) => service.call(method, path, options),
  })
  registered = []
  renewals = 0
  isDown = false
  answered = Promise.resolve()
})
afterAll(async () => {
  await service?.stop()
  await database?.drop()
  vendor.close()
})

/** Creates a credential with consent. */
async function credential(preset: string): Promise<string> {
  const made = await world.owner.call('POST', '/api/credentials', {
    body: {
      name: 'Account',
      service: preset,
      hosts: [new URL(site).host],
      config: { client_id: 'client' },
      secrets: { client_secret: 'a-client-secret' },
    },
  })
  expect(made.status, made.text).toBe(201)
  const credentialId = fromWire('cred', made.body.credential_id)!
  const [row] = await service.sql<{ hosts: string[]; config: JsonObject }>(
    'select hosts, config from credentials where credential_id = $1',
    [credentialId],
  )
  const sealed = {
    workspace_id: world.workspace.uuid,
    credential_id: credentialId,
    kind: 'oauth2_code' as const,
    ...row!,
  }
  await service.sql(
    `update credentials set state = 'ready', tokens = $2, token_expires_at = now() + interval '1 hour' where credential_id = $1`,
    [credentialId, sealSecrets(service.vault, sealed, { access_token: 'vendor-token' }, 'tokens')],
  )
  return made.body.credential_id
}

type Made = { workflowId: string; triggerId: string }

async function trigger(name: 'outlook' | 'google_calendar', inputs: JsonObject = { type: 'object' }): Promise<Made> {
  const definition = {
    inputs,
    nodes: [{ id: 'a', type: 'set', args: { values: { item: { $ref: 'input.item' } } } }],
    edges: [],
  }
  const workflow = await world.owner.call('POST', '/api/workflows', { body: { name: 'W', definition } })
  const isOutlook = name === 'outlook'
  const made = await world.owner.call('POST', `/api/workflows/${workflow.body.workflow_id}/triggers`, {
    body: {
      service: name,
      trigger: isOutlook ? 'message_event' : 'calendar_changed',
      args: isOutlook ? { folder: 'inbox' } : { calendar_id: 'primary' },
      credential_id: await credential(isOutlook ? 'microsoft_graph' : 'google_calendar'),
    },
  })
  expect(made.status, made.text).toBe(201)
  return { workflowId: workflow.body.workflow_id, triggerId: made.body.trigger_id }
}

const one = async ({ workflowId, triggerId }: Made): Promise<Answer['body']> =>
  (await world.owner.call('GET', `/api/workflows/${workflowId}/triggers/${triggerId}`)).body
/** Waits until the trigger is registered and the following pass has ended. */
const isRegistered = (made: Made) =>
  until(async () => {
    const [row] = await service.sql<{ rests: boolean }>(
      'select registered and busy_until is null and next_poll_at > now() as rests from service_triggers where trigger_id = $1',
      [fromWire('trg', made.triggerId)],
    )
    return row!.rests && (await one(made))
  }, 'the registration')
/** Makes the renewal or the expiry of the registration due. */
const come = ({ triggerId }: Made, column: 'renew_at' | 'expires_at' = 'renew_at'): Promise<unknown> =>
  service.sql(
    `update service_triggers set ${column} = '2000-01-01', next_poll_at = '2000-01-01' where trigger_id = $1`,
    [fromWire('trg', triggerId)],
  )
const send = ({ url }: Registered, body: object, headers: Record<string, string> = {}) =>
  service.call('POST', new URL(url).pathname, { body, headers })
const mail = (secret: string, id: string) => ({
  value: [{ subscriptionId: 's', clientState: secret, changeType: 'created', resourceData: { id } }],
})
async function started({ workflowId }: Made): Promise<Answer['body'][]> {
  const listed = await world.owner.call('GET', `/api/workflows/${workflowId}/executions?sort=created_at`)
  return Promise.all(
    listed.body.items.map(async ({ execution_id }: { execution_id: string }) => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution_id}`)
      return body.input
    }),
  )
}

describe('a registration that expires', () => {
  test('is renewed before it expires, even after a restart, and its events start executions', async () => {
    const made = await trigger('outlook')
    const { expires_at } = await isRegistered(made)
    const [sub] = registered as [Registered]
    expect(sub).toMatchObject({
      resource: "me/mailFolders('inbox')/messages",
      secret: expect.stringMatching(/^\w{48}$/),
    })
    expect(Math.abs(Date.parse(expires_at) - sub.until)).toBeLessThan(60_000)
    const [row] = await service.sql<{ ahead: boolean; in_time: boolean }>(
      `select renew_at < expires_at and renew_at > now() as ahead, next_poll_at <= renew_at as in_time
       from service_triggers where trigger_id = $1`,
      [fromWire('trg', made.triggerId)],
    )
    expect(row).toEqual({ ahead: true, in_time: true })

    await service.stop()
    sub.until = Date.now() + 60_000
    service = await start()
    await come(made)
    await until(async () => renewals === 1, 'the renewal')
    expect(registered).toHaveLength(1)
    await until(async () => Date.parse((await one(made)).expires_at) > Date.now() + 3_600_000, 'the new end')
    expect(sub.until).toBeGreaterThan(Date.now() + 3_600_000)

    expect((await send(sub, mail('wrong', '1'))).status).toBe(401)
    expect((await send(sub, {})).status).toBe(401)
    expect((await send(sub, mail(sub.secret, '1'))).status).toBe(200)
    await until(async () => (await started(made)).length === 1, 'the run')
    const [input] = await started(made)
    expect(input).toMatchObject({ item: { resourceData: { id: '1' } }, trigger: { event: 'created' } })
    expect(JSON.stringify(input)).not.toContain(sub.secret)
  })

  test('that cannot be renewed is reported once, is retried, and stays valid until it expires', async () => {
    const made = await trigger('outlook')
    await isRegistered(made)
    const told = async (): Promise<number> => {
      const { body } = await world.owner.call('GET', '/api/notifications')
      return body.items.filter(({ kind }: { kind: string }) => kind === 'trigger.renewal_failed').length
    }
    isDown = true
    const failures = (count: number) =>
      until(async () => {
        const [{ epoch, is_ahead }] = (await service.sql<{ epoch: number; is_ahead: boolean }>(
          `select epoch::integer as epoch, renew_at > now() as is_ahead from service_triggers where trigger_id = $1`,
          [fromWire('trg', made.triggerId)],
        )) as [{ epoch: number; is_ahead: boolean }]
        return is_ahead && epoch > count && epoch
      }, 'a failed renewal')
    const before = await failures(0)
    await come(made)
    const first = await failures(before)
    expect(await one(made)).toMatchObject({
      registered: true,
      last_error: expect.stringMatching(/^The registration at Microsoft Outlook could not be renewed: .*503/),
    })
    await come(made)
    await failures(first)
    expect(await told()).toBe(1)
    const [sub] = registered as [Registered]
    expect((await send(sub, mail(sub.secret, '2'))).status).toBe(200)
    await until(async () => (await started(made)).length === 1, 'the run')

    // After expiry, the trigger is registered again when the vendor answers.
    await come(made, 'expires_at')
    await until(async () => !(await one(made)).registered, 'the end of the registration')
    registered = []
    isDown = false
    await come(made)
    expect(await isRegistered(made)).toMatchObject({ last_error: null })
    expect(registered).toHaveLength(1)
    expect((await send(sub, mail(sub.secret, '3'))).status).toBe(404)
  })

  test('is created again if the vendor has lost it', async () => {
    const made = await trigger('outlook')
    await isRegistered(made)
    const [lost] = registered as [Registered]
    registered = []
    await come(made)
    await until(async () => registered.length === 1, 'another registration')
    await until(async () => (await send(lost, mail(lost.secret, '1'))).status === 404, 'the end of the old address')
    const [sub] = registered as [Registered]
    expect((await send(sub, mail(sub.secret, '2'))).status).toBe(200)
    // The old address may have accepted the first mail while it was still valid.
    await until(async () => JSON.stringify(await started(made)).includes('"id":"2"'), 'the run')
  })

  test('is replaced if the vendor does not renew: the old one is valid until the new one is confirmed', async () => {
    const made = await trigger('google_calendar')
    await isRegistered(made)
    const [old] = registered as [Registered]
    let answer = (): void => {}
    answered = new Promise((resolve) => {
      answer = resolve
    })
    await come(made)
    await until(async () => registered.length === 2, 'the second channel')
    const fresh = registered[1]!
    let number = 0
    const changed = (channel: Registered, state = 'exists') => {
      number += 1
      return send(
        channel,
        {},
        {
          'x-goog-channel-id': channel.id,
          'x-goog-channel-token': channel.secret,
          'x-goog-resource-state': state,
          'x-goog-message-number': String(number),
        },
      )
    }
    expect((await changed(fresh, 'sync')).status).toBe(200)
    expect((await changed(old)).status).toBe(200)
    expect((await changed(fresh)).status).toBe(200)
    answer()
    await until(async () => registered.length === 1, 'the end of the old channel')
    expect(registered).toEqual([fresh])
    expect((await changed(old)).status).toBe(404)
    expect((await changed(fresh)).status).toBe(200)
    await until(async () => (await started(made)).length === 2, 'two runs')
    expect(await started(made)).toMatchObject([
      { item: { state: 'exists' }, trigger: { event: 'exists' } },
      { item: { state: 'exists' } },
    ])
  })
})

describe('while a pass over a trigger ends', () => {
  /** Prevents any pass over the trigger. */
  const keepBusy = (id: string) =>
    service.sql(
      `update service_triggers set busy_until = now() + interval '1 day', next_poll_at = now() + interval '1 day' where trigger_id = $1`,
      [id],
    )
  const idOf = ({ triggerId }: Made): string => fromWire('trg', triggerId)!
  const requireActivation = ({ workflowId }: Made, isRequired: boolean) =>
    service.sql('update workflows set activation_required = $2 where workflow_id = $1', [
      fromWire('wf', workflowId),
      isRequired,
    ])
  /** Runs `work` at the moment when a pass releases the trigger. */
  const whenGivenBack = (made: Made, work: () => Promise<unknown>) =>
    inOtherTransaction(service, async (look) => {
      await look.sql('update service_triggers set busy_until = null where trigger_id = $1', [idOf(made)])
      let isDone = false
      const doing = work().finally(() => {
        isDone = true
      })
      await until(async () => isDone || waitsForLock(service, 'update %'), 'the concurrent work')
      await look.commit()
      await doing
    })

  test('an event is handled immediately', async () => {
    const made = await trigger('outlook')
    await isRegistered(made)
    const [sub] = registered as [Registered]
    await keepBusy(idOf(made))
    await whenGivenBack(made, async () => expect((await send(sub, mail(sub.secret, '1'))).status).toBe(200))
    await until(async () => (await started(made)).length === 1, 'the run')
  })

  test('an event is handled immediately, even if the previous event started nothing', async () => {
    const id = { enum: ['fits'] }
    const item = { type: 'object', properties: { resourceData: { type: 'object', properties: { id } } } }
    const made = await trigger('outlook', { type: 'object', properties: { item } })
    await isRegistered(made)
    const [sub] = registered as [Registered]
    await keepBusy(idOf(made))
    expect((await send(sub, mail(sub.secret, 'does not fit'))).status).toBe(200)
    await inOtherTransaction(service, async (other) => {
      await other.sql('select from service_trigger_events where trigger_id = $1 for update', [idOf(made)])
      await service.sql('update service_triggers set busy_until = null, next_poll_at = now() where trigger_id = $1', [
        idOf(made),
      ])
      await until(() => waitsForLock(service, 'update service_trigger_events%'), 'the end of the first event')
      expect((await send(sub, mail(sub.secret, 'fits'))).status).toBe(200)
      await other.commit()
    })
    await until(async () => (await started(made)).length === 1, 'the run of the second event')
  })

  test('an activation takes effect immediately', async () => {
    const made = await trigger('outlook')
    await isRegistered(made)
    await requireActivation(made, true)
    await until(async () => !(await one(made)).registered, 'the removal of the registration')
    expect(registered).toEqual([])
    await keepBusy(idOf(made))
    await whenGivenBack(made, () => requireActivation(made, false))
    await until(async () => registered.length === 1, 'another registration')
  })

  test('an activation takes effect immediately, even while the registration is being removed', async () => {
    const made = await trigger('outlook')
    await isRegistered(made)
    let answer = (): void => {}
    answered = new Promise((resolve) => {
      answer = resolve
    })
    await requireActivation(made, true)
    await until(async () => registered.length === 0, 'the request to the vendor')
    await requireActivation(made, false)
    answer()
    await until(async () => registered.length === 1, 'another registration')
  })
})

test('a trigger that is deleted during registration leaves nothing at the vendor', async () => {
  let answer = (): void => {}
  answered = new Promise((resolve) => {
    answer = resolve
  })
  const { workflowId, triggerId } = await trigger('outlook')
  await until(async () => registered.length === 1, 'the request to the vendor')
  const path = `/api/workflows/${workflowId}/triggers/${triggerId}`
  expect((await world.owner.call('DELETE', path)).status).toBe(204)
  answer()
  await until(async () => registered.length === 0, 'the removal of the registration')
})
