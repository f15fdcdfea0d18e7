import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashSecret } from '#platform/ids'
import { freshEmail, makeBrowser, PASSWORD, signUp } from '#test/harness/browser'
import { type Mailbox, startMailbox, tokenIn } from '#test/harness/mailbox'
import { type Service, startService, useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace, type TestPerson, type TestWorkspace } from '#test/harness/world'

let mailbox: Mailbox
let service: Service
beforeAll(async () => {
  mailbox = await startMailbox()
  service = await startService({ env: { SMTP_URL: mailbox.url, HEDDLE_OPERATORS: 'op@example.com' } })
})
afterAll(async () => {
  await service?.stop()
  await mailbox?.stop()
})
const without = useService()

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  service.call('POST', path, { body, headers })

/** Creates an account with all steps: sign-up, mail, confirmation. */
async function makeAccount(email = freshEmail()) {
  await signUp(service.base, { email })
  const token = tokenIn(await mailbox.wait(email), 'sgn')
  const browser = makeBrowser(service.base)
  const answer = await browser.call('POST', '/auth/sign-up/confirm', { body: { token, password: PASSWORD } })
  expect(answer.status, answer.text).toBe(201)
  return { email, browser, token, answer }
}

test('mails about an account are in the language of the requesting page, or else in English', async () => {
  const [email, english] = [freshEmail(), freshEmail()]
  const german = { 'accept-language': 'de-CH,de;q=0.9,en;q=0.8' }
  await post('/auth/sign-up', { email, password: PASSWORD, name: 'A' }, german)
  const asked = await mailbox.wait(email)
  expect(asked.subject).toBe('Konto bestätigen')
  expect(asked.text).toMatch(/^Jemand, wahrscheinlich Sie, hat mit dieser Adresse ein Konto angelegt\.\n\n/)
  const token = tokenIn(asked, 'sgn')
  await makeBrowser(service.base).call('POST', '/auth/sign-up/confirm', { body: { token, password: PASSWORD } })
  await post('/auth/password/forgot', { email }, german)
  expect((await mailbox.wait(email, 2)).text).toContain('Öffnen Sie diesen Link, um ein neues zu wählen')
  await post('/auth/sign-up', { email: english, password: PASSWORD, name: 'A' }, { 'accept-language': 'tlh, *' })
  expect((await mailbox.wait(english)).subject).toBe('Confirm your account')
})

