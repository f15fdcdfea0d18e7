import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeQuestions } from '#areas/approvals/questions'
import { makeTurns } from '#engine/worker/turns'
import { notificationKinds } from '#model/notification-kinds'
import { newId } from '#platform/ids'
import { makeBrowser } from '#test/harness/browser'
import { type Mailbox, type ReceivedMail, startMailbox } from '#test/harness/mailbox'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { MAX_PER_HOUR } from './sending.ts'

let mailbox: Mailbox
let service: Service
let world: World
beforeAll(async () => {
  mailbox = await startMailbox()
  service = await startService({ env: { SMTP_URL: mailbox.url } })
  world = await makeWorld(service)
})
afterAll(async () => {
  await service?.stop()
  await mailbox?.stop()
})

/** Creates a separate colleague for each test, so that their mails can be counted. */
async function colleague(name: string, role: 'member' | 'viewer' = 'member'): Promise<TestPerson> {
  const person = await makePerson(service, { name })
  await addMember(service, world.workspace, person, role)
  return person
}

async function start(node: Record<string, unknown>): Promise<string> {
  const definition = { nodes: [{ id: 'ask', ...node }] }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Asks', definition } })
  expect(made.status, made.text).toBe(201)
  const { body } = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })
  return body.execution_id
}

const gate = (people: TestPerson[], more: Record<string, unknown> = {}) => ({
  type: 'approval',
  args: {
    title: 'Pay <b>this</b>?',
    payload: { amount: 5, note: '<script>' },
    policy: { approvers: people.map(({ id }) => ({ kind: 'user', id })), quorum: 'any', ...more },
  },
})
const question = (people: TestPerson[], more: Record<string, unknown> = {}) => ({
  type: 'clarification',
  args: {
    question: 'Which colour?',
    schema: { type: 'string', enum: ['green', 'red'] },
    who: people.map(({ id }) => ({ kind: 'user', id })),
    ...more,
  },
})

async function makeTeam(first: TestPerson) {
  const { body: team } = await world.owner.call('POST', '/api/teams', { body: { name: 'Finance' } })
  const add = ({ id }: TestPerson) =>
    world.owner.call('POST', `/api/teams/${team.team_id}/add_users`, { body: { user_ids: [id] } })
  await add(first)
  return { line: { kind: 'team', id: team.team_id }, add }
}

const linkIn = ({ text }: ReceivedMail): string => {
  const [, token] = /\/answer\/([\w-]+)/.exec(text) ?? []
  if (token === undefined) throw new Error(`no link in ${text}`)
  return `/api/interactions/${token}`
}
const mailTo = async (person: TestPerson, count = 1): Promise<ReceivedMail> => mailbox.wait(person.email, count)

/** Opens the link in a new browser. */
function opened(path: string) {
  const browser = makeBrowser(service.base)
  return {
    browser,
    read: async () => (await browser.call('GET', path)).body,
    answer: (body: Record<string, unknown>) => browser.call('POST', path, { body }),
    askForCode: () => browser.call('POST', `${path}/code`),
  }
}

async function codeFor(person: TestPerson, ask: () => Promise<{ status: number }>): Promise<string> {
  const before = mailbox.to(person.email).length
  expect((await ask()).status).toBe(202)
  const { subject } = await mailTo(person, before + 1)
  return /^\d{6}/.exec(subject)![0]
}

const ended = (execution: string) =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    return ['succeeded', 'failed'].includes(body.status) ? body : undefined
  }, 'the end')

const noticesOf = async (person: TestPerson) =>
  (await person.call('GET', '/api/notifications')).body.items as {
    kind: string
    read: boolean
    data: { resolution?: string }
  }[]

