import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { stepAt, totpCode } from '#platform/auth/totp'
import { newId } from '#platform/ids'
import { makeAuthenticator } from '#test/harness/authenticator'
import { type Browser, freshEmail, makeBrowser, PASSWORD, signUp } from '#test/harness/browser'
import { type Answer, useSharedService } from '#test/harness/service'
import { addMember, makePerson, makeWorkspace } from '#test/harness/world'
import { isOurChallenge, makeChallenge } from './passkey-challenge.ts'

const service = useSharedService()

const fromBase32 = (text: string): Buffer => {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
}

/**
 * Returns the code of the current step. With offset 1 it is the next code, which is also accepted and differs from the
 * one that confirmed the app.
 */
const codeAt = (secret: string, offset = 0): string => totpCode(fromBase32(secret), stepAt(Date.now()) + offset)

const post = (browser: Browser, path: string, body: unknown = {}) => browser.call('POST', path, { body })

async function withTotp() {
  const email = freshEmail()
  const { browser } = await signUp(service().base, { email })
  const { body: begun } = await post(browser, '/auth/second-factor/totp', { current_password: PASSWORD })
  const confirmed = await post(browser, '/auth/second-factor/totp/confirm', { code: codeAt(begun.secret) })
  expect(confirmed.status, confirmed.text).toBe(200)
  return { email, browser, secret: begun.secret as string, codes: confirmed.body.recovery_codes as string[] }
}

const firstStep = async (email: string) => {
  const browser = makeBrowser(service().base)
  const answer = await post(browser, '/auth/sign-in', { email, password: PASSWORD })
  return { browser, answer, challenge: answer.body.challenge as string }
}

const passkeyOrigin = () => service().base.replace('127.0.0.1', 'localhost')

