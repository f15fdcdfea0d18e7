import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startVendor, type Vendor } from './fakes/vendor.ts'
import { makeBrowser, signUp } from './harness/browser.ts'
import { type Program, startProgram } from './harness/program.ts'
import { dumpDatabase, spellings } from './harness/secrets.ts'
import { makeTemporaryDirectory } from './harness/temporary.ts'
import { until } from './harness/until.ts'

// Invariant: the secret of a credential is sent to its hosts and appears nowhere else. The real program, with its most
// detailed log, calls a service that repeats every request in all common encodings, in its headers, bodies, errors and
// redirects. Then the test searches everything that can be read for the secret.

const name = `never_out_${randomBytes(4).toString('hex')}`
const SECRET = `sk/live+${randomBytes(9).toString('base64')}&"q"`
const PASSWORD = `pässword ${randomBytes(6).toString('hex')}`
let admin: pg.Client
let database: pg.Client
let program: Program
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let vendor: Vendor
let elsewhere: Vendor
let base: string

const all = [...spellings(SECRET), ...spellings(PASSWORD)]
const foundIn = (text: string): string[] => all.filter((spelling) => text.includes(spelling))

const echo: Vendor['answer'] = (request, response) => {
  const sent = `${request.headers.authorization ?? ''} ${request.headers['x-api-key'] ?? ''} ${request.path}`
  const value = SECRET
  const body = {
    sent,
    value,
    basic: request.headers.authorization,
    encoded: encodeURIComponent(value),
    base64: [0, 1, 2].map((offset) => Buffer.from('u'.repeat(offset) + value).toString('base64')),
    hex: Buffer.from(value).toString('hex'),
    password: PASSWORD,
    [value]: 'as a key',
  }
  const headers = {
    'content-type': 'application/json',
    'x-echo': Buffer.from(value).toString('base64'),
    'set-cookie': `session=${encodeURIComponent(value)}`,
  }
  if (request.path.startsWith('/redirect'))
    return void response.writeHead(307, { location: `${elsewhere.url}/caught?k=${encodeURIComponent(value)}` }).end()
  if (request.path.startsWith('/broken')) return void response.destroy()
  response.writeHead(request.path.startsWith('/refuse') ? 400 : 200, headers).end(JSON.stringify(body))
}

beforeAll(async () => {
  vendor = await startVendor()
  elsewhere = await startVendor()
  vendor.answer = echo
  const { superuserUrl } = inject('postgres')
  admin = new pg.Client(superuserUrl)
  await admin.connect()
  await admin.query(`create database ${name}`)
  const DATABASE_URL = Object.assign(new URL(superuserUrl), { pathname: `/${name}` }).href
  directory = await makeTemporaryDirectory()
  program = startProgram({
    DATABASE_URL,
    HEDDLE_DATA_DIR: directory.path,
    HEDDLE_LOG_LEVEL: 'trace',
    HEDDLE_DEMO: 'off',
    HEDDLE_ALLOW_TARGETS: `${vendor.host},${elsewhere.host}`,
  })
  base = await program.ready
  database = new pg.Client(DATABASE_URL)
  await database.connect()
})
afterAll(async () => {
  await program?.stop()
  await database?.end()
  await admin?.query(`drop database if exists ${name} with (force)`)
  await admin?.end()
  await directory?.remove()
  await vendor?.stop()
  await elsewhere?.stop()
})