describe('a gate by mail', () => {
  test('is read by the link, decided with a code sent to the same mailbox, and closed for all approvers', async () => {
    const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
    const execution = await start(gate([ada, bob]))
    const mail = await mailTo(ada)
    const link = opened(linkIn(mail))
    const seen = await link.read()
    expect(seen).toMatchObject({
      kind: 'approval',
      title: 'Pay <b>this</b>?',
      payload: { amount: 5, note: '<script>' },
      status: 'open',
      proof: 'code',
      refusal: null,
      person: { name: 'Ada', reached_at: `p…@example.com` },
    })
    // The mail shows exactly the payload that is voted on.
    expect(mail.text).toContain(seen.payload_sha256)
    expect(mail.text).toContain('"amount": 5')
    const vote = { decision: 'approve', payload_sha256: seen.payload_sha256 }
    const unproven = await link.answer(vote)
    expect([unproven.status, unproven.body.code], unproven.text).toEqual([403, 'proof_required'])
    const code = await codeFor(ada, link.askForCode)
    const done = await link.answer({ ...vote, code })
    expect([done.status, done.body.status, done.body.outcome]).toEqual([200, 'approved', 'Approved by Ada'])
    expect((await ended(execution)).status).toBe('succeeded')
    // The other approvers see who voted, through their own link and in the console.
    const late = opened(linkIn(await mailTo(bob)))
    expect(await late.read()).toMatchObject({ status: 'approved', outcome: 'Approved by Ada' })
    const refused = await late.answer({ ...vote, decision: 'reject' })
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([409, 'gate_closed', 'Approved by Ada.'])
    expect(await noticesOf(bob)).toMatchObject([
      {
        kind: 'approval.requested',
        read: true,
        data: {
          resolution: 'Approved by Ada',
          resolved_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
        },
      },
    ])
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}/approvals`)
    expect(body.items[0].votes).toMatchObject([
      { voter: { id: ada.id }, evidence: { via: 'mail', reached_at: 'p…@example.com' } },
    ])
  })

  test('is mailed also to a person who joins the team after it was opened', async () => {
    const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
    const team = await makeTeam(ada)
    const execution = await start(gate([], { approvers: [team.line] }))
    const first = await mailTo(ada)
    await team.add(bob)
    const late = await mailTo(bob)
    expect(late.subject).toBe(first.subject)
    const link = opened(linkIn(late))
    const { payload_sha256 } = await link.read()
    const code = await codeFor(bob, link.askForCode)
    expect((await link.answer({ decision: 'approve', payload_sha256, code })).status).toBe(200)
    expect((await ended(execution)).status).toBe('succeeded')
    expect(mailbox.to(ada.email)).toHaveLength(1)
  })

  test('is mailed also if its title only looks like a time', async () => {
    const ada = await colleague('Ada')
    const asked = gate([ada])
    await start({ ...asked, args: { ...asked.args, title: '2026-99-99T99:99:99Z' } })
    expect((await mailTo(ada)).subject).toBe('Your vote is needed: 2026-99-99T99:99:99Z')
  })

  test('is not decided by reading the link, and a link cannot vote twice', async () => {
    const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
    await start(gate([ada, bob], { quorum: 'all' }))
    const link = opened(linkIn(await mailTo(ada)))
    for (let times = 0; times < 3; times++) expect((await link.read()).status).toBe('open')
    const { payload_sha256 } = await link.read()
    const code = await codeFor(ada, link.askForCode)
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => link.answer({ decision: 'approve', payload_sha256, code })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(await link.read()).toMatchObject({ status: 'open', own_answer: 'approve' })
    expect(await noticesOf(ada)).toMatchObject([{ read: true, data: { resolution: 'You voted: approve' } }])
    expect((await noticesOf(bob))[0]!.data.resolution).toBeUndefined()
  })

  test('cannot be decided with a forwarded link, because the code is sent to the original person', async () => {
    const ada = await colleague('Ada')
    await start(gate([ada]))
    const path = linkIn(await mailTo(ada))
    const { payload_sha256 } = (await service.call('GET', path)).body
    const body = { decision: 'approve', payload_sha256 }
    // An API key, of another member or of the person, is not a signed-in browser session.
    for (const token of [world.member.key, ada.key]) {
      const answer = await service.call('POST', path, { token, body })
      expect([answer.status, answer.body.code]).toEqual([403, 'proof_required'])
    }
    const thief = opened(path)
    const code = await codeFor(ada, thief.askForCode)
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
    for (let tries = 0; tries < 5; tries++)
      expect((await thief.answer({ ...body, code: wrong })).body.code).toBe('bad_second_factor')
    // No attempts are left, even for the right code.
    expect((await thief.answer({ ...body, code })).body.code).toBe('bad_second_factor')
    expect((await thief.read()).status).toBe('open')
    for (let codes = 1; codes < 5; codes++) expect((await thief.askForCode()).status).toBe(202)
    expect((await thief.askForCode()).status).toBe(429)
  })

  test('needs no second code in a browser that has entered one, but only for the same person', async () => {
    const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
    await start(gate([ada]))
    const first = opened(linkIn(await mailTo(ada)))
    const { payload_sha256 } = await first.read()
    await first.answer({ decision: 'approve', payload_sha256, code: await codeFor(ada, first.askForCode) })
    await start(gate([ada, bob]))
    const again = linkIn(await mailTo(ada, 3))
    expect((await first.browser.call('GET', again)).body.proof).toBe('given')
    expect((await first.browser.call('GET', linkIn(await mailTo(bob)))).body.proof).toBe('code')
    const from = { origin: 'https://elsewhere.example' }
    const body = { decision: 'approve', payload_sha256 }
    expect((await first.browser.call('POST', again, { body, headers: from })).body.code).toBe('foreign_origin')
    expect((await first.browser.call('POST', again, { body })).body.outcome).toBe('Approved by Ada')
  })

  test('refuses a changed link, a changed payload, and people who have lost access', async () => {
    const [ada, bob, eve] = [await colleague('Ada'), await colleague('Bob'), await colleague('Eve')]
    await start({
      type: 'approval',
      args: {
        title: 'By role',
        payload: 1,
        policy: {
          approvers: [
            { kind: 'user', id: ada.id },
            { kind: 'user', id: bob.id },
            { kind: 'user', id: eve.id },
          ],
          quorum: 'all',
        },
      },
    })
    const path = linkIn(await mailTo(ada))
    for (const at of [25, 40, path.length - 1]) {
      const changed = `${path.slice(0, at)}${path[at] === 'A' ? 'B' : 'A'}${path.slice(at + 1)}`
      expect((await service.call('GET', changed)).status).toBe(404)
    }
    const link = opened(path)
    const { payload_sha256 } = await link.read()
    const vote = { decision: 'approve', payload_sha256, code: await codeFor(ada, link.askForCode) }
    expect((await link.answer({ ...vote, payload_sha256: 'f'.repeat(64) })).body.code).toBe('payload_changed')
    // The payload in the mail differs from the current payload of the gate.
    await service.sql(`update reach_messages set payload_sha256 = 'other' where user_id = $1`, [ada.uuid])
    expect((await link.answer(vote)).body.code).toBe('payload_changed')
    expect((await link.read()).refusal).toContain('changed')
    // Bob leaves the workspace: the link is deleted with the membership.
    const bobs = linkIn(await mailTo(bob))
    await service.sql('delete from memberships where user_id = $1', [bob.uuid])
    expect((await service.call('GET', bobs)).status).toBe(404)
    expect((await service.call('POST', bobs, { body: vote })).status).toBe(404)
    // Eve's link expires.
    const eves = linkIn(await mailTo(eve))
    await service.sql('update reach_messages set expires_at = now() where user_id = $1', [eve.uuid])
    expect((await service.call('GET', eves)).status).toBe(404)
  })

  test('cannot be approved through a link by the person who started the execution', async () => {
    const ada = await colleague('Ada')
    await start(gate([ada, world.owner]))
    const path = linkIn(await mailTo(ada))
    expect(mailbox.to(world.owner.email)).toEqual([])
    // Simulates a mail to the person who started the execution.
    await service.sql('update reach_messages set user_id = $2 where user_id = $1', [ada.uuid, world.owner.uuid])
    const link = opened(path)
    const seen = await link.read()
    expect(seen.refusal).toContain('started the execution')
    const code = await codeFor(world.owner, link.askForCode)
    const answer = await link.answer({ decision: 'approve', payload_sha256: seen.payload_sha256, code })
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden'])
  })

  test('must be answered in the console if the workspace requires a second factor', async () => {
    const ada = await colleague('Ada')
    await start(gate([ada]))
    const link = opened(linkIn(await mailTo(ada)))
    await service.sql('update workspaces set require_second_factor = true where workspace_id = $1', [
      world.workspace.uuid,
    ])
    try {
      const { proof, payload_sha256 } = await link.read()
      expect(proof).toBe('sign_in')
      const answer = await link.answer({ decision: 'approve', payload_sha256 })
      expect(answer.body.code).toBe('second_factor_required')
      expect((await link.askForCode()).body.code).toBe('second_factor_required')
    } finally {
      await service.sql('update workspaces set require_second_factor = false where workspace_id = $1', [
        world.workspace.uuid,
      ])
    }
  })
})

test('a question is answered once through any channel, and the other recipients see who answered', async () => {
  const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
  const execution = await start(question([ada, bob]))
  const link = opened(linkIn(await mailTo(ada)))
  const { payload_sha256, schema } = await link.read()
  expect(schema).toEqual({ type: 'string', enum: ['green', 'red'] })
  const code = await codeFor(ada, link.askForCode)
  const wrong = await link.answer({ response: 'blue', payload_sha256, code })
  expect([wrong.status, wrong.body.code]).toEqual([422, 'invalid'])
  // Bob answers first, in the console.
  const other = await bob.call('POST', `/api/workflows/executions/${execution}/respond`, { body: { response: 'red' } })
  expect(other.status, other.text).toBe(202)
  const late = await link.answer({ response: 'green', payload_sha256, code })
  expect([late.status, late.body.code, late.body.detail]).toEqual([409, 'not_waiting', 'Answered by Bob.'])
  expect(await noticesOf(ada)).toMatchObject([{ read: true, data: { resolution: 'Answered by Bob' } }])
})

test('a question is mailed also to a person who joins the team after it was asked', async () => {
  const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
  const team = await makeTeam(ada)
  const execution = await start(question([], { who: [team.line] }))
  const first = await mailTo(ada)
  await team.add(bob)
  const late = await mailTo(bob)
  expect(late.subject).toBe(first.subject)
  const link = opened(linkIn(late))
  const { payload_sha256 } = await link.read()
  const code = await codeFor(bob, link.askForCode)
  expect((await link.answer({ response: 'green', payload_sha256, code })).status).toBe(200)
  expect((await ended(execution)).status).toBe('succeeded')
  expect(mailbox.to(ada.email)).toHaveLength(1)
})

test('a question that is withdrawn without an answer shows that it was withdrawn', async () => {
  const ada = await colleague('Ada')
  const execution = await start(question([ada]))
  const link = opened(linkIn(await mailTo(ada)))
  await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`, { body: {} })
  const notice = await until(async () => (await noticesOf(ada)).find(({ data }) => data.resolution), 'the resolution')
  expect(notice.data.resolution).toContain('Withdrawn')
  expect(await link.read()).toMatchObject({ status: 'cancelled' })
})

