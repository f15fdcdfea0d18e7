import { readFile } from 'node:fs/promises'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventTypes } from '#model/event-types'
import { fromWire, newId } from '#platform/ids'
import { OUTBOX_HINTS } from '#platform/outbox'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { makeDataset, makeJob, runJob } from '#test/harness/jobs'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { type Answer, type SharedService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

const shared = useSharedService()
let service: SharedService
let world: World
let receiver: Vendor
let other: Vendor

beforeAll(async () => {
  receiver = await startVendor()
  other = await startVendor()
  service = shared()
  service.allow(receiver.host, other.host)
})
beforeEach(async () => {
  world = await makeWorld(service)
  receiver.answer = taken
})
afterAll(async () => {
  await receiver?.stop()
  await other?.stop()
})

const taken: Vendor['answer'] = (_request, response) => response.writeHead(204).end()
const answering =
  (status: number, headers: Record<string, string> = {}, body = ''): Vendor['answer'] =>
  (_request, response) =>
    response.writeHead(status, headers).end(body)

/**
 * Delays the next attempt until the test requests it, also on a machine that is busy for longer than the first pause.
 */
const NOT_SOON = { 'retry-after': '90' }

const isTried = ({ last_attempt_at }: Answer['body']): boolean => last_attempt_at !== null

/** Each destination has its own path, so that tests do not see each other's events. */
let paths = 0
async function make(person: TestPerson, more: object = {}): Promise<Answer['body'] & { path: string }> {
  const path = `/events-${++paths}`
  const body = { url: receiver.url + path, event_types: ['execution.*'], ...more }
  const made = await person.call('POST', '/api/event-destinations', { body })
  expect(made.status, made.text).toBe(201)
  return { ...made.body, path }
}
const seenAt = (path: string) =>
  receiver.seen
    .filter((request) => request.path === path)
    .map((request) => ({ ...request, message: JSON.parse(request.body) }))
const typesAt = (path: string): string[] => seenAt(path).map(({ message }) => message.type)
const arrived = (path: string, type: string, count = 1) =>
  until(async () => {
    const found = seenAt(path).filter(({ message }) => message.type === type)
    return found.length >= count && found
  }, `${type} at ${path}`)

const set = (value: unknown = 1) => ({
  nodes: [{ id: 'n', type: 'set', args: { values: { value } } }],
  edges: [],
  output: { $ref: 'nodes.n.output' },
})
const gate = {
  nodes: [
    {
      id: 'ok',
      type: 'approval',
      args: { title: 'Pay?', policy: { approvers: [{ kind: 'role', id: 'member' }], quorum: 'any' } },
    },
  ],
  edges: [],
}
async function save(person: TestPerson, definition: object = set()): Promise<string> {
  const made = await person.call('POST', '/api/workflows', { body: { name: 'W', definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
async function run(person: TestPerson, workflow: string): Promise<string> {
  const ran = await person.call('POST', `/api/workflows/${workflow}/run?wait_s=60`, { body: { input: {} } })
  expect(ran.status, ran.text).toBeLessThan(300)
  return ran.body.execution_id
}
async function share(workflow: string, ...people: TestPerson[]): Promise<void> {
  const members = people.map(({ id }) => ({ user_id: id, role: 'viewer' }))
  const answer = await world.owner.call('PATCH', `/api/workflows/${workflow}`, { body: { members } })
  expect(answer.status, answer.text).toBe(200)
}
const get = async (person: TestPerson, id: string) => (await person.call('GET', `/api/event-destinations/${id}`)).body
const deliveries = async (person: TestPerson, id: string) =>
  (await person.call('GET', `/api/event-destinations/${id}/deliveries`)).body.items
/** Makes all pending deliveries due now. */
async function hurry(destination: string): Promise<void> {
  const id = fromWire('dest', destination)
  await service.sql('update event_destinations set blocked_until = null where destination_id = $1', [id])
  await service.sql(`update event_deliveries set next_at = now() where destination_id = $1 and status = 'pending'`, [
    id,
  ])
  service.db.hint(OUTBOX_HINTS, '')
}

describe('a destination', () => {
  test('receives signed events of executions in order, with their data', async () => {
    const { path, secret, destination_id } = await make(world.member)
    const workflow = await save(world.member)
    const execution = await run(world.member, workflow)
    const [ended] = await arrived(path, 'execution.succeeded')
    expect(typesAt(path)).toEqual(['execution.started', 'execution.succeeded'])
    for (const { body, headers } of seenAt(path)) new Webhook(secret).verify(body, headers as Record<string, string>)
    expect(ended!.message.data).toMatchObject({
      workspace_id: world.workspace.id,
      execution_id: execution,
      workflow_id: workflow,
      results: { value: 1 },
      trigger: { kind: 'user', id: world.member.id },
      started_by: world.member.id,
    })
    const done = await until(async () => {
      const rows = await deliveries(world.member, destination_id)
      return rows.length === 2 && rows.every(({ status }: Answer['body']) => status === 'delivered') && rows
    }, 'both deliveries')
    // Both events may have the same millisecond. Then either of them is listed first.
    const ofType = (type: string): Answer['body'] => done.find((row: Answer['body']) => row.type === type)
    expect(ofType('execution.succeeded')).toMatchObject({ attempts: 1, answer_status: 204, problem: null })
    expect(seenAt(path).map(({ headers }) => headers['webhook-id'])).toEqual([
      ofType('execution.started').delivery_id,
      ofType('execution.succeeded').delivery_id,
    ])
    expect(await get(world.member, destination_id)).toMatchObject({ enabled: true, pending: 0, failures: 0 })
  })

  test('shows its secret once, stores it sealed, and rotates it with an overlap', async () => {
    const { path, secret, destination_id } = await make(world.member)
    expect(secret).toMatch(/^whsec_/)
    expect(await get(world.member, destination_id)).not.toHaveProperty('secret')
    const [row] = await service.sql<{ text: string }>(
      'select d::text as text from event_destinations d where destination_id = $1',
      [fromWire('dest', destination_id)],
    )
    expect(row!.text).not.toContain(secret.slice(6))
    expect(row!.text).not.toContain(Buffer.from(secret).toString('hex'))
    const rotated = await world.member.call('POST', `/api/event-destinations/${destination_id}/rotate-secret`)
    expect(rotated.status).toBe(200)
    await run(world.member, await save(world.member))
    const [first] = await arrived(path, 'execution.started')
    for (const known of [secret, rotated.body.secret])
      new Webhook(known).verify(first!.body, first!.headers as Record<string, string>)
    await service.sql(
      `update event_destinations set previous_secret_until = now() - interval '1 second' where destination_id = $1`,
      [fromWire('dest', destination_id)],
    )
    await run(world.member, await save(world.member))
    const [, second] = await arrived(path, 'execution.started', 2)
    new Webhook(rotated.body.secret).verify(second!.body, second!.headers as Record<string, string>)
    expect(() => new Webhook(secret).verify(second!.body, second!.headers as Record<string, string>)).toThrow()
  })

  test('with a workflow receives only events of that workflow', async () => {
    const [mine, another] = [await save(world.member), await save(world.member)]
    const { path } = await make(world.member, { workflow_id: mine })
    const everything = await make(world.member)
    await run(world.member, another)
    const execution = await run(world.member, mine)
    await arrived(everything.path, 'execution.succeeded', 2)
    await arrived(path, 'execution.succeeded')
    expect(seenAt(path).map(({ message }) => message.data.execution_id)).toEqual([execution, execution])
  })

  test('receives events of approvals', async () => {
    const { path } = await make(world.owner, { event_types: ['approval.*', 'execution.waiting'] })
    const workflow = await save(world.owner, gate)
    const ran = await world.owner.call('POST', `/api/workflows/${workflow}/run`, { body: { input: {} } })
    const [opened] = await arrived(path, 'approval.opened')
    expect(opened!.message.data).toMatchObject({ execution_id: ran.body.execution_id, node_id: 'ok', title: 'Pay?' })
    await arrived(path, 'execution.waiting')
  })

  test('is refused if it can never work, or references what the caller may not see', async () => {
    const strangers = await save(world.stranger)
    const hidden = await save(world.owner)
    const bodies: [object, number, string][] = [
      [{ url: 'http://example.com/' }, 422, 'invalid'],
      [{ url: 'https://10.0.0.1/' }, 422, 'invalid'],
      [{ url: 'https://user:pass@example.com/' }, 422, 'invalid'],
      [{ url: 'nonsense' }, 422, 'invalid'],
      [{ url: `https://example.com/${'a'.repeat(2_000)}` }, 422, 'invalid'],
      [{ event_types: [] }, 422, 'invalid'],
      [{ event_types: ['execution.exploded'] }, 422, 'invalid'],
      [{ event_types: ['audit.*'] }, 403, 'forbidden'],
      [{ workflow_id: strangers }, 422, 'unknown_reference'],
      [{ workflow_id: hidden }, 422, 'unknown_reference'],
      [{ workflow_id: 'wf_nonsense' }, 422, 'unknown_reference'],
      [{ credential_id: 'cred_01kf3v6h2he3wtpk1fw5c0wz9d' }, 422, 'unknown_reference'],
    ]
    for (const [more, status, code] of bodies) {
      const body = { url: 'https://example.com/', event_types: ['execution.*'], ...more }
      const answer = await world.member.call('POST', '/api/event-destinations', { body })
      expect([more, answer.status, answer.body.code]).toEqual([more, status, code])
    }
    expect((await world.member.call('GET', '/api/event-destinations')).body.items).toEqual([])
  })

  test('is limited to twenty per workspace, unless the plan sets another limit', async () => {
    const body = { url: 'https://example.com/', event_types: ['job.*'] }
    const made = await Promise.all(
      Array.from({ length: 22 }, () => world.owner.call('POST', '/api/event-destinations', { body })),
    )
    expect(made.filter(({ status }) => status === 201)).toHaveLength(20)
    expect(made.find(({ status }) => status !== 201)!.body.code).toBe('quota_exceeded')
    const plan = newId()
    await service.sql(
      `insert into plans (plan_id, org_id, name, amount, currency, "interval")
       select $1, org_id, 'Free', 0, 'eur', 'month' from orgs order by org_id limit 1`,
      [plan],
    )
    const limited = async (event_destinations: number | null | undefined) => {
      await service.sql('update plans set quotas = $2 where plan_id = $1', [
        plan,
        event_destinations === undefined ? {} : { event_destinations },
      ])
      // Reading the usage makes this server reload the plan.
      const { quotas } = (await world.owner.call('GET', '/api/payments/usage')).body
      return quotas.find(({ quota }: { quota: string }) => quota === 'event_destinations')
    }
    expect(await limited(undefined)).toEqual({ quota: 'event_destinations', used: 20, limit: 20 })
    expect(await limited(21)).toMatchObject({ limit: 21 })
    const add = () => world.owner.call('POST', '/api/event-destinations', { body })
    expect([(await add()).status, (await add()).body.code]).toEqual([201, 'quota_exceeded'])
    expect(await limited(null)).toMatchObject({ used: 21, limit: null })
    expect((await add()).status).toBe(201)
    await service.sql('delete from plans where plan_id = $1', [plan])
  })

  test('ends a test whose caller leaves before the receiver answers', async () => {
    const { path, destination_id } = await make(world.member)
    receiver.answer = () => {}
    const leaving = new AbortController()
    const left = fetch(`${service.base}/api/event-destinations/${destination_id}/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.member.key}` },
      signal: leaving.signal,
    }).catch(() => 'left')
    await arrived(path, 'destination.test')
    leaving.abort()
    expect(await left).toBe('left')
    const ended = await until(async () => {
      const [delivery] = await deliveries(world.member, destination_id)
      return delivery.status === 'failed' ? delivery : undefined
    }, 'the end of the test')
    expect(ended.problem).toBe('the test was stopped before the receiver answered')
    expect((await get(world.member, destination_id)).pending).toBe(0)
  })

  test('can be tested at once, with any answer of the receiver', async () => {
    const { path, secret, destination_id } = await make(world.member)
    const test = () => world.member.call('POST', `/api/event-destinations/${destination_id}/test`)
    expect((await test()).body).toMatchObject({ ok: true, answer_status: 204 })
    const [sent] = await arrived(path, 'destination.test')
    new Webhook(secret).verify(sent!.body, sent!.headers as Record<string, string>)
    receiver.answer = answering(503, {}, 'closed \0 today')
    expect((await test()).body).toMatchObject({ ok: false, answer_status: 503, answer_text: 'closed  today' })
    receiver.answer = answering(307, { location: `${other.url}/stolen` })
    expect((await test()).body).toMatchObject({
      ok: false,
      message: expect.stringContaining('redirects are not followed'),
    })
    expect(other.seen).toEqual([])
    expect((await deliveries(world.member, destination_id)).map(({ status }: Answer['body']) => status)).toEqual([
      'failed',
      'failed',
      'delivered',
    ])
    expect((await get(world.member, destination_id)).pending).toBe(0)
  })

  test('applies a credential to its deliveries, and masks the secret in the receiver’s answer', async () => {
    const token = 'tok-for-the-receiver-42'
    const credential = await world.member.call('POST', '/api/credentials', {
      body: { name: 'Receiver', kind: 'bearer', hosts: [receiver.host], secrets: { token } },
    })
    const { path, destination_id } = await make(world.member, { credential_id: credential.body.credential_id })
    receiver.answer = (request, response) => response.writeHead(200).end(`thanks for ${request.headers.authorization}`)
    await run(world.member, await save(world.member))
    const [sent] = await arrived(path, 'execution.succeeded')
    expect(sent!.headers.authorization).toBe(`Bearer ${token}`)
    const [row] = await until(async () => {
      const rows = await deliveries(world.member, destination_id)
      return rows.every(({ status }: Answer['body']) => status === 'delivered') && rows.length === 2 && rows
    }, 'the deliveries')
    expect(row.answer_text).toBe('thanks for Bearer •••')
    // Without the credential nothing is sent.
    await world.member.call('DELETE', `/api/credentials/${credential.body.credential_id}`)
    const before = seenAt(path).length
    await run(world.member, await save(world.member))
    const failed = await until(async () => {
      const rows = await deliveries(world.member, destination_id)
      return rows.find(({ problem }: Answer['body']) => problem !== null)
    }, 'a failed delivery')
    expect(failed.problem).toMatch(/revoked/)
    expect(seenAt(path)).toHaveLength(before)
  })
})

describe('a delivery', () => {
  test('that is refused is sent again with the same id, and delays only the later events of its execution', async () => {
    const { path, destination_id } = await make(world.member)
    const workflow = await save(world.member)
    let refuse = true
    let refusedId = ''
    receiver.answer = (request, response) => {
      const { data } = JSON.parse(request.body)
      if (refuse && refusedId === '') refusedId = data.execution_id
      response.writeHead(refuse && data.execution_id === refusedId ? 500 : 204, NOT_SOON).end()
    }
    await run(world.member, workflow)
    await arrived(path, 'execution.started')
    const second = await run(world.member, workflow)
    await until(
      async () =>
        seenAt(path).some(
          ({ message: { type, data } }) => type === 'execution.succeeded' && data.execution_id === second,
        ),
      'the event of the second execution',
    )
    expect(
      seenAt(path)
        .filter(({ message }) => message.data.execution_id === refusedId)
        .map(({ message }) => message.type),
    ).toEqual(['execution.started'])
    const failed = (await deliveries(world.member, destination_id)).find(
      ({ problem }: Answer['body']) => problem !== null,
    )
    expect(failed).toMatchObject({
      status: 'pending',
      attempts: 1,
      answer_status: 500,
      problem: 'the receiver answered 500',
    })
    refuse = false
    await hurry(destination_id)
    await until(async () => (await get(world.member, destination_id)).pending === 0, 'all deliveries to arrive')
    const ofFirst = seenAt(path).filter(({ message }) => message.data.execution_id === refusedId)
    expect(ofFirst.map(({ message }) => message.type)).toEqual([
      'execution.started',
      'execution.started',
      'execution.succeeded',
    ])
    expect(new Set(ofFirst.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  })

  test('that is refused is sent again after the time that the receiver asks for, in seconds or as a date', async () => {
    const workflow = await save(world.member)
    for (const asked of ['1800', new Date(Date.now() + 1_800_000).toUTCString()]) {
      const { destination_id } = await make(world.member)
      receiver.answer = answering(429, { 'retry-after': asked })
      await run(world.member, workflow)
      const [refused] = await until(async () => {
        const found = await deliveries(world.member, destination_id)
        return found.some(({ answer_status }: Answer['body']) => answer_status === 429) && found.filter(isTried)
      }, 'the refusal')
      const pause = Date.parse(refused.next_attempt_at) - Date.parse(refused.last_attempt_at)
      expect(pause / 1_000).toBeGreaterThan(1_790)
    }
  })

  test('that is refused for three days disables the destination and notifies its owner; it continues once enabled again', async () => {
    const { path, destination_id } = await make(world.member)
    receiver.answer = answering(500, NOT_SOON)
    await run(world.member, await save(world.member))
    await until(async () => {
      const { failures, pending } = await get(world.member, destination_id)
      return failures === 1 && pending === 2
    }, 'the first failure, and the end of the execution')
    await service.sql(
      `update event_deliveries set first_attempt_at = now() - interval '3 days' where destination_id = $1 and attempts > 0`,
      [fromWire('dest', destination_id)],
    )
    await hurry(destination_id)
    const off = await until(async () => {
      const body = await get(world.member, destination_id)
      return body.enabled === false && body
    }, 'the destination to be switched off')
    expect(off).toMatchObject({ off_reason: 'failing', off_message: expect.stringContaining('three days'), pending: 1 })
    const told = await until(async () => {
      const { body } = await world.member.call('GET', '/api/notifications')
      return body.items.find(({ kind }: Answer['body']) => kind === 'destination.switched_off')
    }, 'the notification')
    expect(told).toMatchObject({ link: `/destinations/${destination_id}` })
    // Events in the meantime are not kept for the destination after they left the outbox. Pending deliveries are kept.
    receiver.answer = taken
    await run(world.member, await save(world.member))
    const outbox = () => service.sql('select from event_outbox where workspace_id = $1', [world.workspace.uuid])
    await until(async () => (await outbox()).length === 0, 'the outbox to be empty')
    const on = await world.member.call('PATCH', `/api/event-destinations/${destination_id}`, {
      body: { enabled: true },
    })
    expect(on.body).toMatchObject({ enabled: true, off_reason: null, failures: 0 })
    await arrived(path, 'execution.succeeded')
    await until(async () => (await get(world.member, destination_id)).pending === 0, 'the waiting deliveries')
    expect(typesAt(path).filter((type) => type === 'execution.succeeded')).toHaveLength(1)
  })

  test('that is always refused does not stop the others', async () => {
    const { destination_id } = await make(world.member)
    let bad = ''
    receiver.answer = (request, response) => {
      const { data } = JSON.parse(request.body)
      if (bad === '') bad = data.execution_id
      response.writeHead(data.execution_id === bad ? 400 : 204, NOT_SOON).end()
    }
    await run(world.member, await save(world.member))
    await until(async () => (await get(world.member, destination_id)).failures === 1, 'the first failure')
    await service.sql(
      `update event_deliveries set first_attempt_at = now() - interval '3 days' where destination_id = $1 and attempts > 0`,
      [fromWire('dest', destination_id)],
    )
    await run(world.member, await save(world.member))
    await until(
      async () => (await get(world.member, destination_id)).last_success_at !== null,
      'another delivery to be accepted',
    )
    await hurry(destination_id)
    await until(
      async () =>
        (await deliveries(world.member, destination_id)).some(({ status }: Answer['body']) => status === 'failed'),
      'the delivery to be given up',
    )
    expect(await get(world.member, destination_id)).toMatchObject({ enabled: true })
  })

  test('that is answered with 410 disables the destination at once', async () => {
    const { destination_id } = await make(world.member)
    receiver.answer = answering(410)
    await run(world.member, await save(world.member))
    await until(
      async () => (await get(world.member, destination_id)).off_reason === 'gone',
      'the destination to be off',
    )
  })

  test('is sent again on request, with the same id', async () => {
    const { path, destination_id } = await make(world.member)
    await run(world.member, await save(world.member))
    const [sent] = await arrived(path, 'execution.succeeded')
    const id = sent!.headers['webhook-id']
    await until(async () => (await get(world.member, destination_id)).pending === 0, 'the deliveries')
    const again = await world.member.call(
      'POST',
      `/api/event-destinations/${destination_id}/deliveries/${id}/redeliver`,
    )
    expect(again.status, again.text).toBe(202)
    const both = await arrived(path, 'execution.succeeded', 2)
    expect(both.map(({ headers }) => headers['webhook-id'])).toEqual([id, id])
    await until(async () => (await get(world.member, destination_id)).pending === 0, 'the second delivery')
    const nothing = await world.member.call(
      'POST',
      `/api/event-destinations/${destination_id}/deliveries/dlv_01kf3v6h2he3wtpk1fw5c0wz9d/redeliver`,
    )
    expect(nothing.status).toBe(404)
    await world.member.call('PATCH', `/api/event-destinations/${destination_id}`, { body: { enabled: false } })
    const off = await world.member.call('POST', `/api/event-destinations/${destination_id}/deliveries/${id}/redeliver`)
    expect(off.status).toBe(409)
  })

  test('is counted once if it is requested twice at the same time', async () => {
    const { path, destination_id } = await make(world.member)
    await run(world.member, await save(world.member))
    const [first] = await arrived(path, 'execution.succeeded')
    const isOver = async () => (await get(world.member, destination_id)).pending === 0
    await until(isOver, 'the deliveries')
    const answers: Promise<Answer>[] = []
    const again = `/api/event-destinations/${destination_id}/deliveries/${first!.headers['webhook-id']}/redeliver`
    await inOtherTransaction(service, async (holding) => {
      const id = fromWire('dest', destination_id)
      await holding.sql('select from event_destinations where destination_id = $1 for no key update', [id])
      answers.push(world.member.call('POST', again), world.member.call('POST', again))
      await until(() => waitsForLock(service, '%event_destinations%', 2), 'both requests to wait for the lock')
      await holding.commit()
    })
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 202])
    await arrived(path, 'execution.succeeded', 2)
    await until(isOver, 'the end of the second delivery')
  })
})

describe('a destination that acts for its owner', () => {
  test('receives only events that its owner may see', async () => {
    const mine = await make(world.member)
    const owners = await make(world.owner)
    const hidden = await run(world.owner, await save(world.owner))
    const seen = await run(world.member, await save(world.member))
    await arrived(owners.path, 'execution.succeeded')
    await arrived(mine.path, 'execution.succeeded')
    expect(new Set(seenAt(mine.path).map(({ message }) => message.data.execution_id))).toEqual(new Set([seen]))
    expect(new Set(seenAt(owners.path).map(({ message }) => message.data.execution_id))).toEqual(new Set([hidden]))
  })

  test('does not receive events that its owner may no longer see when they are sent', async () => {
    const workflow = await save(world.owner)
    await share(workflow, world.member)
    const { path, destination_id } = await make(world.member)
    receiver.answer = answering(500)
    await run(world.owner, workflow)
    await until(async () => (await get(world.member, destination_id)).failures > 0, 'the first failure')
    await share(workflow)
    receiver.answer = taken
    const before = seenAt(path).length
    await hurry(destination_id)
    await until(async () => (await get(world.member, destination_id)).pending === 0, 'both deliveries to be given up')
    expect(seenAt(path)).toHaveLength(before)
    expect((await deliveries(world.member, destination_id))[0]).toMatchObject({
      status: 'failed',
      problem: expect.stringContaining('may no longer see it'),
    })
  })

  test('continues while its owner sees the workflow through a team', async () => {
    const colleague = await makePerson(service)
    await addMember(service, world.workspace, colleague, 'member')
    const workflow = await save(world.owner)
    const team = await world.owner.call('POST', '/api/teams', { body: { name: `Watchers ${workflow}` } })
    const { team_id } = team.body
    const added = await world.owner.call('POST', `/api/teams/${team_id}/add_users`, {
      body: { user_ids: [colleague.id] },
    })
    expect(added.status, added.text).toBeLessThan(300)
    const shared = { body: { teams: [{ team_id, role: 'viewer' }] } }
    expect((await world.owner.call('PATCH', `/api/workflows/${workflow}`, shared)).status).toBe(200)
    const { path, destination_id } = await make(colleague, { workflow_id: workflow })
    await service.sql('select stop_destinations()')
    expect(await get(colleague, destination_id)).toMatchObject({ enabled: true })
    await run(world.owner, workflow)
    await arrived(path, 'execution.succeeded')
    await world.owner.call('PATCH', `/api/workflows/${workflow}`, { body: { teams: [] } })
    await service.sql('select stop_destinations()')
    expect(await get(colleague, destination_id)).toMatchObject({ enabled: false, off_reason: 'no_access' })
  })

  test('stops when its owner leaves the workspace or loses the workflow, and shows the reason', async () => {
    const leaver = await makePerson(service)
    await addMember(service, world.workspace, leaver, 'member')
    const workflow = await save(world.owner)
    await share(workflow, leaver)
    const bound = await make(leaver, { workflow_id: workflow })
    const wide = await make(leaver)
    await share(workflow)
    const lost = await until(async () => {
      service.db.hint(OUTBOX_HINTS, '')
      const body = await get(leaver, bound.destination_id)
      return body.enabled === false && body
    }, 'the destination to stop')
    expect(lost).toMatchObject({ off_reason: 'no_access', off_message: expect.stringContaining('no longer see') })
    const gone = await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    expect(gone.status, gone.text).toBeLessThan(300)
    expect(await get(world.owner, wide.destination_id)).toMatchObject({ enabled: false, off_reason: 'owner_left' })
    await until(async () => {
      service.db.hint(OUTBOX_HINTS, '')
      const { body } = await world.owner.call('GET', '/api/notifications')
      return body.items.some(({ data }: Answer['body']) => data?.destination_id === wide.destination_id)
    }, 'the notification of the workspace owner')
    // The person who enables the destination becomes its owner.
    const taken = await world.owner.call('PATCH', `/api/event-destinations/${wide.destination_id}`, {
      body: { enabled: true },
    })
    expect(taken.body).toMatchObject({ enabled: true, owner_id: world.owner.id })
  })

  test('belongs to the workspace owner who changes its address, and receives only what they may see', async () => {
    const { path, destination_id } = await make(world.member)
    const stolen = '/stolen-by-the-owner'
    const changed = await world.owner.call('PATCH', `/api/event-destinations/${destination_id}`, {
      body: { url: receiver.url + stolen },
    })
    expect(changed.body.owner_id).toBe(world.owner.id)
    await run(world.member, await save(world.member))
    await run(world.owner, await save(world.owner))
    await arrived(stolen, 'execution.succeeded')
    expect(seenAt(stolen)).toHaveLength(2)
    expect(seenAt(path)).toEqual([])
    const hidden = await world.member.call('GET', `/api/event-destinations/${destination_id}`)
    expect(hidden.status).toBe(404)
  })
})

describe('events of other kinds', () => {
  test('include the audit log for owners as it is written, without executions', async () => {
    const { path, destination_id } = await make(world.owner, { event_types: ['audit.*'] })
    const made = await world.member.call('POST', '/api/teams', { body: { name: 'Audited' } })
    const entry = await until(async () => {
      const found = seenAt(path).find(({ message }) => message.data.action === 'team.created')
      return found?.message
    }, 'the entry')
    expect(entry).toMatchObject({
      type: 'audit.recorded',
      data: {
        actor_id: world.member.id,
        actor_kind: 'person',
        subject: made.body.team_id,
        workspace_id: world.workspace.id,
      },
    })
    const { body: log } = await world.owner.call('GET', '/api/audit-log?action=team.created')
    expect(log.items[0].entry_id).toBe(entry.data.entry_id)
    // An entry that was never written is never sent.
    await world.member.call('POST', '/api/teams', { body: { name: '' } })
    await run(world.owner, await save(world.owner))
    const next = await world.member.call('POST', '/api/teams', { body: { name: 'Next' } })
    await until(
      async () => seenAt(path).some(({ message }) => message.data.subject === next.body.team_id),
      'the next entry',
    )
    const created = seenAt(path).filter(({ message }) => message.data.action === 'team.created')
    expect(created).toHaveLength(2)
    expect(typesAt(path).every((type) => type === 'audit.recorded')).toBe(true)
    await until(async () => (await get(world.owner, destination_id)).pending === 0, 'all entries to be sent')
    // A person who is no longer an owner receives nothing more.
    await addMember(service, world.workspace, world.member, 'owner')
    await addMember(service, world.workspace, world.owner, 'member')
    const before = seenAt(path).length
    const all = await make(world.member, { event_types: ['audit.recorded'] })
    await world.member.call('POST', '/api/teams', { body: { name: 'Later' } })
    await arrived(all.path, 'audit.recorded')
    expect(seenAt(path)).toHaveLength(before)
  })

  test('include the runs of jobs, for people who may see them', async () => {
    const mine = await make(world.member, { event_types: ['job.*'] })
    const others = await make(world.owner, { event_types: ['job.*'] })
    const job = await makeJob(world.member, {
      dataset_id: await makeDataset(world.member, [{ id: 1 }, { id: 2 }]),
      definition: set(),
    })
    await runJob(world.member, job)
    const [finished] = await arrived(mine.path, 'job.finished')
    expect(typesAt(mine.path)).toEqual(['job.started', 'job.finished'])
    expect(finished!.message.data).toMatchObject({ job_id: job })
    expect(seenAt(others.path)).toEqual([])
  })

  test('include no executions of a suite', async () => {
    const { path } = await make(world.member)
    const workflow = await save(world.member)
    const suite = await world.member.call('POST', `/api/workflows/${workflow}/suites`, {
      body: {
        name: 'S',
        dataset_id: await makeDataset(world.member, [{ id: 1 }]),
        checks: [{ kind: 'cel', expression: 'results.value == 1' }],
      },
    })
    expect(suite.status, suite.text).toBe(201)
    const started = await world.member.call('POST', `/api/suites/${suite.body.suite_id}/run`, { body: {} })
    expect(started.status, started.text).toBe(202)
    await until(async () => {
      const { body } = await world.member.call('GET', `/api/suites/${suite.body.suite_id}/runs/${started.body.run_id}`)
      return body.finished_at
    }, 'the end of the suite')
    const execution = await run(world.member, workflow)
    await arrived(path, 'execution.succeeded')
    expect(new Set(seenAt(path).map(({ message }) => message.data.execution_id))).toEqual(new Set([execution]))
  })
})

describe('docs/events.md', () => {
  test('has examples in the shape of the sent events, and names every type', async () => {
    const text = await readFile(new URL('../../../docs/events.md', import.meta.url), 'utf8')
    for (const type of Object.keys(eventTypes)) expect(text).toContain(`\`${type}\``)
    const examples = [...text.matchAll(/^```json event\n([\s\S]*?)^```/gm)].map(([, json]) => JSON.parse(json!))
    const { path } = await make(world.owner, { event_types: ['execution.*', 'audit.*'] })
    await world.owner.call('POST', '/api/teams', { body: { name: 'Example' } })
    await run(world.owner, await save(world.owner))
    const failing = {
      nodes: [{ id: 'n', type: 'fail', args: { code: 'no_stock', message: 'Nothing is left' } }],
      edges: [],
    }
    await run(world.owner, await save(world.owner, failing))
    for (const example of examples) {
      const sent = await until(
        async () =>
          seenAt(path).find(
            ({ message: { type, data } }) => type === example.type && data.action === example.data.action,
          ),
        `${example.type} at ${path}`,
      )
      expect(Object.keys(sent.message)).toEqual(Object.keys(example))
      expect(Object.keys(sent.message.data).sort()).toEqual(Object.keys(example.data).sort())
    }
    expect(examples).toHaveLength(3)
  })
})

describe('fairness', () => {
  test('a receiver that never answers does not delay other destinations', async () => {
    const held: (() => void)[] = []
    const slow = await make(world.member)
    const quick = await make(world.member)
    const strangers = await make(world.stranger)
    receiver.answer = (request, response) => {
      if (request.path === slow.path) held.push(() => response.writeHead(204).end())
      else response.writeHead(204).end()
    }
    const workflow = await save(world.member)
    for (let n = 0; n < 5; n += 1) await run(world.member, workflow)
    await until(async () => held.length === 5, 'five deliveries under way')
    // Seven more deliveries are due at the same moment.
    const block = (until: string) =>
      service.sql('update event_destinations set blocked_until = $2 where destination_id = $1', [
        fromWire('dest', slow.destination_id),
        until,
      ])
    await block('infinity')
    for (let n = 0; n < 7; n += 1) await run(world.member, workflow)
    await arrived(quick.path, 'execution.succeeded', 12)
    await block('-infinity')
    await run(world.stranger, await save(world.stranger))
    await arrived(strangers.path, 'execution.succeeded')
    await until(async () => held.length >= 8, 'eight deliveries under way')
    await run(world.stranger, await save(world.stranger))
    await arrived(strangers.path, 'execution.succeeded', 2)
    expect(held).toHaveLength(8)
    receiver.answer = taken
    for (const release of held) release()
    await arrived(slow.path, 'execution.succeeded', 12)
  })
})