test('a secret that its service repeats in every encoding is found nowhere', async () => {
  const { browser } = await signUp(base)
  const read: string[] = []
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await browser.call(method, path, body === undefined ? {} : { body })
    read.push(answer.text, JSON.stringify([...answer.headers]))
    return answer
  }
  const store = async (more: object): Promise<string> => {
    const made = await call('POST', '/api/credentials', { name: 'C', hosts: [vendor.host], ...more })
    expect(made.status, made.text).toBe(201)
    return made.body.credential_id
  }
  const end = (execution_id: string) =>
    until(async () => {
      const answer = await call('GET', `/api/workflows/executions/${execution_id}`)
      return answer.body.finished_at !== null && answer.body
    }, 'the end of the execution')
  const bearer = await store({ kind: 'bearer', secrets: { token: SECRET } })
  const credentials = [
    bearer,
    await store({ kind: 'header', config: { name: 'X-Api-Key' }, secrets: { value: SECRET } }),
    await store({ kind: 'query', config: { name: 'key' }, secrets: { value: SECRET } }),
    await store({ kind: 'basic', config: { username: 'ann' }, secrets: { password: PASSWORD } }),
  ]
  // Each kind of credential gets only its own secret repeated, because it cannot mask a secret that it does not know.
  for (const [at, credential_id] of credentials.entries()) {
    vendor.answer = (request, response) =>
      at === 3
        ? void response
            .writeHead(200, { 'content-type': 'text/plain' })
            .end(`${request.headers.authorization} ${PASSWORD}`)
        : echo(request, response)
    for (const path of at === 3 ? ['/ok'] : ['/ok', '/refuse', '/redirect', '/broken']) {
      const definition = {
        nodes: [
          {
            id: 'call',
            type: 'http.request',
            args: { url: `${vendor.url}${path}`, credential_id },
            retry: { max_attempts: 2, backoff_s: 1 },
          },
          { id: 'copy', type: 'set', args: { values: { all: { $ref: 'nodes.call.output' } } } },
        ],
        edges: [{ from: { node: 'call' }, to: 'copy' }],
        output: { $ref: 'nodes.copy.output' },
      }
      if (at !== 3) vendor.answer = maskable
      const made = await call('POST', '/api/workflows', { name: `W${path}`, definition })
      expect(made.status, made.text).toBe(201)
      const { workflow_id } = made.body
      const ran = await call('POST', `/api/workflows/${workflow_id}/run?wait_s=60`, { input: {} })
      const { execution_id } = ran.body
      const ended = await end(execution_id)
      expect([path, ended.status]).toEqual([path, path === '/ok' || path === '/redirect' ? 'succeeded' : 'failed'])
      await call('GET', `/api/workflows/executions/${execution_id}/events?limit=200`)
      expect((await call('GET', `/api/workflows/executions/${execution_id}/receipt`)).status).toBe(200)
      await call('GET', `/api/workflows/${workflow_id}/versions`)
      // The calls must end before the vendor's response changes: a later response contains a password that this
      // credential does not know.
      const retried = await call('POST', `/api/workflows/executions/${execution_id}/retry`, {})
      if (retried.status < 300) await end(retried.body.execution_id)
    }
    await call('POST', `/api/credentials/${credential_id}/test`, { url: `${vendor.url}/refuse` })
    await call('GET', `/api/credentials/${credential_id}/usage`)
  }
  expect(vendor.seen.some(({ headers }) => headers.authorization === `Bearer ${SECRET}`)).toBe(true)
  for (const path of ['/api/credentials', '/api/notifications', '/api/audit-log', '/metrics', '/api/credential-kinds'])
    await call('GET', path)
  await makeBrowser(base).call('GET', '/openapi.json')
  expect(foundIn(read.join('\n'))).toEqual([])
  expect(foundIn(JSON.stringify(elsewhere.seen))).toEqual([])
  expect(elsewhere.seen.length).toBeGreaterThan(0)
  const stored = await dumpDatabase(database)
  expect(stored).toContain('•••')
  expect(foundIn(stored)).toEqual([])
  await program.stop()
  const { errors } = await program.ended
  expect(errors.length).toBeGreaterThan(100)
  expect(foundIn(errors + program.output())).toEqual([])
})

/** As `echo`, without the password, which the other credentials do not know. */
const maskable: Vendor['answer'] = (request, response) => {
  const write = response.end.bind(response)
  response.end = ((body?: string) => write(body?.replaceAll(JSON.stringify(PASSWORD).slice(1, -1), ''))) as never
  echo(request, response)
}
