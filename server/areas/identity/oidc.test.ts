import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { client, type OpenIdProvider, startOpenIdProvider } from '#test/fakes/openid-provider'
import { type Browser, freshEmail, makeBrowser, PASSWORD, signUp } from '#test/harness/browser'
import { fiftyTimes } from '#test/harness/fifty-times'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeWorld } from '#test/harness/world'

let provider: OpenIdProvider
let open: Service
let closed: Service
let redirects: Record<'open' | 'closed', string>

/** The provider must know the redirect address before the service is started. */
async function freeAddress(): Promise<{ url: string; port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return { url: `http://127.0.0.1:${port}`, port }
}

beforeAll(async () => {
  // The configured address differs from the listening address, because only the settings determine the redirect
  // address.
  const [one, two] = [await freeAddress(), await freeAddress()]
  redirects = { open: `${one.url}/auth/oidc/corp/callback`, closed: `${two.url}/auth/oidc/corp/callback` }
  provider = await startOpenIdProvider([redirects.open, redirects.closed])
  const env = {
    HEDDLE_OIDC: JSON.stringify([{ id: 'corp', title: 'Corp', issuer: provider.issuer, ...client }]),
    HEDDLE_OPERATORS: 'op@example.com',
  }
  open = await startService({ env: { ...env, HEDDLE_BASE_URL: one.url } })
  closed = await startService({ env: { ...env, HEDDLE_BASE_URL: two.url, HEDDLE_SIGN_UP: 'invite' } })
})
afterAll(async () => {
  await open?.stop()
  await closed?.stop()
  await provider?.stop()
})

/** Follows the provider's redirects like a browser, up to the callback. */
async function visitProvider(start: string): Promise<URL> {
  const jar = makeBrowser(provider.issuer)
  let url = new URL(start)
  for (let hop = 0; hop < 10; hop++) {
    const answer = await jar.call('GET', url.pathname + url.search)
    const next = new URL(answer.headers.get('location')!, provider.issuer)
    if (next.origin !== provider.issuer) return next
    url = next
  }
  throw new Error('the provider never sent the browser back')
}

async function begin(browser: Browser, query = ''): Promise<URL> {
  const start = await browser.call('GET', `/auth/oidc/corp/start${query}`)
  expect(start.status).toBe(302)
  return visitProvider(start.headers.get('location')!)
}
const comeBack = (browser: Browser, callback: URL, headers = {}): Promise<Answer> =>
  browser.call('GET', callback.pathname + callback.search, { headers })

async function signInWith(
  service: Service,
  account: Parameters<OpenIdProvider['become']>[0],
  browser = makeBrowser(service.base),
) {
  provider.become(account)
  return { browser, answer: await comeBack(browser, await begin(browser)) }
}

