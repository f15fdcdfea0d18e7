import { createHash, randomBytes } from 'node:crypto'
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { type Browser, signUp } from '#test/harness/browser'
import { type Answer, useService } from '#test/harness/service'

// Programs that a person allows to call /mcp: first with the flow of the official client, then by hand for programs
// that misbehave.

const CALLBACK = 'http://127.0.0.1:8123/callback'

const service = useService()
let ann: Browser
let mcp: URL
beforeAll(async () => {
  ann = (await signUp(service().base, { workspace_name: 'Mill' })).browser
  mcp = new URL('/mcp', service().base)
  await makeTool('Say hello')
})

async function makeTool(name: string): Promise<void> {
  const definition = {
    nodes: [{ id: 'n', type: 'set', args: { values: { a: 1 } } }],
    edges: [],
    output: { hello: 'you' },
  }
  const made = await ann.call('POST', '/api/workflows', { body: { name, definition, settings: { mcp_tool: true } } })
  expect(made.status, made.text).toBe(201)
}

/** The stored state of a program, and the person who decides for the program in a browser. */
function makeProgram() {
  const kept: { client?: OAuthClientInformationFull; tokens?: OAuthTokens; verifier?: string; code?: string } = {}
  const provider: OAuthClientProvider = {
    redirectUrl: CALLBACK,
    clientMetadata: { redirect_uris: [CALLBACK], client_name: 'Loom Desk' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client as OAuthClientInformationFull
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    codeVerifier: () => kept.verifier!,
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    redirectToAuthorization: async (url) => {
      expect(url.pathname).toBe('/oauth/authorize')
      const seen = await ann.call('GET', `/api/oauth/authorization${url.search}`)
      expect(seen.body).toMatchObject({
        client_name: 'Loom Desk',
        redirect_to: '127.0.0.1:8123',
        workflows: [{ name: 'Say hello', workflow_id: expect.stringMatching(/^wf_/) }],
      })
      const body = { ...Object.fromEntries(url.searchParams), decision: 'allow' }
      const decided = await ann.call('POST', '/api/oauth/authorization', { body })
      const back = new URL(decided.body.redirect_url)
      expect(back.origin + back.pathname).toBe(CALLBACK)
      expect(back.searchParams.get('iss')).toBe(service().base)
      kept.code = back.searchParams.get('code')!
    },
  }
  return { kept, provider }
}

async function connect(provider: OAuthClientProvider): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(mcp, { authProvider: provider }) as never)
  return client
}

/** Runs the whole flow of the official client: it is refused, discovers the server, registers, and gets a code. */
async function authorized() {
  const { kept, provider } = makeProgram()
  expect(await auth(provider, { serverUrl: mcp })).toBe('REDIRECT')
  expect(await auth(provider, { serverUrl: mcp, authorizationCode: kept.code! })).toBe('AUTHORIZED')
  return { kept, provider }
}

const form = (path: string, fields: Record<string, string>): Promise<Answer> =>
  service().call('POST', path, {
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
const ping = (token: string | undefined) =>
  service().call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    headers: { accept: 'application/json, text/event-stream' },
    ...(token !== undefined && { token }),
  })
const refresh = ({ client, tokens }: { client?: OAuthClientInformationFull; tokens?: OAuthTokens }) =>
  form('/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: tokens!.refresh_token!,
    client_id: client!.client_id,
  })