describe('sign-up with a mail server', () => {
  test('gives the same response for an address with and without an account, and starts no session', async () => {
    const { email } = await makeAccount()
    const answers = await Promise.all(
      [email, freshEmail()].map((address) =>
        post('/auth/sign-up', { email: address, password: PASSWORD, name: 'A' }, { 'x-request-id': 'same' }),
      ),
    )
    for (const answer of answers) {
      expect([answer.status, answer.text]).toEqual([202, '{"state":"check_mail"}'])
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    const known = await mailbox.wait(email, 2)
    expect(known.text).toContain('It already exists')
    expect(known.text).not.toMatch(/sgn_/)
    // No account exists before the link is opened, so signing in reveals nothing either.
    const signIn = await Promise.all(
      [email, freshEmail()].map((address) =>
        post('/auth/sign-in', { email: address, password: 'wrong' }, { 'x-request-id': 'same' }),
      ),
    )
    expect(new Set(signIn.map(({ text }) => text)).size).toBe(1)
  })

  test('creates the account once, with the link and the password together', async () => {
    const email = freshEmail()
    await signUp(service.base, { email, workspace_name: 'Acme' })
    const token = tokenIn(await mailbox.wait(email), 'sgn')
    expect((await post('/auth/sign-in', { email, password: PASSWORD })).status).toBe(401)
    const confirm = (password: string) => post('/auth/sign-up/confirm', { token, password })
    expect((await confirm('another password')).body.code).toBe('bad_credentials')
    const answers = await Promise.all(Array.from({ length: 5 }, () => confirm(PASSWORD)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404, 404])
    expect(answers.find(({ status }) => status === 201)!.body).toMatchObject({
      user: { email, email_verified_at: expect.any(String) },
      workspace: { name: 'Acme', role: 'owner' },
    })
    expect((await post('/auth/sign-in', { email, password: PASSWORD })).status).toBe(200)
  })

  test('uses the sign-up that is confirmed first if two have the same address', async () => {
    const email = freshEmail()
    await signUp(service.base, { email, password: 'what a stranger chose' })
    const first = tokenIn(await mailbox.wait(email), 'sgn')
    await signUp(service.base, { email })
    const second = tokenIn(await mailbox.wait(email, 2), 'sgn')
    expect((await post('/auth/sign-up/confirm', { token: second, password: PASSWORD })).status).toBe(201)
    const late = await post('/auth/sign-up/confirm', { token: first, password: 'what a stranger chose' })
    expect(late.status).toBe(404)
  })

  test('creates nothing with an expired link or an invalid token', async () => {
    const email = freshEmail()
    await signUp(service.base, { email })
    const token = tokenIn(await mailbox.wait(email), 'sgn')
    await service.sql(`update pending_sign_ups set expires_at = now() - interval '1 second' where token_hash = $1`, [
      hashSecret(token),
    ])
    expect((await post('/auth/sign-up/confirm', { token, password: PASSWORD })).status).toBe(404)
    for (const bad of [null, '', [token], {}, 7])
      expect((await post('/auth/sign-up/confirm', { token: bad, password: PASSWORD })).status).toBe(422)
    expect((await post('/auth/sign-up/confirm', { token: 'sgn_made_up', password: PASSWORD })).status).toBe(404)
  })

  test('cannot be used to flood a mailbox', async () => {
    const email = freshEmail()
    for (let at = 0; at < 8; at++) expect((await signUp(service.base, { email })).answer.status).toBe(202)
    const last = freshEmail()
    await signUp(service.base, { email: last })
    await mailbox.wait(last)
    expect(mailbox.to(email)).toHaveLength(5)
  })

  test('refuses the reserved address of an operator without a claim', async () => {
    const refused = await signUp(service.base, { email: 'op@example.com' })
    expect(refused.answer.body.code).toBe('address_reserved')
  })
})

describe('a forgotten password', () => {
  const forgot = (email: string) => post('/auth/password/forgot', { email }, { 'x-request-id': 'same' })

  test('gets the same response for every address, and sends mail only to accounts', async () => {
    const { email } = await makeAccount()
    const unknown = freshEmail()
    const answers = [await forgot(unknown), await forgot(email)]
    expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([202, '{"state":"check_mail"}']))
    await mailbox.wait(email, 2)
    expect(mailbox.to(unknown)).toEqual([])
  })

  test('is replaced once, which ends sessions, keeps the keys of a verified address and disables the old password', async () => {
    const { email, browser } = await makeAccount()
    const key = (await browser.call('POST', '/auth/api-keys', { body: { name: 'script' } })).body.key
    await forgot(email)
    const token = tokenIn(await mailbox.wait(email, 2), 'rst')
    const [stored] = await service.sql<{ n: number }>(
      `select count(*)::int as n from account_tokens where position(convert_to($1, 'utf8') in token_hash) > 0`,
      [token],
    )
    expect(stored!.n).toBe(0)
    const reset = (password: string) => post('/auth/password/reset', { token, password })
    expect((await reset('password')).body.errors[0].path).toBe('/password')
    expect((await reset(email)).status).toBe(422)
    const answers = await Promise.all(Array.from({ length: 5 }, () => reset('an entirely new one')))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
    expect((await browser.call('GET', '/auth/me')).status).toBe(401)
    expect((await service.call('GET', '/auth/me', { token: key })).status).toBe(200)
    expect((await post('/auth/sign-in', { email, password: PASSWORD })).status).toBe(401)
    expect((await post('/auth/sign-in', { email, password: 'an entirely new one' })).status).toBe(200)
    const entries = await service.sql<{ data: unknown }>(
      `select data from audit_log where action = 'password.reset' and subject = (
         select typeid('usr', user_id) from users where email = $1)`,
      [email],
    )
    expect(entries).toEqual([{ data: { by: 'mail', ended: 1, keys_deleted: 0 } }])
  })

  test('of an unverified address is replaced together with deleting the account’s API keys', async () => {
    const person = await makePerson(service)
    await service.sql('update users set email_verified_at = null where user_id = $1', [person.uuid])
    await forgot(person.email)
    const token = tokenIn(await mailbox.wait(person.email), 'rst')
    expect((await post('/auth/password/reset', { token, password: 'an entirely new one' })).status).toBe(204)
    expect((await person.call('GET', '/auth/me')).status).toBe(401)
  })

  test('needs a valid link: expired, empty, null, lists and links of another kind are refused', async () => {
    const { email } = await makeAccount()
    await forgot(email)
    const token = tokenIn(await mailbox.wait(email, 2), 'rst')
    const reset = (bad: unknown) => post('/auth/password/reset', { token: bad, password: 'an entirely new one' })
    for (const bad of [null, '', [], [token], {}, true]) expect((await reset(bad)).status).toBe(422)
    expect((await post('/auth/password/reset', { password: 'an entirely new one' })).status).toBe(422)
    expect((await reset(token.replace('rst_', 'vfy_'))).status).toBe(404)
    expect((await post('/auth/verification/confirm', { token })).status).toBe(404)
    await service.sql(`update account_tokens set expires_at = now() where token_hash = $1`, [hashSecret(token)])
    expect((await reset(token)).status).toBe(404)
  })

  test('can only be reset by operators without a mail server', async () => {
    const { status, body } = await without().call('POST', '/auth/password/forgot', { body: { email: freshEmail() } })
    expect([status, body.code]).toEqual([503, 'provider_not_configured'])
  })
})