describe('sign-in with an OpenID provider', () => {
  test('is offered if a provider is configured', async () => {
    expect((await open.call('GET', '/auth/oidc')).body.items).toEqual([
      { provider: 'corp', title: 'Corp', start_url: '/auth/oidc/corp/start', linked: false },
    ])
    expect((await open.call('GET', '/auth/oidc/other/start')).status).toBe(404)
    expect((await open.call('GET', '/auth/oidc/other/callback?state=x')).status).toBe(404)
  })

  test('redirects the browser with state, nonce and PKCE, and binds them to the browser', async () => {
    const start = await open.call('GET', '/auth/oidc/corp/start')
    const target = new URL(start.headers.get('location')!)
    expect(target.origin).toBe(provider.issuer)
    expect(target.searchParams.get('redirect_uri')).toBe(redirects.open)
    expect(target.searchParams.get('code_challenge_method')).toBe('S256')
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(target.searchParams.get(name)!.length).toBeGreaterThan(40)
    expect(start.headers.getSetCookie()[0]).toMatch(
      /^heddle_oidc=[\w-]{43}; Path=\/auth\/oidc; Max-Age=600; HttpOnly; SameSite=Lax/,
    )
    expect((await open.call('GET', '/auth/oidc/corp/start')).headers.get('location')).not.toBe(target.href)
  })

  test('creates an account the first time and finds it later by its subject, even if the address changes', async () => {
    const email = freshEmail()
    const { browser, answer } = await signInWith(open, {
      sub: 'ann',
      email: email.toUpperCase(),
      email_verified: true,
      name: 'Ann',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/'])
    const me = await browser.call('GET', '/auth/me')
    expect(me.body).toMatchObject({ user: { email, name: 'Ann' }, workspaces: [{ role: 'owner' }] })
    expect(browser.cookies.has('heddle_oidc')).toBe(false)
    const again = await signInWith(open, { sub: 'ann', email: freshEmail(), email_verified: true, name: 'Ann' })
    expect((await again.browser.call('GET', '/auth/me')).body.user).toEqual(me.body.user)
    expect((await open.call('POST', '/auth/sign-in', { body: { email, password: PASSWORD } })).body.code).toBe(
      'bad_credentials',
    )
  })

  test('works once: a repeated callback and fifty simultaneous ones are refused', async () => {
    provider.become({ sub: 'bob', email: freshEmail(), email_verified: true })
    const browser = makeBrowser(open.base)
    const callback = await begin(browser)
    const cookie = `heddle_oidc=${browser.cookies.get('heddle_oidc')}`
    const answers = await fiftyTimes(() =>
      open.call('GET', callback.pathname + callback.search, { headers: { cookie } }),
    )
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1)
    expect(new Set(answers.filter(({ status }) => status !== 302).map(({ body }) => body.code))).toEqual(
      new Set(['sign_in_failed']),
    )
  })

  test('is bound to the browser that started it, to its state and to its time', async () => {
    provider.become({ sub: 'eve', email: freshEmail(), email_verified: true })
    const attacker = makeBrowser(open.base)
    const victim = makeBrowser(open.base)
    const callback = await begin(attacker)
    expect((await comeBack(victim, callback)).body.code).toBe('sign_in_failed')
    await begin(victim)
    expect((await comeBack(victim, callback)).body.code).toBe('sign_in_failed')
    expect(victim.cookies.has('heddle_session')).toBe(false)

    for (const query of ['', '?state=', '?code=x', '?state=a&state=b'])
      expect((await attacker.call('GET', `/auth/oidc/corp/callback${query}`)).status).toBeGreaterThanOrEqual(400)

    const late = makeBrowser(open.base)
    const lateCallback = await begin(late)
    await open.sql(`update oidc_attempts set expires_at = now() - interval '1 second'`)
    expect((await comeBack(late, lateCallback)).body.code).toBe('sign_in_failed')
  })

  test('refuses a code of another attempt, by PKCE and nonce', async () => {
    provider.become({ sub: 'mallory', email: freshEmail(), email_verified: true })
    const [one, two] = [makeBrowser(open.base), makeBrowser(open.base)]
    const [first, second] = [await begin(one), await begin(two)]
    second.searchParams.set('code', first.searchParams.get('code')!)
    expect((await comeBack(two, second)).body.code).toBe('sign_in_failed')
  })

  test('returns to the sign-in page if the person declines', async () => {
    const browser = makeBrowser(open.base)
    const start = await browser.call('GET', '/auth/oidc/corp/start')
    const state = new URL(start.headers.get('location')!).searchParams.get('state')
    const answer = await browser.call(
      'GET',
      `/auth/oidc/corp/callback?error=access_denied&state=${state}&iss=${encodeURIComponent(provider.issuer)}`,
      {
        headers: { accept: 'text/html' },
      },
    )
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/sign-in?error=sign_in_failed'])
  })

  test('ends the previous session of the browser', async () => {
    const { browser } = await signUp(open.base)
    const before = browser.cookies.get('heddle_session')!
    await signInWith(open, { sub: 'carl', email: freshEmail(), email_verified: true }, browser)
    expect((await open.call('GET', '/auth/me', { headers: { cookie: `heddle_session=${before}` } })).status).toBe(401)
  })

  test('returns only to paths of the service', async () => {
    for (const path of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a\nb', 'javascript:alert(1)'])
      expect((await open.call('GET', `/auth/oidc/corp/start?return_to=${encodeURIComponent(path)}`)).status).toBe(422)
    provider.become({ sub: 'dora', email: freshEmail(), email_verified: true })
    const browser = makeBrowser(open.base)
    const answer = await comeBack(browser, await begin(browser, '?return_to=/workflows?a=b'))
    expect(answer.headers.get('location')).toBe('/workflows?a=b')
  })
})

describe('an address with an account', () => {
  test('is not taken over by a provider that claims it, but its person can link the provider', async () => {
    const email = freshEmail()
    const { browser } = await signUp(open.base, { email })
    const account = { sub: 'linked', email, email_verified: true }
    const taken = await signInWith(open, account)
    expect(taken.answer.body.code).toBe('already_exists')
    expect(taken.browser.cookies.has('heddle_session')).toBe(false)

    expect(
      (await browser.call('POST', '/auth/oidc/corp/link', { headers: { origin: 'https://evil.example' } })).status,
    ).toBe(403)
    const link = await browser.call('POST', '/auth/oidc/corp/link', { body: { return_to: '/settings' } })
    const back = await comeBack(browser, await visitProvider(link.body.url))
    expect([back.status, back.headers.get('location')]).toEqual([302, '/settings'])
    expect((await browser.call('GET', '/auth/oidc')).body.items[0].linked).toBe(true)
    const now = await signInWith(open, account)
    expect((await now.browser.call('GET', '/auth/me')).body.user.email).toBe(email)

    const other = (await signUp(open.base)).browser
    const stolen = await other.call('POST', '/auth/oidc/corp/link')
    expect((await comeBack(other, await visitProvider(stolen.body.url))).body.code).toBe('already_exists')

    expect((await browser.call('DELETE', '/auth/oidc/corp/link')).status).toBe(204)
    expect((await signInWith(open, account)).answer.body.code).toBe('already_exists')
  })

  test('cannot be unlinked from its only way to sign in', async () => {
    const { browser } = await signInWith(open, { sub: 'only', email: freshEmail(), email_verified: true })
    expect((await browser.call('DELETE', '/auth/oidc/corp/link')).status).toBe(409)
    expect((await browser.call('GET', '/auth/oidc')).body.items[0].linked).toBe(true)
  })

  test('of an operator is reserved, and a profile without an address is refused', async () => {
    expect(
      (await signInWith(open, { sub: 'op', email: 'op@example.com', email_verified: true })).answer.body.code,
    ).toBe('address_reserved')
    expect((await signInWith(open, { sub: 'faceless' })).answer.body.code).toBe('sign_in_failed')
  })
})

describe('closed sign-up', () => {
  test('accepts only an invited and verified address', async () => {
    const email = freshEmail()
    expect((await signInWith(closed, { sub: 'late', email, email_verified: true })).answer.body.code).toBe(
      'sign_up_closed',
    )
    const world = await makeWorld(closed)
    const invited = await world.owner.call('POST', `/api/workspaces/${world.workspace.id}/members/invite`, {
      body: { email },
    })
    expect((await signInWith(closed, { sub: 'late', email, email_verified: false })).answer.body.code).toBe(
      'sign_up_closed',
    )
    const { browser } = await signInWith(closed, { sub: 'late', email, email_verified: true })
    expect((await browser.call('GET', '/auth/me')).body.workspaces).toEqual([])
    const path = new URL(invited.body.link).pathname
    expect((await browser.call('POST', `/auth${path}/accept`)).status).toBe(200)
    expect((await browser.call('GET', '/auth/me')).body.workspaces[0].workspace_id).toBe(world.workspace.id)
  })
})
