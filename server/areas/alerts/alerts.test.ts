import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire, newId } from '#platform/ids'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { type Mailbox, startMailbox } from '#test/harness/mailbox'
import { type Answer, type Service, type SharedService, startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { notificationFor } from './watch.ts'
import { bodyOf } from './words.ts'

let vendor: Vendor
const shared = useSharedService()
let service: SharedService
let world: World

beforeAll(async () => {
  vendor = await startVendor()
  service = shared()
  service.allow(vendor.host)
})
beforeEach(async () => {
  vendor.seen.length = 0
  vendor.answer = (_request, response) => response.writeHead(200).end('{}')
  world = await makeWorld(service)
})
afterAll(async () => {
  await vendor?.stop()
})

const definition = { nodes: [{ id: 'n', type: 'set', args: { values: {} } }], edges: [] }
async function workflow(person: TestPerson = world.owner): Promise<string> {
  return (await person.call('POST', '/api/workflows', { body: { name: 'Orders', definition } })).body.workflow_id
}
/** Adds figures to `run_counts` in the form in which the engine writes them. */
const ran = (workflowId: string, status: string, runs: number, trigger = 'user'): Promise<unknown> =>
  service.sql(
    `insert into run_counts as f (workspace_id, span, at, workflow_id, trigger_kind, status, error_code, runs, duration_ms)
     values ($1, 'm', date_bin('5 minutes', now(), 'epoch'), $2, $5, $3, null, $4, 0)
     on conflict (workspace_id, span, at, workflow_id, trigger_kind, status, error_code) do update set runs = f.runs + excluded.runs`,
    [world.workspace.uuid, fromWire('wf', workflowId), status, runs, trigger],
  )
async function make(body: object, person: TestPerson = world.owner): Promise<Answer['body']> {
  const made = await person.call('POST', '/api/alert-rules', { body: { name: 'Orders fail', ...body } })
  expect(made.status, made.text).toBe(201)
  return made.body
}
/** Makes the rule due, waits until it has been checked and returns it. */
async function looked(ruleId: string): Promise<Answer['body']> {
  const [{ now } = { now: new Date() }] = await service.sql<{ now: Date }>(
    'update alert_rules set next_check_at = now() where rule_id = $1 returning now() as now',
    [fromWire('alr', ruleId)],
  )
  return until(async () => {
    const { body } = await world.owner.call('GET', `/api/alert-rules/${ruleId}`)
    return body.checked_at !== null && new Date(body.checked_at) >= new Date(now) && body
  }, 'the check of the rule')
}
const told = async (person: TestPerson = world.owner): Promise<string[]> =>
  (await person.call('GET', '/api/notifications')).body.items
    .map(({ kind }: { kind: string }) => kind)
    .filter((kind: string) => kind.startsWith('alert.'))

describe('a rule', () => {
  test('fires once, is not repeated while it still fires, and reports once that it is resolved', async () => {
    const id = await workflow()
    const rule = await make({ kind: 'failure_rate', workflow_id: id, threshold: 0.5, min_runs: 4 })
    expect(await looked(rule.rule_id)).toMatchObject({ state: 'ok', value: null })
    await ran(id, 'failed', 2)
    expect(await looked(rule.rule_id)).toMatchObject({ state: 'ok', value: null })
    await ran(id, 'timed_out', 1)
    await ran(id, 'succeeded', 2)
    expect(await looked(rule.rule_id)).toMatchObject({ state: 'firing', value: 0.6 })
    await looked(rule.rule_id)
    expect(await told()).toEqual(['alert.firing'])
    await ran(id, 'succeeded', 20)
    expect(await looked(rule.rule_id)).toMatchObject({ state: 'ok' })
    expect((await told()).sort()).toEqual(['alert.firing', 'alert.resolved'])
  })

  test('for a workspace ignores the records of jobs; a rule for their workflow counts them', async () => {
    const id = await workflow()
    await ran(id, 'failed', 6)
    await ran(id, 'succeeded', 6)
    await ran(id, 'succeeded', 88, 'job')
    const timed = (measure: string, bucket: number, runs: number) =>
      service.sql(
        `insert into run_times (workspace_id, span, at, workflow_id, measure, bucket, runs)
         values ($1, 'm', date_bin('5 minutes', now(), 'epoch'), $2, $3, $4, $5)`,
        [world.workspace.uuid, fromWire('wf', id), measure, bucket, runs],
      )
    await timed('duration', 40, 5)
    await timed('job_duration', 4, 500)
    const value = async (body: object) => (await looked((await make({ min_runs: 1, ...body })).rule_id)).value
    expect(await value({ kind: 'failure_rate', threshold: 0.9 })).toBe(0.5)
    expect(await value({ kind: 'failure_rate', workflow_id: id, threshold: 0.9 })).toBe(0.06)
    expect(await value({ kind: 'duration', threshold: 100 })).toBeCloseTo(0.9, 1)
    expect(await value({ kind: 'duration', workflow_id: id, threshold: 100 })).toBeLessThan(0.1)
  })

  test('notifies no user while it is silenced, and notifies later if it still fires', async () => {
    const id = await workflow()
    const rule = await make({ kind: 'failure_rate', workflow_id: id, threshold: 0.5, min_runs: 1 })
    const path = `/api/alert-rules/${rule.rule_id}`
    const later = new Date(Date.now() + 3_600_000).toISOString()
    await world.owner.call('PATCH', path, { body: { silenced_until: later } })
    await ran(id, 'failed', 1)
    expect(await looked(rule.rule_id)).toMatchObject({ state: 'firing', silenced_until: later })
    expect(await told()).toEqual([])
    await world.owner.call('PATCH', path, { body: { silenced_until: null } })
    await looked(rule.rule_id)
    expect(await told()).toEqual(['alert.firing'])
  })

  test('writes mails in the language of each person', async () => {
    const id = await workflow()
    const other = await makePerson(service)
    await addMember(service, world.workspace, other, 'owner')
    const chosen = await other.call('PUT', '/api/notifications/preferences', {
      body: { preferences: [], language: 'de' },
    })
    expect(chosen.status, chosen.text).toBe(200)
    const people = [world.owner.id, other.id]
    const rule = await make({ kind: 'failure_rate', workflow_id: id, threshold: 0.5, min_runs: 1, mail: true, people })
    await ran(id, 'failed', 1)
    await looked(rule.rule_id)
    const mailTo = (email: string) =>
      until(async () => {
        const [row] = await service.sql<{ subject: string; body_text: string }>(
          'select subject, body_text from mail_outbox where workspace_id = $1 and recipient = array[$2]',
          [world.workspace.uuid, email],
        )
        return row
      }, `the mail to ${email}`)
    expect((await mailTo(world.owner.email)).subject).toMatch(/^Alert: /)
    const german = await mailTo(other.email)
    expect(german.subject).toMatch(/^Alarm: /)
    expect(german.body_text).toContain('100 % von 1 Läufen sind')
  })

  test('notifies by mail, through a channel and to event destinations', async () => {
    const id = await workflow()
    const template = await world.owner.call('POST', '/api/templates', { body: { name: 'Desk', workflow_ids: [id] } })
    const channel = await world.owner.call('POST', '/api/gateway/channels', {
      body: {
        channel: 'webhook',
        external_id: `${vendor.url}/ops`,
        template_id: template.body.template_id,
        credentials: { signing_secret: 'a-secret-of-the-receiver' },
      },
    })
    expect(channel.status, channel.text).toBe(201)
    const destination = await world.owner.call('POST', '/api/event-destinations', {
      body: { url: `${vendor.url}/events`, event_types: ['alert.*'] },
    })
    expect(destination.status, destination.text).toBe(201)
    const rule = await make({
      kind: 'failure_rate',
      workflow_id: id,
      threshold: 0.5,
      min_runs: 1,
      mail: true,
      channel: { config_id: channel.body.config_id, to: 'ops' },
    })
    await ran(id, 'failed', 1)
    await looked(rule.rule_id)
    await until(async () => {
      const paths = vendor.seen.map(({ path }) => path)
      return paths.includes('/ops') && paths.includes('/events')
    }, 'the message and the event')
    const mails = await until(async () => {
      const rows = await service.sql<{ recipient: string[]; body_text: string }>(
        'select recipient, body_text from mail_outbox where workspace_id = $1',
        [world.workspace.uuid],
      )
      return rows.length > 0 && rows
    }, 'the mail')
    expect(mails).toHaveLength(1)
    expect(mails[0]!.recipient).toEqual([world.owner.email])
    expect(mails[0]!.body_text).toContain('"Orders": 100 % of 1 runs failed within 15 min. The limit is 50 %.')
    const left = () => service.sql('select from alert_messages where workspace_id = $1', [world.workspace.uuid])
    await until(async () => (await left()).length === 0, 'all messages to be sent')
    const event = vendor.seen.find(({ path }) => path === '/events')!
    expect(JSON.parse(event.body)).toMatchObject({
      type: 'alert.firing',
      data: { rule_id: rule.rule_id, kind: 'failure_rate', workflow_id: id, value: 1, threshold: 0.5 },
    })
  })

  describe('with a mail server', () => {
    let mailbox: Mailbox
    let own: Service
    beforeAll(async () => {
      mailbox = await startMailbox()
      own = await startService({ env: { SMTP_URL: mailbox.url } })
    })
    afterAll(async () => {
      await own?.stop()
      await mailbox?.stop()
    })

    /** Writes a message of a rule for these owners of a new workspace. */
    const write = async (people: [TestPerson, ...TestPerson[]]): Promise<void> => {
      const [owner, ...others] = people
      const workspace = await makeWorkspace(own, owner)
      for (const other of others) await addMember(own, workspace, other, 'owner')
      const ruleId = newId()
      await own.sql(
        `insert into alert_rules (workspace_id, rule_id, name, kind, threshold, window_s, min_runs, people, mail, created_by)
         values ($1, $2, 'Slow', 'queue_age', 60, 900, 1, $3, true, $4)`,
        [workspace.uuid, ruleId, people.map(({ uuid }) => uuid), owner.uuid],
      )
      await own.sql(
        `insert into alert_messages (workspace_id, rule_id, number, way, subject, body) values ($1, $2, 1, 'mail', 'Alert: Slow', 'Slow.')`,
        [workspace.uuid, ruleId],
      )
    }
    const settled = () =>
      until(async () => (await own.sql('select from alert_messages')).length === 0, 'the message to be sent')

    test('sends mails only to verified addresses, with links to the host of the organisation', async () => {
      const [org] = await own.sql<{ org_id: string }>('select org_id from orgs')
      await own.sql(`insert into org_hosts (host, org_id) values ('mill.example', $1)`, [org!.org_id])
      const [owner, unverified] = [await makePerson(own), await makePerson(own)]
      await own.sql('update users set email_verified_at = null where user_id = $1', [unverified.uuid])
      await write([owner, unverified])
      await settled()
      expect(mailbox.to(unverified.email)).toEqual([])
      const [mail] = mailbox.to(owner.email)
      expect(mail!.text).toContain('http://mill.example/alerts')
    })

    test.each([
      ['en', 550, 0],
      ['de', 550, 0],
      ['en', 451, 1],
      ['de', 451, 1],
    ])(
      'sends one mail to the others if the mail in the language %s is refused with %i',
      async (language, code, later) => {
        const [english, german] = [await makePerson(own), await makePerson(own)]
        await own.sql(`update users set language = 'de' where user_id = $1`, [german.uuid])
        const [bad, good] = language === 'en' ? [english, german] : [german, english]
        mailbox.refused.set(bad.email, code)
        await write([english, german])
        await until(async () => mailbox.refusals.includes(bad.email), 'the refusal')
        await mailbox.wait(good.email)
        mailbox.refused.clear()
        await own.sql('update alert_messages set next_at = now()')
        await settled()
        expect([mailbox.to(good.email).length, mailbox.to(bad.email).length]).toEqual([1, later])
      },
    )
  })

  test('measures duration, silence, the queue and budgets', async () => {
    const id = await workflow()
    const of = async (body: object) => looked((await make({ workflow_id: id, ...body })).rule_id)
    await service.sql(
      `insert into run_times (workspace_id, span, at, workflow_id, measure, bucket, runs)
       values ($1, 'm', date_bin('5 minutes', now(), 'epoch'), $2, 'duration', 40, 10)`,
      [world.workspace.uuid, fromWire('wf', id)],
    )
    const slow = await of({ kind: 'duration', threshold: 0.5 })
    expect(slow).toMatchObject({ state: 'firing' })
    expect(slow.value).toBeCloseTo(0.9, 1)
    expect(await of({ kind: 'silence', threshold: 3600 })).toMatchObject({ state: 'ok' })
    const quiet = await make({ workflow_id: id, kind: 'silence', threshold: 3600 })
    await service.sql(`update alert_rules set created_at = now() - interval '2 hours' where rule_id = $1`, [
      fromWire('alr', quiet.rule_id),
    ])
    expect(await looked(quiet.rule_id)).toMatchObject({ state: 'firing' })
    await world.owner.call('POST', `/api/workflows/${id}/run?wait_s=60`, { body: { input: {} } })
    expect(await looked(quiet.rule_id)).toMatchObject({ state: 'ok' })
    expect(await of({ kind: 'queue_age', threshold: 60 })).toMatchObject({ state: 'ok', value: 0 })
    expect(await of({ kind: 'budget', threshold: 0.5 })).toMatchObject({ state: 'ok', value: null })
    await world.owner.call('PUT', '/api/budgets', { body: { budgets: [{ scope: id, limit: 10, per: 'month' }] } })
    await service.sql(
      `insert into usage_days (workspace_id, day, workflow_id, model, calls, unpriced_calls, input_tokens, output_tokens, cost)
       values ($1, (now() at time zone 'utc')::date, $2, 'm', 1, 0, 0, 0, 6)`,
      [world.workspace.uuid, fromWire('wf', id)],
    )
    expect(await of({ kind: 'budget', threshold: 0.5 })).toMatchObject({ state: 'firing', value: 0.6 })
  })

  test('is not checked while it is disabled, and does not fire after its workflow is deleted', async () => {
    const id = await workflow()
    await ran(id, 'failed', 1)
    const off = await make({ kind: 'failure_rate', workflow_id: id, threshold: 0.5, min_runs: 1, enabled: false })
    const on = await make({ kind: 'failure_rate', workflow_id: id, threshold: 0.5, min_runs: 1 })
    await world.owner.call('DELETE', `/api/workflows/${id}`)
    expect(await looked(on.rule_id)).toMatchObject({ state: 'ok', value: null })
    expect((await world.owner.call('GET', `/api/alert-rules/${off.rule_id}`)).body.checked_at).toBeNull()
  })
})

describe('the access to alert rules', () => {
  test('lets a user watch a workflow that they can see; only owners watch the workspace', async () => {
    const theirs = await workflow(world.member)
    const rule = await make({ kind: 'silence', threshold: 60, workflow_id: theirs }, world.member)
    expect(rule.people).toEqual([world.member.id])
    const refuse = async (body: object) =>
      (
        await world.member.call('POST', '/api/alert-rules', {
          body: { name: 'x', kind: 'silence', threshold: 60, ...body },
        })
      ).status
    expect(await refuse({})).toBe(403)
    expect(await refuse({ workflow_id: await workflow() })).toBe(422)
    expect(await refuse({ workflow_id: theirs, people: [world.stranger.id] })).toBe(422)
    expect(await refuse({ workflow_id: theirs, channel: { config_id: 'chan_x', to: 'y' } })).toBe(422)
    const list = async (person: TestPerson) =>
      (await person.call('GET', '/api/alert-rules')).body.items.map(({ rule_id }: { rule_id: string }) => rule_id)
    expect(await list(world.member)).toEqual([rule.rule_id])
    expect(await list(world.owner)).toEqual([rule.rule_id])
    expect(await list(world.stranger)).toEqual([])
  })

  test('excludes recipients who cannot see the workflow from notifications', async () => {
    const id = await workflow()
    const rule = await make({
      kind: 'failure_rate',
      workflow_id: id,
      threshold: 0.5,
      min_runs: 1,
      people: [world.owner.id, world.member.id],
    })
    await ran(id, 'failed', 1)
    await looked(rule.rule_id)
    expect(await told()).toEqual(['alert.firing'])
    expect(await told(world.member)).toEqual([])
  })

  test('shows nothing to its creator, and sends nothing to the channel they chose, once they cannot see the workflow', async () => {
    const { owner, member } = world
    const id = await workflow()
    const shareWith = async (members: object[]): Promise<void> =>
      expect((await owner.call('PATCH', `/api/workflows/${id}`, { body: { members } })).status).toBe(200)
    await shareWith([{ user_id: member.id, role: 'viewer' }])
    const template = await owner.call('POST', '/api/templates', { body: { name: 'Desk', workflow_ids: [id] } })
    const channel = await owner.call('POST', '/api/gateway/channels', {
      body: {
        channel: 'webhook',
        external_id: `${vendor.url}/ops`,
        template_id: template.body.template_id,
        credentials: { signing_secret: 'a-secret-of-the-receiver' },
      },
    })
    const to = { config_id: channel.body.config_id, to: 'mine' }
    const body = { kind: 'failure_rate', workflow_id: id, threshold: 0.5, min_runs: 1, channel: to }
    const { rule_id } = await make(body, member)
    const address = `/api/alert-rules/${rule_id}`
    await shareWith([])
    expect((await member.call('GET', address)).status).toBe(404)
    expect((await member.call('PATCH', address, { body: { mail: true } })).status).toBe(404)
    expect((await member.call('GET', '/api/alert-rules')).body.items).toEqual([])
    await ran(id, 'failed', 1)
    expect((await looked(rule_id)).state).toBe('firing')
    // An owner who chooses the channel answers for it.
    const isDone = async () =>
      (await service.sql('select from alert_messages where workspace_id = $1', [world.workspace.uuid])).length === 0
    await until(isDone, 'the message to be dropped')
    expect((await owner.call('PATCH', address, { body: { channel: to } })).status).toBe(200)
    await ran(id, 'succeeded', 9)
    expect((await looked(rule_id)).state).toBe('ok')
    const sent = () => vendor.seen.filter(({ path }) => path === '/ops')
    await until(async () => sent().length > 0, 'the message of the owner')
    expect(sent()[0]!.body).toContain('Resolved: Orders fail')
  })

  test('cannot be changed by its creator as a viewer of the workspace', async () => {
    const id = await workflow(world.member)
    const { rule_id } = await make({ kind: 'silence', threshold: 60, workflow_id: id }, world.member)
    await world.owner.call('PATCH', `/api/workspaces/${world.workspace.id}/members/${world.member.id}`, {
      body: { role: 'viewer' },
    })
    const address = `/api/alert-rules/${rule_id}`
    expect((await world.member.call('GET', address)).status).toBe(200)
    expect((await world.member.call('PATCH', address, { body: { mail: true } })).status).toBe(403)
  })

  test.each([
    [{ kind: 'failure_rate', threshold: 1.5 }],
    [{ kind: 'silence', threshold: 0 }],
    [{ kind: 'duration', threshold: 1, window_s: 301 }],
    [{ kind: 'duration', threshold: 1, window_s: 0 }],
    [{ kind: 'weather', threshold: 1 }],
  ])('rejects a rule with %j', async (body) => {
    const { status } = await world.owner.call('POST', '/api/alert-rules', { body: { name: 'x', ...body } })
    expect(status).toBe(422)
  })

  test('allows at most a hundred rules in a workspace', async () => {
    await service.sql(
      `insert into alert_rules (workspace_id, rule_id, name, kind, threshold, window_s, min_runs, people, mail, enabled)
       select $1, gen_random_uuid(), 'x', 'silence', 60, 900, 5, '{}', false, false from generate_series(1, 100)`,
      [world.workspace.uuid],
    )
    const { status } = await world.owner.call('POST', '/api/alert-rules', {
      body: { name: 'x', kind: 'silence', threshold: 60 },
    })
    expect(status).toBe(409)
  })
})

test.each([
  [{ told: false, silenced: false }, true, 'firing'],
  [{ told: true, silenced: false }, true, null],
  [{ told: true, silenced: false }, false, 'resolved'],
  [{ told: false, silenced: false }, false, null],
  [{ told: false, silenced: true }, true, null],
  [{ told: true, silenced: true }, false, null],
] as const)('a rule with %j and firing = %s sends the notification %s', (rule, isFiring, expected) => {
  expect(notificationFor(rule, isFiring)).toBe(expected)
})

test.each([
  ['duration', 90.04, 60, '95 % of runs took up to 90 s in the last 15 min. The limit is 60 s.'],
  ['queue_age', 7_200, 600, 'The oldest run has waited for 2 h. The limit is 10 min.'],
  ['silence', 200_000, 86_400, 'No run was started for 2 days. The limit is 24 h.'],
  ['budget', 0.805, 0.8, '80.5 % of a budget are spent. The limit is 80 %.'],
  ['budget', null, 0.8, 'Too few runs to say more. The limit is 80 %.'],
] as const)('the message for %s = %s states the value and the limit', (kind, value, threshold, expected) => {
  expect(bodyOf({ kind, workflow: null, value, threshold, window_s: 900 })).toBe(`The workspace: ${expected}`)
})
