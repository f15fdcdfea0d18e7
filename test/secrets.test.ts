import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { freshEmail, makeBrowser } from './harness/browser.ts'
import { makeTestDatabase, type TestDatabase } from './harness/postgres.ts'
import { type Program, startProgram } from './harness/program.ts'
import { dumpDatabase } from './harness/secrets.ts'
import { type Answer, call } from './harness/service.ts'
import { makeTemporaryDirectory } from './harness/temporary.ts'
import { until } from './harness/until.ts'

// Invariant: a secret is sent where it belongs and appears nowhere else. The real program, with its most detailed log,
// gets one secret of each kind. Then the test searches its log, every text in its database, and its later responses for
// them.

const masterKey = randomBytes(32).toString('base64')
let database: TestDatabase
let program: Program
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let base: string

beforeAll(async () => {
  database = await makeTestDatabase()
  directory = await makeTemporaryDirectory()
  program = startProgram({
    DATABASE_URL: database.superuserUrl,
    HEDDLE_DATA_DIR: directory.path,
    HEDDLE_SECRET_KEY: masterKey,
    HEDDLE_LOG_LEVEL: 'trace',
    HEDDLE_DEMO: 'off',
    HEDDLE_OPERATORS: 'operator@example.com',
    LLM_PROVIDER: 'openai',
    LLM_MODEL: 'm',
    LLM_BASE_URL: 'http://127.0.0.1:9/v1',
    LLM_API_KEY: 'llm-key-0123456789',
    STRIPE_SECRET_KEY: 'stripe-key-0123456789',
    STRIPE_WEBHOOK_SECRET: 'stripe-hook-0123456789',
    STRIPE_API_BASE: 'http://127.0.0.1:9',
    ODDS_API_KEY: 'odds-key-0123456789',
    ODDS_API_BASE: 'http://127.0.0.1:9',
  })
  base = await program.ready
})
afterAll(async () => {
  await program?.stop()
  await database?.drop()
  await directory?.remove()
})