/** Runs a workflow that sends a mail to a person outside the workspace. */
async function runMail(person: TestPerson, workspace: TestWorkspace) {
  const mail = { id: 'm', type: 'mail.send', args: { to: freshEmail(), subject: 'S', text: 'T' } }
  const definition = { nodes: [mail], edges: [] }
  const made = await person.call('POST', '/api/workflows', {
    workspace: workspace.id,
    body: { name: 'Mails', definition },
  })
  const path = `/api/workflows/${made.body.workflow_id}/run?wait_s=60`
  return (await person.call('POST', path, { workspace: workspace.id, body: {} })).body
}

describe('an unverified address', () => {
  test('can be used to sign in, but not to send mail to strangers until the link is opened', async () => {
    const person = await makePerson(service)
    const workspace = await makeWorkspace(service, person)
    await service.sql('update users set email_verified_at = null where user_id = $1', [person.uuid])
    const invite = () =>
      person.call('POST', `/api/workspaces/${workspace.id}/members/invite`, { body: { email: freshEmail() } })
    expect((await person.call('GET', '/auth/me')).body.user.email_verified_at).toBeNull()
    const refused = await invite()
    expect([refused.status, refused.body.code]).toEqual([403, 'email_unverified'])
    const mailed = await runMail(person, workspace)
    expect(mailed.error).toMatchObject({ code: 'quota_exceeded', message: expect.stringContaining('must confirm') })
    expect((await person.call('POST', '/auth/verification')).status).toBe(202)
    const token = tokenIn(await mailbox.wait(person.email), 'vfy')
    const confirm = () => post('/auth/verification/confirm', { token })
    expect([(await confirm()).status, (await confirm()).status]).toEqual([204, 404])
    expect((await invite()).status).toBe(201)
    expect((await runMail(person, workspace)).status).toBe('succeeded')
    expect((await person.call('POST', '/auth/verification')).status).toBe(409)
  })

  test('gets five mails an hour, and only the newest link works', async () => {
    const person = await makePerson(service)
    await service.sql('update users set email_verified_at = null where user_id = $1', [person.uuid])
    const statuses: number[] = []
    for (let at = 0; at < 6; at++) statuses.push((await person.call('POST', '/auth/verification')).status)
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429])
    await mailbox.wait(person.email, 5)
    const tokens = mailbox.to(person.email).map((mail) => tokenIn(mail, 'vfy'))
    await until(async () => new Set(tokens).size === 5, 'five different links')
    const confirmed = await Promise.all(tokens.map((token) => post('/auth/verification/confirm', { token })))
    expect(confirmed.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
  })

  test('need not be verified without a mail server', async () => {
    const person = await makePerson(without())
    const workspace = await makeWorkspace(without(), person)
    await without().sql('update users set email_verified_at = null where user_id = $1', [person.uuid])
    const path = `/api/workspaces/${workspace.id}/members/invite`
    expect((await person.call('POST', path, { body: { email: freshEmail() } })).status).toBe(201)
    expect((await person.call('POST', '/auth/verification')).body.code).toBe('provider_not_configured')
    expect((await without().call('GET', '/auth/options')).body).toEqual({ sign_up: 'open', mail: false })
  })
})