describe('preferences', () => {
  const set = (person: TestPerson, preferences: unknown) =>
    person.call('PUT', '/api/notifications/preferences', { body: { preferences } })
  const asked = { kind: 'clarification.asked', app: true, mail: true }

  test('mark a kind as a question exactly if the database does', async () => {
    const rows = await service.sql<{ kind: string; asks: boolean }>(
      'select kind, asks_for_an_answer(kind) as asks from unnest($1::text[]) as kind',
      [notificationKinds.map(({ kind }) => kind)],
    )
    expect(rows).toEqual(notificationKinds.map(({ kind, asks }) => ({ kind, asks })))
  })

  test('decide for each person and kind where a notice is delivered', async () => {
    const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
    const before = await ada.call('GET', '/api/notifications/preferences')
    expect(before.body).toMatchObject({ mail: 'sent' })
    expect(before.body.preferences).toContainEqual(expect.objectContaining({ ...asked, is_default: true }))
    expect((await set(ada, [{ ...asked, mail: false }])).status).toBe(200)
    expect((await set(bob, [{ ...asked, app: false }])).status).toBe(200)
    await start(question([ada, bob]))
    await mailTo(bob)
    expect(mailbox.to(ada.email)).toEqual([])
    expect(await noticesOf(ada)).toMatchObject([{ kind: 'clarification.asked' }])
    expect(await noticesOf(bob)).toEqual([])
    // A notice that requires no answer is mailed to people who chose it, with only a link to the console.
    await set(ada, [{ kind: 'execution.failed', app: true, mail: true }])
    const reset = (await ada.call('GET', '/api/notifications/preferences')).body.preferences
    expect(reset).toContainEqual(expect.objectContaining({ ...asked, is_default: true }))
  })

  test('set the language of mails, while text by tenants is not translated', async () => {
    const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
    const path = '/api/notifications/preferences'
    expect((await ada.call('GET', path)).body.language).toBe('en')
    expect((await ada.call('PUT', path, { body: { preferences: [], language: 'de' } })).body.language).toBe('de')
    expect((await ada.call('PUT', path, { body: { preferences: [], language: 'tlh' } })).status).toBe(422)
    expect((await set(ada, [])).body.language).toBe('de')
    await start(gate([ada, bob]))
    const [german, english] = [await mailTo(ada), await mailTo(bob)]
    expect(german.subject).toBe('Ihre Stimme wird gebraucht: Pay <b>this</b>?')
    expect(german.text).toMatch(/Zustimmen: http/)
    expect(german.text).toMatch(/Die Links sind nur für Sie und gelten bis \d{4}-/)
    expect(english.subject).toBe('Your vote is needed: Pay <b>this</b>?')
    expect(english.text).toMatch(/Approve: http/)
    const link = opened(linkIn(german))
    const before = mailbox.to(ada.email).length
    expect((await link.askForCode()).status).toBe(202)
    expect((await mailTo(ada, before + 1)).subject).toMatch(/^\d{6} ist Ihr Code$/)
  })

  test.each([
    ['a gate', (people: TestPerson[]) => gate(people, { due_in_s: 3600 })],
    ['a question', (people: TestPerson[]) => question(people, { due_in_s: 3600 })],
  ])('set the language of the due time in a mail about %s', async (_, asking) => {
    const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
    await ada.call('PUT', '/api/notifications/preferences', { body: { preferences: [], language: 'de' } })
    await start(asking([ada, bob]))
    const lineIn = ({ text }: ReceivedMail) => text.replaceAll('\u202f', ' ').split('\n\n')[1]
    expect(lineIn(await mailTo(ada))).toMatch(/^Fällig \d\d\.\d\d\.\d{4}, \d\d:\d\d UTC$/)
    expect(lineIn(await mailTo(bob))).toMatch(/^Due \w{3} \d+, \d{4}, \d+:\d\d [AP]M UTC$/)
  })

  test('refuse unknown kinds and repeated kinds without changing anything', async () => {
    const ada = await colleague('Ada')
    expect((await set(ada, [{ ...asked, kind: 'no.such' }])).status).toBe(422)
    expect((await set(ada, [asked, asked])).status).toBe(422)
    expect((await set(ada, [{ ...asked, mail: undefined }])).status).toBe(422)
    const { body } = await ada.call('GET', '/api/notifications/preferences')
    expect(body.preferences.every(({ is_default }: { is_default: boolean }) => is_default)).toBe(true)
  })
})