test('no secret is in the log, the database or a later response', async () => {
  const browser = makeBrowser(base)
  const password = 'correct horse battery 42'
  const email = freshEmail()
  const signedUp = await browser.call('POST', '/auth/sign-up', { body: { email, password, name: 'Ann' } })
  expect(signedUp.status, signedUp.text).toBe(201)
  const session = browser.cookies.get('heddle_session')!
  const idempotent = (key: string) => ({ 'idempotency-key': key })
  const made = async (path: string, body: unknown, key = path): Promise<Answer['body']> => {
    const answer = await browser.call('POST', path, { body, headers: idempotent(key.replaceAll(/\W/g, '-')) })
    expect(answer.status, `${path}: ${answer.text}`).toBe(201)
    return answer.body
  }
  const definition = { nodes: [{ id: 'a', type: 'wait', args: { for_s: 600 } }], edges: [] }
  const { key } = await made('/auth/api-keys', { name: 'K' })
  const { workflow_id } = await made('/api/workflows', { name: 'W', definition })
  const { token: webhook } = await made(`/api/workflows/${workflow_id}/tokens`, {})
  const { token: embed } = await made(`/api/workflows/${workflow_id}/embed-tokens`, {})
  const { template_id } = await made('/api/templates', { name: 'T', workflow_ids: [workflow_id] })
  const { token: template } = await made(`/api/templates/${template_id}/embed-tokens`, {})
  const channel = {
    bot_token: `xoxb-${randomBytes(12).toString('hex')}`,
    signing_secret: randomBytes(16).toString('hex'),
  }
  await made('/api/gateway/channels', { channel: 'slack', external_id: 'T1', template_id, credentials: channel })
  const invited = await made(`/api/workspaces/${signedUp.body.workspace.workspace_id}/members/invite`, {
    email: freshEmail(),
  })
  const invitation = /\/invitations\/(\S+)$/.exec(invited.link)![1]!
  const started = await call(base, 'POST', `/api/webhooks/workflow/${workflow_id}/trigger`, {
    token: webhook,
    body: {},
  })
  expect(started.status, started.text).toBe(202)
  const { ticket } = await made(`/auth/workflow-ticket/${started.body.execution_id}`, {})
  const config = await call(base, 'GET', `/api/embed/template/${template_id}/config`, { token: template })
  expect(config.status, config.text).toBe(200)
  const warehouse = randomBytes(12).toString('hex')

  // Failures are logged: wrong passwords, unreachable hosts, refused keys, broken bodies.
  await browser.call('POST', '/auth/sign-in', { body: { email, password: `${password}!` } })
  await browser.call('POST', '/auth/sign-up', { body: { email, password, name: 'Again' } })
  await browser.call('POST', '/api/connections', {
    body: {
      name: 'C',
      kind: 'postgres',
      config: { host: 'db.invalid', database: 'd', user: 'u' },
      secrets: { password: warehouse },
    },
  })
  await browser.call('POST', '/api/payments/setup-intent')
  await browser.call('POST', '/api/workflows/odds', { body: { date: '2026-01-31' } })
  await browser.call('POST', '/api/workflows/extract-requirements', {
    body: { message: 'x', requirements: [{ name: 'a', description: 'b', schema: { type: 'string' }, required: true }] },
  })
  await call(base, 'GET', `/api/workflows?token=${key}`)
  await call(base, 'GET', '/auth/me', { token: `${key}x` })
  await call(base, 'POST', `/api/webhooks/workflow/${workflow_id}/trigger?token=${webhook}`)
  await call(base, 'POST', `/auth/invitations/${invitation}/accept`, { raw: '{"name":' })
  await call(base, 'POST', '/api/payments/webhooks/stripe', { body: {}, headers: { 'stripe-signature': 't=1,v1=x' } })
  const replayed = await browser.call('POST', '/auth/api-keys', {
    body: { name: 'K' },
    headers: idempotent('-auth-api-keys'),
  })
  expect(replayed.body.key).toBe(key)

  const secrets: Record<string, string> = {
    password,
    session,
    key,
    webhook,
    embed,
    template,
    invitation,
    ticket,
    warehouse,
    visitor: config.body.visitor_token,
    bot: channel.bot_token,
    signing: channel.signing_secret,
    llm: 'llm-key-0123456789',
    stripe: 'stripe-key-0123456789',
    stripeHook: 'stripe-hook-0123456789',
    odds: 'odds-key-0123456789',
    masterKey,
    database: new URL(inject('postgres').superuserUrl).password,
  }
  for (const [what, value] of Object.entries(secrets)) expect([what, value.length > 8]).toEqual([what, true])

  // Mails that have not been sent contain the links of invitations.
  const stored = await dumpDatabase(await database.superuser(), { without: ['mail_outbox'] })
  expect(stored).toContain(fromWire('wf', workflow_id))
  // bytea is shown as hexadecimal, so the test searches for that encoding too.
  const inHex = (value: string): string => Buffer.from(value).toString('hex')
  const found = Object.entries(secrets).filter(([, value]) => stored.includes(value) || stored.includes(inHex(value)))
  // Embed tokens are in public pages and are shown to their owners again.
  expect(found.map(([what]) => what)).toEqual(['embed', 'template'])

  for (const path of [
    '/auth/me',
    '/auth/api-keys',
    '/auth/sessions',
    '/api/audit-log',
    '/api/workflows',
    `/api/workflows/${workflow_id}/tokens`,
    `/api/workflows/${workflow_id}/embed-tokens`,
    `/api/templates/${template_id}/embed-tokens`,
    '/api/gateway/channels',
    '/api/connections',
    '/api/notifications',
    `/api/workspaces/${signedUp.body.workspace.workspace_id}/invitations`,
    '/metrics',
    '/openapi.json',
    '/readyz',
  ]) {
    const { text } = await browser.call('GET', path)
    const shown = Object.entries(secrets).filter(([, value]) => text.includes(value))
    expect([path, shown.map(([what]) => what)]).toEqual([path, []])
  }

  await until(async () => program.output().includes('heddle ready'), 'the ready line')
  await program.stop()
  const { errors } = await program.ended
  expect(errors.length).toBeGreaterThan(100)
  const logged = Object.entries(secrets).filter(([, value]) => errors.includes(value))
  expect(logged.map(([what]) => what)).toEqual([])
})