describe('the official client', () => {
  test('is refused with the address of the metadata, and returns with a token for /mcp', async () => {
    const refused = await ping(undefined)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer resource_metadata="${service().base}/.well-known/oauth-protected-resource/mcp"`,
    ])
    const { kept, provider } = makeProgram()
    await expect(connect(provider)).rejects.toThrow()
    expect(await auth(provider, { serverUrl: mcp, authorizationCode: kept.code! })).toBe('AUTHORIZED')
    const client = await connect(provider)
    const { tools } = await client.listTools()
    expect(tools.map(({ title }) => title)).toEqual(['Say hello'])
    const called = await client.callTool({ name: tools[0]!.name, arguments: {} })
    expect(called.structuredContent).toEqual({ hello: 'you' })
    await client.close()
  })

  test('refreshes its token by itself when the token has expired', async () => {
    const { kept, provider } = await authorized()
    const before = kept.tokens!
    await service().sql(`update api_keys set expires_at = now() where grant_id is not null`)
    const client = await connect(provider)
    expect((await client.listTools()).tools).toHaveLength(1)
    expect(kept.tokens!.access_token).not.toBe(before.access_token)
    expect(kept.tokens!.refresh_token).not.toBe(before.refresh_token)
    await client.close()
  })
})

describe('a token', () => {
  test('gives access to /mcp in its workspace and to nothing else, and is not listed as an API key of the person', async () => {
    const { kept } = await authorized()
    const token = kept.tokens!.access_token
    expect((await ping(token)).status).toBe(200)
    for (const path of ['/api/workflows', '/api/notifications', '/auth/api-keys', '/api/oauth/grants'])
      expect((await service().call('GET', path, { token })).status).toBe(403)
    const made = await service().call('POST', '/auth/api-keys', { token, body: { name: 'More' } })
    expect(made.status).toBe(403)
    const keys = await ann.call('GET', '/auth/api-keys')
    expect(keys.body.items).toEqual([])
  })

  test('for refreshing works once: a second use revokes the whole grant', async () => {
    const { kept } = await authorized()
    const fresh = await refresh(kept)
    expect(fresh.body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'mcp:run' })
    expect((await ping(fresh.body.access_token)).status).toBe(200)
    const again = await refresh(kept)
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant'])
    for (const token of [fresh.body.access_token, kept.tokens!.access_token])
      expect((await ping(token)).status).toBe(401)
    const later = await refresh({ client: kept.client!, tokens: fresh.body })
    expect(later.body.error).toBe('invalid_grant')
  })

  test('that is refreshed several times at once yields at most one new pair', async () => {
    const { kept } = await authorized()
    const answers = await Promise.all([refresh(kept), refresh(kept), refresh(kept)])
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    for (const { body } of answers) if (body.access_token) expect((await ping(body.access_token)).status).toBe(401)
  })

  test('that is revoked ends the grant, but only if its own program revokes it', async () => {
    const { kept } = await authorized()
    const other = await authorized()
    const token = kept.tokens!.access_token
    await form('/oauth/revoke', { token, client_id: other.kept.client!.client_id })
    expect((await ping(token)).status).toBe(200)
    const revoked = await form('/oauth/revoke', { token, client_id: kept.client!.client_id })
    expect([revoked.status, (await ping(token)).status]).toEqual([200, 401])
    expect((await refresh(kept)).body.error).toBe('invalid_grant')
    expect((await form('/oauth/revoke', { token: 'nothing', client_id: 'oac_x' })).status).toBe(200)
  })

  test('ends when the person deletes the grant, and no other user can delete the grant', async () => {
    const { kept } = await authorized()
    const { items } = (await ann.call('GET', '/api/oauth/grants?limit=200')).body
    expect(items[0]).toMatchObject({ client_name: 'Loom Desk', last_used_at: expect.any(String) })
    expect((await ann.call('DELETE', `/api/oauth/grants/${items[0].grant_id}`)).status).toBe(204)
    expect((await ping(kept.tokens!.access_token)).status).toBe(401)
    expect((await ann.call('GET', `/api/oauth/grants/${items[0].grant_id}`)).status).toBe(404)
    const bob = (await signUp(service().base, { workspace_name: 'Other' })).browser
    const other = (await ann.call('GET', '/api/oauth/grants')).body.items[0]
    expect((await bob.call('GET', '/api/oauth/grants')).body.items).toEqual([])
    expect((await bob.call('DELETE', `/api/oauth/grants/${other.grant_id}`)).status).toBe(404)
  })
})

/** Registers a program and requests authorization by hand. */
async function asked(more: Record<string, string> = {}, redirect_uris = [CALLBACK]) {
  const verifier = randomBytes(32).toString('base64url')
  const registered = await service().call('POST', '/oauth/register', { body: { redirect_uris, client_name: 'Tool' } })
  const request = {
    client_id: registered.body.client_id as string,
    redirect_uri: redirect_uris[0]!,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'a state & more',
    ...more,
  }
  const decide = (decision: string, by: Browser = ann) =>
    by.call('POST', '/api/oauth/authorization', { body: { ...request, decision } })
  const take = async () => {
    const back = new URL((await decide('allow')).body.redirect_url)
    return back.searchParams.get('code')!
  }
  const exchange = (code: string, fields: Record<string, string> = {}) =>
    form('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      client_id: request.client_id,
      redirect_uri: request.redirect_uri,
      code_verifier: verifier,
      ...fields,
    })
  return { request, decide, take, exchange }
}

test('a person can allow at most a hundred programs, even with simultaneous requests', async () => {
  const { browser, answer } = await signUp(service().base, { workspace_name: 'Many' })
  const { decide, request } = await asked()
  await service().sql(
    `insert into oauth_grants (workspace_id, grant_id, client_id, user_id, resource)
     select workspace_id, gen_random_uuid(), $2, user_id, 'x' from memberships, generate_series(1, 98) where user_id = $1`,
    [fromWire('usr', answer.body.user.user_id), fromWire('oac', request.client_id)],
  )
  const answers = await Promise.all(Array.from({ length: 6 }, () => decide('allow', browser)))
  const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length
  expect([count(200), count(409)]).toEqual([2, 4])
})

describe('a code', () => {
  test('is returned with the state, and can be exchanged once', async () => {
    const { decide, exchange } = await asked()
    const back = new URL((await decide('allow')).body.redirect_url)
    expect(back.searchParams.get('state')).toBe('a state & more')
    const code = back.searchParams.get('code')!
    const { body } = await exchange(code)
    expect((await ping(body.access_token)).status).toBe(200)
    expect((await exchange(code)).body.error).toBe('invalid_grant')
    expect((await ping(body.access_token)).status).toBe(401)
  })

  test.each<[string, Record<string, string>, string]>([
    ['another verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['another address', { redirect_uri: 'http://127.0.0.1:8123/other' }, 'invalid_grant'],
    ['another program', { client_id: 'oac_01kf3v6h2he3wtpk1fw5c0wz9d' }, 'invalid_grant'],
    ['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['another kind of grant', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('with %s is refused', async (_what, fields, error) => {
    const { take, exchange } = await asked()
    const refused = await exchange(await take(), fields)
    expect([refused.status, refused.body.error]).toEqual([400, error])
  })

  test('expires after five minutes', async () => {
    const { take, exchange } = await asked()
    const code = await take()
    await service().sql(`update oauth_tokens set expires_at = now() where kind = 'code' and used_at is null`)
    expect((await exchange(code)).body.error).toBe('invalid_grant')
  })

  test('is not created if the person denies the request, nor for an API key', async () => {
    const { decide, request } = await asked()
    const denied = new URL((await decide('deny')).body.redirect_url)
    expect(Object.fromEntries(denied.searchParams)).toMatchObject({ error: 'access_denied', state: 'a state & more' })
    const key = (await ann.call('POST', '/auth/api-keys', { body: { name: 'Key' } })).body
    const body = { ...request, decision: 'allow' }
    const refused = await service().call('POST', '/api/oauth/authorization', { token: key.key, body })
    expect(refused.status).toBe(409)
    await ann.call('DELETE', `/auth/api-keys/${key.key_id}`)
  })

  test.each<[string, Record<string, string>, string]>([
    ['an address that was not registered', { redirect_uri: 'https://evil.example/' }, '/redirect_uri'],
    ['an unknown program', { client_id: 'oac_01kf3v6h2he3wtpk1fw5c0wz9d' }, '/client_id'],
    ['another challenge method than S256', { code_challenge_method: 'plain' }, '/code_challenge_method'],
    ['an invalid challenge', { code_challenge: 'short' }, '/code_challenge'],
    ['another resource', { resource: 'https://other.example/mcp' }, '/resource'],
    ['the response type token', { response_type: 'token' }, '/response_type'],
  ])('is not made for %s', async (_what, more, path) => {
    const { decide, request } = await asked(more)
    const refused = await decide('allow')
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, path])
    const shown = await ann.call('GET', `/api/oauth/authorization?${new URLSearchParams(request)}`)
    expect(shown.status).toBe(422)
  })
})

describe('a registration', () => {
  test.each<[string, unknown, string]>([
    ['no address', { client_name: 'x' }, 'invalid_client_metadata'],
    ['too many addresses', { redirect_uris: Array(11).fill(CALLBACK) }, 'invalid_client_metadata'],
    ['a javascript: address', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['an http address of another host', { redirect_uris: ['http://shop.example/'] }, 'invalid_redirect_uri'],
  ])('with %s is refused', async (_what, body, error) => {
    const refused = await service().call('POST', '/oauth/register', { body })
    expect([refused.status, refused.body.error]).toEqual([400, error])
  })

  test('has a name without invisible characters, which could mislead', async () => {
    const client_name = `Safe\u202e\u200b\n${'x'.repeat(300)}`
    const { body } = await service().call('POST', '/oauth/register', {
      body: { redirect_uris: [CALLBACK], client_name },
    })
    expect(body.client_name).toBe(`Safe${'x'.repeat(96)}`)
  })

  test('that no person has used is deleted after a day', async () => {
    const { request } = await asked()
    const own = fromWire('oac', request.client_id)!
    const used = await authorized()
    await service().sql(`update oauth_clients set created_at = now() - interval '2 days' where client_id = any ($1)`, [
      [own, fromWire('oac', used.kept.client!.client_id)],
    ])
    await asked()
    const left = await service().sql(`select client_id from oauth_clients where created_at < now() - interval '1 day'`)
    expect(left).toEqual([{ client_id: fromWire('oac', used.kept.client!.client_id) }])
  })

  test('is accepted when the limit of unused registrations is reached: the oldest of them is deleted', async () => {
    const used = fromWire('oac', (await authorized()).kept.client!.client_id)
    await service().sql(`update oauth_clients set created_at = now() - interval '2 hours' where client_id = $1`, [used])
    await service().sql(
      `insert into oauth_clients (client_id, name, redirect_uris, created_at)
       select uuidv7(), 'x' || n, '{}', now() - interval '1 hour' + n * interval '1 ms' from generate_series(1, 10000) n`,
    )
    const { request } = await asked()
    const kept = async (where: string, value: unknown) =>
      (await service().sql(`select from oauth_clients where ${where} = $1`, [value])).length
    expect([await kept('name', 'x1'), await kept('name', 'x10000')]).toEqual([0, 1])
    expect([await kept('client_id', used), await kept('client_id', fromWire('oac', request.client_id))]).toEqual([1, 1])
    const [unused] = await service().sql<{ n: number }>(
      `select count(*)::integer as n from oauth_clients c where not exists (select from oauth_grants g where g.client_id = c.client_id)`,
    )
    expect(unused!.n).toBe(10_000)
    await service().sql(`delete from oauth_clients where redirect_uris = '{}'`)
  })
})

test('expired tokens and grants are deleted', async () => {
  const { kept } = await authorized()
  await service().sql(`update oauth_grants set created_at = now() - interval '2 hours'`)
  await service().sql(`update oauth_tokens set expires_at = now()`)
  await service().sql(`select forget_oauth_tokens(1000)`)
  expect((await ping(kept.tokens!.access_token)).status).toBe(200)
  await service().sql(`update api_keys set expires_at = now() - interval '1 second' where grant_id is not null`)
  await service().sql(`select forget_oauth_tokens(1000)`)
  const [left] = await service().sql<{ n: number }>(`select count(*)::integer as n from oauth_grants`)
  expect(left!.n).toBe(0)
})