describe('mails', () => {
  const stateOf = async (person: TestPerson) =>
    (
      await service.sql<{ state: string; waits: boolean }>(
        "select state, next_at > now() + interval '2 minutes' as waits from reach_messages where user_id = $1 order by created_at desc limit 1",
        [person.uuid],
      )
    )[0]

  test('are not sent to an unverified address', async () => {
    const ada = await colleague('Ada')
    await service.sql('update users set email_verified_at = null where user_id = $1', [ada.uuid])
    await start(question([ada]))
    await until(async () => (await stateOf(ada))?.state === 'done', 'the message')
    expect(mailbox.to(ada.email)).toEqual([])
    expect((await ada.call('GET', '/api/notifications/preferences')).body.mail).toBe('unverified')
  })

  test('wait after too many in an hour, and are not sent if the question is answered in the meantime', async () => {
    const ada = await colleague('Ada')
    await service.sql(
      `insert into reach_messages (workspace_id, message_id, user_id, kind, title, state, sent_at)
       select $1, gen_random_uuid(), $2, 'approval.requested', 'Earlier', 'sent', now() from generate_series(1, $3)`,
      [world.workspace.uuid, ada.uuid, MAX_PER_HOUR],
    )
    const execution = await start(question([ada]))
    const newest = async () =>
      (
        await service.sql<{ state: string; waits: boolean }>(
          `select state, next_at > now() + interval '2 minutes' as waits from reach_messages where user_id = $1 and title <> 'Earlier'`,
          [ada.uuid],
        )
      )[0]
    await until(async () => (await newest())?.waits, 'the wait')
    expect((await newest())!.state).toBe('due')
    await ada.call('POST', `/api/workflows/executions/${execution}/respond`, { body: { response: 'red' } })
    expect((await newest())!.state).toBe('done')
    expect(mailbox.to(ada.email)).toEqual([])
  })

  test('remind people once who have not answered a question', async () => {
    const ada = await colleague('Ada')
    const questions = makeQuestions({ db: service.db, engine: () => ({ send: () => {} }), turns: makeTurns() })
    const wait = { workspaceId: world.workspace.uuid, executionId: newId(), nodePath: 'ask' }
    const { args } = question([ada])
    await questions.askQuestion({
      ...wait,
      workflowId: null,
      versionId: null,
      nodeId: 'ask',
      attempt: 1,
      args: { ...args, due_in_s: 3600 },
      startedBy: null,
      initiatedBy: [],
      input: {},
    })
    await mailTo(ada)
    // The engine's timer at half of the time.
    await questions.questionDue(wait)
    await questions.questionDue(wait)
    expect((await mailTo(ada, 2)).subject).toBe('Still waiting for your answer: Which colour?')
    expect((await noticesOf(ada)).map(({ kind }) => kind)).toEqual(['clarification.reminder', 'clarification.asked'])
  })
})
