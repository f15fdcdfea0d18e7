import { describe, expect, test } from 'vitest'
import { freshEmail, makeBrowser, PASSWORD, signUp } from '#test/harness/browser'
import { type Service, startService, useService } from '#test/harness/service'
import { slow } from '#test/harness/slow'
import { makeWorld } from '#test/harness/world'

const service = useService()

const signIn = (body: unknown, headers: Record<string, string> = {}) =>
  service().call('POST', '/auth/sign-in', { body, headers })

describe('sign-up', () => {
  test('creates an account, a company with a workspace, and a session whose cookie no script can read', async () => {
    const { browser, answer } = await signUp(service().base, {
      email: ' Ann@Example.COM ',
      workspace_name: 'Acme',
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      user: { email: 'ann@example.com', name: 'Ann' },
      workspace: { name: 'Acme', role: 'owner' },
      session: { current: true },
    })
    const [cookie] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^heddle_session=ses_\w+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
    expect(answer.text).not.toContain(browser.cookies.get('heddle_session'))
    const me = await browser.call('GET', '/auth/me')
    expect(me.body).toMatchObject({
      user: { user_id: answer.body.user.user_id },
      workspaces: [{ workspace_id: answer.body.workspace.workspace_id, role: 'owner' }],
      selected_workspace_id: answer.body.workspace.workspace_id,
      operator: false,
    })
    const stored = await service().sql<{ hash: string }>(`select password_hash as hash from users where email = $1`, [
      'ann@example.com',
    ])
    expect(stored[0]!.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  test('treats all spellings of an address as one account', async () => {
    const email = freshEmail()
    await signUp(service().base, { email })
    for (const spelling of [
      email,
      email.toUpperCase(),
      email.replace('s', 'ｓ'),
      email.replace('example', 'ｅxample'),
    ]) {
      const again = await signUp(service().base, { email: spelling, password: 'another password' })
      expect([spelling, again.answer.status, again.answer.body.code]).toEqual([spelling, 409, 'already_exists'])
      expect(again.browser.cookies.size).toBe(0)
    }
  })

  test('creates one account for fifty simultaneous requests with one address', async () => {
    const email = freshEmail()
    const answers = await Promise.all(Array.from({ length: 50 }, () => signUp(service().base, { email })))
    const statuses = answers.map(({ answer }) => answer.status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(49)
  })

  test('refuses invalid input with the paths of the fields, and creates nothing', async () => {
    const [before] = await service().sql<{ n: number }>('select count(*)::int as n from users')
    const cases: [Record<string, unknown>, string[]][] = [
      [{}, ['/email', '/name', '/password']],
      [{ email: 'no', password: PASSWORD, name: 'A' }, ['/email']],
      [{ email: ['a@example.com'], password: PASSWORD, name: 'A' }, ['/email']],
      [{ email: freshEmail(), password: 'short', name: 'A' }, ['/password']],
      [{ email: freshEmail(), password: 'x'.repeat(257), name: 'A' }, ['/password']],
      [{ email: freshEmail(), password: 'Password', name: 'A' }, ['/password']],
      [{ email: 'long.name@example.com', password: 'Long.Name', name: 'A' }, ['/password']],
      [{ email: freshEmail(), password: PASSWORD, name: ' ' }, ['/name']],
      [{ email: freshEmail(), password: PASSWORD, name: 'A', operator: true }, ['/operator']],
      [{ email: freshEmail(), password: PASSWORD, name: 'A', claim_token: null }, ['/claim_token']],
    ]
    for (const [body, paths] of cases) {
      const { status, body: refusal } = await service().call('POST', '/auth/sign-up', { body })
      expect([status, refusal.errors.map(({ path }: { path: string }) => path).sort()]).toEqual([422, paths])
    }
    const proto = await service().call('POST', '/auth/sign-up', {
      raw: '{"__proto__": {"operator": true}}',
      headers: { 'content-type': 'application/json' },
    })
    expect(proto.status).toBe(400)
    const [after] = await service().sql<{ n: number }>('select count(*)::int as n from users')
    expect(after!.n).toBe(before!.n)
  })

  test('and sign-in are refused for a page of another site', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: service().base.replace('http:', 'https:') },
      { 'sec-fetch-site': 'cross-site' },
    ]
    for (const path of ['/auth/sign-up', '/auth/sign-in']) {
      const body = { email: freshEmail(), password: PASSWORD, ...(path === '/auth/sign-up' && { name: 'A' }) }
      for (const headers of foreign)
        expect((await service().call('POST', path, { body, headers })).body.code).toBe('foreign_origin')
    }
  })
})

describe('closed sign-up and operators', () => {
  const withService = async (env: Record<string, string>, work: (other: Service) => Promise<void>) => {
    const other = await startService({ env })
    try {
      await work(other)
    } finally {
      await other.stop()
    }
  }

  test('a service with closed sign-up answers 403 for every address', () =>
    withService({ HEDDLE_SIGN_UP: 'invite', HEDDLE_OPERATORS: 'op@example.com' }, async (closed) => {
      for (const email of ['new@example.com', 'op@example.com'])
        expect((await signUp(closed.base, { email })).answer.body.code).toBe('sign_up_closed')
      const send = async (body: unknown) => (await closed.call('POST', '/auth/sign-up', { body })).body.code
      expect([await send({}), await send({ claim_token: 'shown' })]).toEqual(['sign_up_closed', 'invalid'])
      const guest = await makeWorld(closed)
      expect((await guest.guest.call('POST', '/api/workspaces', { body: { name: 'Own' } })).status).toBe(403)
      expect((await guest.member.call('POST', '/api/workspaces', { body: { name: 'Own' } })).status).toBe(201)
    }))

  test('the eleventh sign-up in a minute from one address is refused', () =>
    withService({ HEDDLE_RATE_LIMITS: 'on' }, async (limited) => {
      const statuses: number[] = []
      for (let at = 0; at < 11; at++) {
        const { answer } = await signUp(limited.base, { password: 'short' })
        statuses.push(answer.status)
        if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect(statuses).toEqual([...Array(10).fill(422), 429])
    }))

  test('creating an account by invitation counts as a sign-up', () =>
    withService({ HEDDLE_RATE_LIMITS: 'on' }, async (limited) => {
      const statuses: number[] = []
      for (let at = 0; at < 11; at++) {
        const body = { name: 'Nel', password: PASSWORD }
        statuses.push((await limited.call('POST', '/auth/invitations/inv_x/accept', { body })).status)
      }
      expect(statuses).toEqual([...Array(10).fill(404), 429])
    }))

  slow(
    'correct passwords do not count towards the rate limit; of wrong passwords, only twenty per minute are checked',
    () =>
      withService({ HEDDLE_RATE_LIMITS: 'on' }, async (limited) => {
        const email = freshEmail()
        await signUp(limited.base, { email })
        const forty = (bodyOf: (at: number) => object) =>
          Promise.all(
            Array.from({ length: 40 }, (_, at) => limited.call('POST', '/auth/sign-in', { body: bodyOf(at) })),
          )
        const right = await forty(() => ({ email, password: PASSWORD }))
        expect(right.map(({ status }) => status)).toEqual(Array(40).fill(200))
        expect(await limited.sql(`select from audit_log where action = 'sign_in.locked'`)).toEqual([])
        const wrong = await forty((at) => ({ email: `nobody-${at}@example.com`, password: 'a guess' }))
        const looked = wrong.filter(({ status }) => status === 401).length
        expect(wrong.filter(({ status }) => status === 429)).toHaveLength(40 - looked)
        // The limit refills one token every three seconds, and the machine may be slow.
        expect(looked).toBeGreaterThanOrEqual(20)
        expect(looked).toBeLessThan(30)
      }),
  )

  test('behind a proxy, the accepted origin is the configured one, or another host with either scheme', () =>
    withService({ HEDDLE_BASE_URL: 'https://heddle.example', HEDDLE_TRUSTED_PROXIES: '127.0.0.1' }, async (proxied) => {
      const signInFrom = (origin: string, host: string) =>
        proxied.call('POST', '/auth/sign-in', {
          body: { email: freshEmail(), password: PASSWORD },
          headers: { origin, 'x-forwarded-host': host },
        })
      for (const [origin, host, status] of [
        ['https://heddle.example', 'heddle.example', 401],
        ['http://heddle.example', 'heddle.example', 403],
        ['https://other.example', 'other.example', 401],
        ['http://other.example', 'other.example', 401],
        ['https://other.example', 'heddle.example', 403],
      ] as const)
        expect([origin, host, (await signInFrom(origin, host)).status]).toEqual([origin, host, status])
    }))

  test('the cookie is Secure on a public address', () =>
    withService({ HEDDLE_BASE_URL: 'https://heddle.example' }, async (open) => {
      const { answer } = await signUp(open.base)
      expect(answer.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Lax; Secure$/)
    }))
})

describe('sign-in', () => {
  test('starts a session and ends the previous one of the browser', async () => {
    const email = freshEmail()
    const { browser } = await signUp(service().base, { email })
    const before = browser.cookies.get('heddle_session')!
    const answer = await browser.call('POST', '/auth/sign-in', {
      body: { email: email.toUpperCase(), password: PASSWORD },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ user: { email }, workspace: { role: 'owner' }, session: { current: true } })
    expect(browser.cookies.get('heddle_session')).not.toBe(before)
    expect((await browser.call('GET', '/auth/me')).status).toBe(200)
    const old = await service().call('GET', '/auth/me', { headers: { cookie: `heddle_session=${before}` } })
    expect(old.status).toBe(401)
  })

  test('gives the same response for a wrong password, an unknown address and an account without a password', async () => {
    const email = freshEmail()
    await signUp(service().base, { email })
    const world = await makeWorld(service())
    const answers = await Promise.all(
      [email, freshEmail(), world.owner.email].map((address) =>
        signIn({ email: address, password: 'not the password' }, { 'x-request-id': 'same' }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]!.body.code).toBe('bad_credentials')
  })

  test('locks the account for one caller after twenty wrong passwords, even for the right one, for a limited time', async () => {
    const email = freshEmail()
    await signUp(service().base, { email })
    const unknown = freshEmail()
    for (const address of [email, unknown]) {
      const guesses = await Promise.all(
        Array.from({ length: 50 }, (_, guess) => signIn({ email: address, password: `guess ${guess}` })),
      )
      expect(guesses.filter(({ status }) => status === 401)).toHaveLength(20)
      const refused = guesses.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(30)
      expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await signIn({ email, password: PASSWORD })).body.code).toBe('rate_limited')
    const [entry] = await service().sql(`select from audit_log where action = 'sign_in.locked' and subject = $1`, [
      email,
    ])
    expect(entry).toBeDefined()
    await service().sql(`update sign_in_failures set last_at = last_at - interval '15 minutes 1 second'`)
    expect((await signIn({ email, password: PASSWORD })).status).toBe(200)
    expect((await signIn({ email, password: 'wrong again' })).status).toBe(401)
  })

  slow('the lock counts all addresses of one IPv6 network as one address', async () => {
    const proxied = await startService({
      database: service().database,
      env: { HEDDLE_TRUSTED_PROXIES: '127.0.0.1' },
    })
    try {
      const email = freshEmail()
      const guessFrom = (address: string) =>
        proxied.call('POST', '/auth/sign-in', {
          body: { email, password: 'a guess' },
          headers: { 'x-forwarded-for': address },
        })
      for (let at = 0; at < 20; at++) expect((await guessFrom(`2001:db8:1:2::${at}`)).status).toBe(401)
      expect((await guessFrom('2001:db8:1:2:ffff::1')).status).toBe(429)
      expect((await guessFrom('2001:db8:1:3::1')).status).toBe(401)
    } finally {
      await proxied.stop()
    }
  })

  test('refuses invalid input', async () => {
    for (const body of [
      {},
      { email: freshEmail() },
      { email: null, password: null },
      { email: freshEmail(), password: ['x'] },
    ])
      expect((await signIn(body)).status).toBe(422)
    expect((await signIn({ email: freshEmail(), password: PASSWORD, remember: true })).status).toBe(422)
  })
})

describe('sessions', () => {
  test('are refused for a foreign origin and accepted for the service’s own origin', async () => {
    const { browser } = await signUp(service().base)
    const evil = { origin: 'https://evil.example' }
    expect((await browser.call('POST', '/auth/sign-out', { headers: evil })).body.code).toBe('foreign_origin')
    expect((await browser.call('GET', '/auth/me', { headers: evil })).status).toBe(401)
    expect((await browser.call('GET', '/auth/me', { headers: { origin: service().base } })).status).toBe(200)
    const otherScheme = { origin: service().base.replace('http:', 'https:') }
    expect((await browser.call('POST', '/auth/sign-out', { headers: otherScheme })).body.code).toBe('foreign_origin')
    expect((await browser.call('POST', '/auth/sign-out', { headers: { origin: service().base } })).status).toBe(204)
  })

  test('end with a sign-out, which also removes the cookie', async () => {
    const { browser } = await signUp(service().base)
    const token = browser.cookies.get('heddle_session')!
    const out = await browser.call('POST', '/auth/sign-out')
    expect(out.status).toBe(204)
    expect(out.headers.getSetCookie()[0]).toMatch(/^heddle_session=; Path=\/; Max-Age=0; HttpOnly/)
    expect((await service().call('GET', '/auth/me', { headers: { cookie: `heddle_session=${token}` } })).status).toBe(
      401,
    )
  })

  test('are listed, and can be ended one by one or all at once', async () => {
    const email = freshEmail()
    const { browser } = await signUp(service().base, { email })
    const other = makeBrowser(service().base)
    const third = makeBrowser(service().base)
    for (const one of [other, third]) await one.call('POST', '/auth/sign-in', { body: { email, password: PASSWORD } })
    const { body } = await browser.call('GET', '/auth/sessions')
    expect(body.items.map(({ current }: { current: boolean }) => current)).toEqual([false, false, true])
    expect(JSON.stringify(body)).not.toContain('token')

    const stranger = (await signUp(service().base)).browser
    const path = `/auth/sessions/${body.items[1].session_id}`
    expect((await stranger.call('DELETE', path)).status).toBe(404)
    expect((await browser.call('DELETE', path)).status).toBe(204)
    expect((await browser.call('DELETE', path)).status).toBe(404)
    expect((await other.call('GET', '/auth/me')).status).toBe(401)

    expect((await browser.call('DELETE', '/auth/sessions?keep_current=true')).status).toBe(204)
    expect((await third.call('GET', '/auth/me')).status).toBe(401)
    expect((await browser.call('GET', '/auth/me')).status).toBe(200)
    const token = browser.cookies.get('heddle_session')!
    expect((await browser.call('DELETE', '/auth/sessions')).status).toBe(204)
    expect((await service().call('GET', '/auth/me', { headers: { cookie: `heddle_session=${token}` } })).status).toBe(
      401,
    )
  })

  test('end when they expire', async () => {
    const { browser, answer } = await signUp(service().base)
    await service().sql(
      `update sessions set expires_at = now() - interval '1 second' where user_id = (
      select user_id from users where email = $1)`,
      [answer.body.user.email],
    )
    expect((await browser.call('GET', '/auth/me')).status).toBe(401)
  })

  test('other than the current one end when the password changes, and a wrong current password changes nothing', async () => {
    const email = freshEmail()
    const { browser } = await signUp(service().base, { email })
    const other = makeBrowser(service().base)
    await other.call('POST', '/auth/sign-in', { body: { email, password: PASSWORD } })
    const change = (current_password: string) =>
      browser.call('POST', '/auth/password', { body: { current_password, new_password: 'a longer new one' } })
    expect((await change('wrong')).body.errors[0].path).toBe('/current_password')
    const common = { current_password: PASSWORD, new_password: 'iloveyou' }
    const refused = await browser.call('POST', '/auth/password', { body: common })
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/new_password'])
    expect((await change(PASSWORD)).status).toBe(204)
    expect((await browser.call('GET', '/auth/me')).status).toBe(200)
    expect((await other.call('GET', '/auth/me')).status).toBe(401)
    expect((await signIn({ email, password: PASSWORD })).status).toBe(401)
    expect((await signIn({ email, password: 'a longer new one' })).status).toBe(200)
  })
})