describe('an authenticator app', () => {
  test('is active after a code was confirmed, and its secret is stored encrypted and its recovery codes hashed', async () => {
    const email = freshEmail()
    const { browser } = await signUp(service().base, { email })
    const wrong = await post(browser, '/auth/second-factor/totp', { current_password: 'not it' })
    expect([wrong.status, wrong.body.errors[0].path]).toEqual([422, '/current_password'])
    expect((await post(browser, '/auth/second-factor/totp')).status).toBe(422)
    const { body: begun } = await post(browser, '/auth/second-factor/totp', { current_password: PASSWORD })
    expect(begun.otpauth_url).toContain(`secret=${begun.secret}`)
    expect((await firstStep(email)).answer.body.session).toBeDefined()
    expect((await post(browser, '/auth/second-factor/totp/confirm', { code: '12345' })).status).toBe(422)
    const confirmed = await post(browser, '/auth/second-factor/totp/confirm', { code: codeAt(begun.secret) })
    expect(confirmed.body.recovery_codes).toHaveLength(10)
    const [row] = await service().sql<{ secret: Buffer; hashes: string }>(
      `select t.secret, (select string_agg(encode(code_hash, 'escape'), ' ') from recovery_codes r where r.user_id = t.user_id) as hashes
       from totp_factors t join users u using (user_id) where u.email = $1`,
      [email],
    )
    expect(row!.secret.includes(fromBase32(begun.secret))).toBe(false)
    for (const code of confirmed.body.recovery_codes) expect(row!.hashes).not.toContain(code)
    expect((await browser.call('GET', '/auth/second-factor')).body).toEqual({
      totp: true,
      passkeys: [],
      recovery_codes_left: 10,
    })
    expect((await post(browser, '/auth/second-factor/totp', { current_password: PASSWORD })).status).toBe(409)
  })

  test('requires two steps to sign in, and accepts a code once, even in simultaneous requests', async () => {
    const { email, secret } = await withTotp()
    const { browser, answer, challenge } = await firstStep(email)
    expect(answer.body).toMatchObject({
      second_factor_required: true,
      methods: ['totp', 'recovery_code'],
      passkey: null,
    })
    expect(browser.cookies.size).toBe(0)
    expect((await browser.call('GET', '/auth/me')).status).toBe(401)
    const code = codeAt(secret, 1)
    const others = await Promise.all(Array.from({ length: 4 }, () => firstStep(email)))
    const answers = await Promise.all(
      [challenge, ...others.map((one) => one.challenge)].map((token) =>
        post(makeBrowser(service().base), '/auth/sign-in/second-factor', { challenge: token, code }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401])
    const again = await post(browser, '/auth/sign-in/second-factor', { challenge: others[0]!.challenge, code })
    expect(again.body.code).toBe('bad_second_factor')
  })

  test('ends the challenge after five wrong codes, and locks the account after twenty attempts', async () => {
    const { email, secret } = await withTotp()
    const { browser, challenge } = await firstStep(email)
    const wrong = () => post(browser, '/auth/sign-in/second-factor', { challenge, code: '12345' })
    for (let at = 0; at < 5; at++) expect((await wrong()).status).toBe(401)
    const right = await post(browser, '/auth/sign-in/second-factor', { challenge, code: codeAt(secret, 1) })
    expect(right.body.code).toBe('bad_second_factor')
    const failed = await service().sql(
      `select from audit_log where action = 'sign_in.failed' and subject = $1 and data ->> 'reason' = 'second_factor'`,
      [email],
    )
    expect(failed).toHaveLength(5)
    const statuses = new Set<number>()
    for (let at = 0; at < 20; at++) statuses.add((await firstStep(email)).answer.status)
    expect(statuses).toContain(429)
  })

  test('accepts no more codes after thirty wrong ones from any address, but a recovery code', async () => {
    const { email, secret, codes } = await withTotp()
    /** Calls from another address of this machine. */
    const from = (address: number, path: string, body: object): Promise<Answer['body']> =>
      new Promise((resolve, reject) => {
        const options = {
          method: 'POST',
          localAddress: `127.0.1.${address}`,
          headers: { 'content-type': 'application/json' },
        }
        request(`${service().base}${path}`, options, async (answer) => resolve(await json(answer)))
          .once('error', reject)
          .end(JSON.stringify(body))
      })
    const challengeAt = async (address: number): Promise<string> =>
      (await from(address, '/auth/sign-in', { email, password: PASSWORD })).challenge
    const secondStep = async (address: number, body: object) =>
      from(address, '/auth/sign-in/second-factor', { challenge: await challengeAt(address), ...body })
    for (let address = 1; address <= 6; address++) {
      const challenge = await challengeAt(address)
      for (let at = 0; at < 5; at++) {
        const refused = await from(address, '/auth/sign-in/second-factor', { challenge, code: '12345' })
        expect(refused.code).toBe('bad_second_factor')
      }
    }
    expect((await secondStep(7, { code: codeAt(secret, 1) })).code).toBe('rate_limited')
    expect((await secondStep(8, { recovery_code: codes[0] })).session).toBeDefined()
    // Signing in forgives the wrong codes.
    expect((await secondStep(9, { code: codeAt(secret, 1) })).session).toBeDefined()
  })

  test('refuses invalid input', async () => {
    const { email } = await withTotp()
    const { browser, challenge } = await firstStep(email)
    for (const body of [
      {},
      { challenge },
      { challenge: null, code: '1' },
      { challenge: [challenge], code: '1' },
      { challenge: '', code: '1' },
      { challenge, code: ['1'] },
      { challenge, code: '123456', recovery_code: 'a' },
    ])
      expect((await post(browser, '/auth/sign-in/second-factor', body)).status).toBe(422)
    const session = await post(browser, '/auth/sign-in/second-factor', { challenge: 'ses_x', code: '123456' })
    expect(session.status).toBe(401)
  })

  test('can be removed only with the password, and sign-in then has one step again', async () => {
    const { email, browser } = await withTotp()
    expect((await post(browser, '/auth/second-factor/totp/remove')).status).toBe(422)
    expect((await post(browser, '/auth/second-factor/totp/remove', { current_password: PASSWORD })).status).toBe(204)
    expect((await firstStep(email)).answer.body.session).toBeDefined()
    expect((await browser.call('GET', '/auth/second-factor')).body.recovery_codes_left).toBe(0)
  })
})

describe('recovery codes', () => {
  test('work once each, in any notation, and are replaced as a whole', async () => {
    const { email, browser, codes } = await withTotp()
    const use = async (recovery_code: string) => {
      const step = await firstStep(email)
      return post(step.browser, '/auth/sign-in/second-factor', { challenge: step.challenge, recovery_code })
    }
    expect((await use(codes[0]!.toUpperCase().replaceAll('-', ' '))).status).toBe(200)
    expect((await use(codes[0]!)).status).toBe(401)
    const renewed = await post(browser, '/auth/second-factor/recovery-codes', { current_password: PASSWORD })
    expect(renewed.body.recovery_codes).toHaveLength(10)
    expect((await use(codes[1]!)).status).toBe(401)
    expect((await use(renewed.body.recovery_codes[1])).status).toBe(200)
  })
})

describe('a passkey', () => {
  async function withPasskey() {
    const email = freshEmail()
    const { browser } = await signUp(service().base, { email })
    const authenticator = makeAuthenticator(passkeyOrigin())
    const begun = await post(browser, '/auth/passkeys/options', { current_password: PASSWORD })
    expect(begun.body.options.rp.id).toBe('localhost')
    const response = authenticator.register(begun.body.options)
    const body = { challenge: begun.body.challenge, name: 'Laptop', response }
    const added = await post(browser, '/auth/passkeys', body)
    expect(added.status, added.text).toBe(201)
    return { email, browser, authenticator, added, body }
  }

  test('is added once for its challenge, with recovery codes, and can be used to sign in', async () => {
    const { email, browser, authenticator, added, body } = await withPasskey()
    expect(added.body).toMatchObject({ name: 'Laptop', recovery_codes: expect.any(Array) })
    expect((await post(browser, '/auth/passkeys', body)).status).toBe(409)
    const step = await firstStep(email)
    expect(step.answer.body.methods).toEqual(['passkey', 'recovery_code'])
    const again = await post(step.browser, '/auth/sign-in/second-factor/options', { challenge: step.challenge })
    expect(again.body.passkey.challenge).toBe(step.answer.body.passkey.challenge)
    const passkey = authenticator.authenticate(step.answer.body.passkey)
    const answer = await post(step.browser, '/auth/sign-in/second-factor', { challenge: step.challenge, passkey })
    expect(answer.status, answer.text).toBe(200)
    expect((await step.browser.call('GET', '/auth/me')).body.user.email).toBe(email)
    const replayed = await firstStep(email)
    const refused = await post(replayed.browser, '/auth/sign-in/second-factor', {
      challenge: replayed.challenge,
      passkey,
    })
    expect(refused.body.code).toBe('bad_second_factor')
  })

  test('of another site or person, or an empty one, is refused', async () => {
    const { email, authenticator } = await withPasskey()
    const stranger = makeAuthenticator(passkeyOrigin())
    const step = await firstStep(email)
    const options = step.answer.body.passkey
    for (const passkey of [
      authenticator.authenticate(options, 'https://evil.example'),
      authenticator.authenticate({ ...options, rpId: 'evil.example' }),
      stranger.authenticate(options),
      {},
    ]) {
      const answer = await post(step.browser, '/auth/sign-in/second-factor', { challenge: step.challenge, passkey })
      expect(answer.status).toBe(401)
    }
  })

  test('for another challenge is not added, and only its owner can remove a passkey', async () => {
    const { browser, authenticator, added } = await withPasskey()
    const { body: begun } = await post(browser, '/auth/passkeys/options', { current_password: PASSWORD })
    const other = makeAuthenticator(passkeyOrigin()).register({ ...begun.options, challenge: 'AAAA' })
    const bad = await post(browser, '/auth/passkeys', { challenge: begun.challenge, name: 'X', response: other })
    expect(bad.status).toBe(422)
    const same = authenticator.register(begun.options)
    const twice = await post(browser, '/auth/passkeys', { challenge: begun.challenge, name: 'X', response: same })
    expect(twice.body.code).toBe('already_exists')
    const path = `/auth/passkeys/${added.body.passkey_id}/remove`
    const stranger = (await signUp(service().base)).browser
    expect((await post(stranger, path, { current_password: PASSWORD })).status).toBe(404)
    expect((await post(browser, path, { current_password: PASSWORD })).status).toBe(204)
  })
})

describe('a passkey alone', () => {
  async function withPasskey() {
    const email = freshEmail()
    const { browser } = await signUp(service().base, { email })
    const authenticator = makeAuthenticator(passkeyOrigin())
    const { body: begun } = await post(browser, '/auth/passkeys/options', { current_password: PASSWORD })
    const response = authenticator.register(begun.options)
    const added = await post(browser, '/auth/passkeys', { challenge: begun.challenge, name: 'Phone', response })
    expect(added.status, added.text).toBe(201)
    return { email, authenticator, id: added.body.passkey_id as string, browser }
  }
  const begin = async () => {
    const { status, body } = await post(makeBrowser(service().base), '/auth/sign-in/passkey/options')
    expect(status).toBe(200)
    return body.options
  }
  const finish = async (passkey: unknown, browser = makeBrowser(service().base)) => ({
    browser,
    answer: await post(browser, '/auth/sign-in/passkey', { passkey }),
  })

  test('signs its person in without naming the person beforehand, and its challenge works once', async () => {
    const { email, authenticator } = await withPasskey()
    const options = await begin()
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required' })
    expect(options.allowCredentials ?? []).toEqual([])
    const passkey = authenticator.authenticate(options)
    const { browser, answer } = await finish(passkey)
    expect(answer.status, answer.text).toBe(200)
    expect((await browser.call('GET', '/auth/me')).body.user.email).toBe(email)
    const again = await Promise.all([finish(passkey), finish(authenticator.authenticate(options))])
    for (const { answer: refused } of again)
      expect([refused.status, refused.body.code]).toEqual([401, 'bad_second_factor'])
    const entries = await service().sql(
      `select from audit_log where action = 'sign_in.failed' and subject = $1 and data ->> 'reason' = 'passkey'`,
      [email],
    )
    expect(entries).toHaveLength(2)
  })

  test('is accepted once in several simultaneous sign-ins with one response', async () => {
    const { authenticator } = await withPasskey()
    const passkey = authenticator.authenticate(await begin())
    const answers = await Promise.all(Array.from({ length: 5 }, () => finish(passkey)))
    expect(answers.map(({ answer }) => answer.status).sort()).toEqual([200, 401, 401, 401, 401])
  })

  test('is refused without user verification, for another person, or with another challenge or site', async () => {
    const { authenticator, id, browser } = await withPasskey()
    const other = await withPasskey()
    const options = await begin()
    const own = makeAuthenticator(passkeyOrigin())
    const tampered = Buffer.from(options.challenge, 'base64url')
    tampered[0]! ^= 1
    for (const passkey of [
      authenticator.authenticate(options, undefined, { unverified: true }),
      authenticator.authenticate(options, undefined, { handle: Buffer.from(newId()).toString('base64url') }),
      authenticator.authenticate(options, undefined, { handle: '' }),
      authenticator.authenticate(options, 'https://evil.example'),
      authenticator.authenticate({ ...options, rpId: 'evil.example' }),
      authenticator.authenticate({ ...options, challenge: tampered.toString('base64url') }),
      authenticator.authenticate({ ...options, challenge: 'AAAA' }),
      { ...authenticator.authenticate(options), id: other.authenticator.authenticate(options).id },
      own.authenticate(options),
      {},
      { id: ['x'] },
      { id: null, response: null },
      { id: other.id, response: { clientDataJSON: 'bm8' } },
    ]) {
      const { answer } = await finish(passkey)
      expect([answer.status, answer.body.code]).toEqual([401, 'bad_second_factor'])
    }
    const { answer } = await finish(authenticator.authenticate(options))
    expect(answer.status, answer.text).toBe(200)
    await post(browser, `/auth/passkeys/${id}/remove`, { current_password: PASSWORD })
    expect((await finish(authenticator.authenticate(await begin()))).answer.status).toBe(401)
  })

  test('is refused with an expired challenge or a challenge of another org', () => {
    const vault = { derive: () => Buffer.alloc(32, 7) } as never
    const [org, now] = [newId(), Date.UTC(2026, 0, 1)]
    const text = makeChallenge(vault, org, now).bytes.toString('base64url')
    expect(isOurChallenge(vault, org, text, now + 299_000)).toBe(true)
    expect(isOurChallenge(vault, org, text, now + 300_000)).toBe(false)
    expect(isOurChallenge(vault, newId(), text, now)).toBe(false)
    expect(isOurChallenge({ derive: () => Buffer.alloc(32, 8) } as never, org, text, now)).toBe(false)
    for (const bad of ['', 'AAAA', `${text}A`, text.slice(0, -1)])
      expect(isOurChallenge(vault, org, bad, now)).toBe(false)
  })
})

describe('a workspace that requires a second factor', () => {
  test('refuses members without one and their keys, but not their other workspaces', async () => {
    const { browser, secret: _ } = await withTotp()
    const { body: me } = await browser.call('GET', '/auth/me')
    const id = me.selected_workspace_id as string
    const [row] = await service().sql<{ uuid: string }>(
      'select workspace_id as uuid from memberships join users using (user_id) where email = $1',
      [me.user.email],
    )
    const patch = (body: unknown) => browser.call('PATCH', `/api/workspaces/${id}`, { body })
    const asked = await patch({ settings: { require_second_factor: true } })
    expect(asked.body.settings).toEqual({ require_second_factor: true })
    expect((await patch({ settings: { require_second_factor: 'yes' } })).status).toBe(422)
    await browser.call('POST', '/api/teams', { body: { name: 'Secret team' } })

    const member = await signUp(service().base)
    const [{ user_id: memberId } = { user_id: '' }] = await service().sql<{ user_id: string }>(
      'select user_id from users where email = $1',
      [member.answer.body.user.email],
    )
    await addMember(service(), { uuid: row!.uuid }, { uuid: memberId } as never, 'member')
    const { body: key } = await post(member.browser, '/auth/api-keys', { name: 'script' })
    const inside = { headers: { 'x-workspace-id': id } }
    for (const answer of [
      await member.browser.call('GET', '/api/workflows', inside),
      await member.browser.call('GET', `/api/workspaces/${id}`),
      await member.browser.call('POST', `/api/workspaces/${id}/select`),
      await service().call('GET', '/api/datasets', { token: key.key, workspace: id }),
    ])
      expect([answer.status, answer.body.code]).toEqual([403, 'second_factor_required'])
    expect((await member.browser.call('GET', '/api/workflows')).status).toBe(200)
    expect((await member.browser.call('GET', '/auth/me', inside)).body.workspaces).toHaveLength(2)
    expect((await member.browser.call('GET', '/api/teams')).body.items).toEqual([])

    const { body: begun } = await post(member.browser, '/auth/second-factor/totp', { current_password: PASSWORD })
    await post(member.browser, '/auth/second-factor/totp/confirm', { code: codeAt(begun.secret) })
    expect((await member.browser.call('GET', '/api/workflows', inside)).status).toBe(200)
    expect((await service().call('GET', '/api/datasets', { token: key.key, workspace: id })).status).toBe(200)
    expect((await member.browser.call('GET', '/api/teams')).body.items).toHaveLength(1)
  })

  test('cannot be configured by an owner without a second factor', async () => {
    const owner = await makePerson(service())
    const workspace = await makeWorkspace(service(), owner)
    const answer = await owner.call('PATCH', `/api/workspaces/${workspace.id}`, {
      body: { settings: { require_second_factor: true } },
    })
    expect(answer.status).toBe(409)
  })
})
