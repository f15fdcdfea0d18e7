import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startVendor, type Vendor } from './fakes/vendor.ts'
import { type Browser, signUp } from './harness/browser.ts'
import { type Program, startProgram } from './harness/program.ts'
import { dumpDatabase, spellings } from './harness/secrets.ts'
import { openSocket } from './harness/socket.ts'
import { makeTemporaryDirectory } from './harness/temporary.ts'
import { until } from './harness/until.ts'

// Invariant: secrets of every kind of credential are sent to their hosts and leave the program in no other way: not
// through event destinations, sockets, suites, exports, receipts, mails, the command line, metrics, or a diagnostic
// report. The service in this test repeats everything it receives in every response.

const run = promisify(execFile)
const name = `never_out_${randomBytes(4).toString('hex')}`
const make = (label: string): string => `${label}/+${randomBytes(9).toString('base64')}&"`
const secrets = {
  bearer: make('bearer'),
  model: make('model'),
  tools: make('tools'),
  client: make('client'),
  token: make('token').replaceAll('"', ''),
  receiver: make('receiver'),
  refresh: make('refresh').replaceAll('"', ''),
  code: make('code').replaceAll('"', ''),
}
const all = Object.entries(secrets).flatMap(([kind, secret]) =>
  spellings(secret).map((spelling) => [kind, spelling] as const),
)
const foundIn = (text: string): string[] => [
  ...new Set(all.filter(([, spelling]) => text.includes(spelling)).map(([kind]) => kind)),
]

let admin: pg.Client
let database: pg.Client
let program: Program
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let vendor: Vendor
let receiver: Vendor
let base: string
let browser: Browser
const read: string[] = []

/**
 * Returns a response that repeats the request and the secret in every encoding, in headers and body, and split in two.
 */
function repeat(request: Vendor['seen'][number], secret: string) {
  const forms = [
    `${request.headers.authorization} ${request.body}`,
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    ...[0, 1, 2].map((offset) => Buffer.from('u'.repeat(offset) + secret).toString('base64')),
  ]
  const half = Math.floor(secret.length / 2)
  return {
    headers: { 'content-type': 'application/json', 'x-echo': Buffer.from(secret).toString('base64') },
    body: { forms, halves: { first: secret.slice(0, half), second: secret.slice(half) }, [secret]: 'as a key' },
  }
}

const answer: Vendor['answer'] = (request, response) => {
  const [, kind = '', what = ''] = request.path.split('/')
  if (kind === 'oauth') {
    const { headers, body } = repeat(request, secrets.client)
    if (what === 'refuse')
      return void response
        .writeHead(400, headers)
        .end(JSON.stringify({ error: 'invalid_client', error_description: body.forms.join(' ') }))
    return void response.writeHead(200, headers).end(
      JSON.stringify({
        access_token: secrets.token,
        refresh_token: secrets.refresh,
        token_type: 'Bearer',
        expires_in: 3600,
        ...body,
      }),
    )
  }
  const secret = secrets[kind as keyof typeof secrets] ?? secrets.bearer
  const { headers, body } = repeat(request, secret)
  if (kind === 'model' && what !== 'refuse') {
    const message = { role: 'assistant', content: body.forms.join(' ') }
    return void response.writeHead(200, headers).end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    )
  }
  response
    .writeHead(what === 'ok' ? 200 : 400, headers)
    .end(JSON.stringify({ error: { message: body.forms.join(' ') }, ...body }))
}

beforeAll(async () => {
  vendor = await startVendor()
  receiver = await startVendor()
  vendor.answer = answer
  receiver.answer = (_request, response) => response.writeHead(200).end(`thanks ${secrets.receiver}`)
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
    HEDDLE_ALLOW_TARGETS: `${vendor.host},${receiver.host}`,
    NODE_OPTIONS: `--report-on-signal --report-directory=${directory.path}`,
  })
  base = await program.ready
  database = new pg.Client(DATABASE_URL)
  await database.connect()
  browser = (await signUp(base)).browser
})
afterAll(async () => {
  await program?.stop()
  await database?.end()
  await admin?.query(`drop database if exists ${name} with (force)`)
  await admin?.end()
  await directory?.remove()
  await vendor?.stop()
  await receiver?.stop()
})

async function call(method: string, path: string, body?: unknown) {
  const given = await browser.call(method, path, body === undefined ? {} : { body })
  read.push(given.text, JSON.stringify([...given.headers]))
  return given
}
async function store(more: object): Promise<string> {
  const made = await call('POST', '/api/credentials', { name: 'C', hosts: [vendor.host], ...more })
  expect(made.status, made.text).toBe(201)
  return made.body.credential_id
}
const oauth = (what: string) =>
  store({
    kind: 'oauth2_client',
    config: { token_url: `${vendor.url}/oauth/${what}`, client_id: 'c' },
    secrets: { client_secret: secrets.client },
  })
/** Grants consent at the vendor as a person does, after which the browser returns with a code. */
async function consent(what: string): Promise<string> {
  const id = await store({
    kind: 'oauth2_code',
    config: {
      authorize_url: `${vendor.url}/consent`,
      token_url: `${vendor.url}/oauth/${what}`,
      client_id: 'c',
      scopes: ['orders'],
    },
    secrets: { client_secret: secrets.client },
  })
  const begun = await browser.call('POST', `/api/credentials/${id}/authorize`, { body: {} })
  expect(begun.status, begun.text).toBe(200)
  const { state } = Object.fromEntries(new URL(begun.body.url).searchParams)
  await call('GET', `/oauth/callback?code=${encodeURIComponent(secrets.code)}&state=${state}`)
  await call('GET', `/api/credentials/${id}`)
  return id
}
/** Sends a message from a visitor to an assistant that uses the model of a credential. */
async function chat(credential_id: string, workflow: string): Promise<void> {
  const template = await call('POST', '/api/templates', {
    name: 'T',
    workflow_ids: [workflow],
    allowed_origins: [],
    llm: { credential_id },
  })
  expect(template.status, template.text).toBe(201)
  const path = `/api/templates/${template.body.template_id}`
  const token = await browser.call('POST', `${path}/embed-tokens`, { body: {} })
  const said = await fetch(`${base}/api/embed/template/${template.body.template_id}/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.body.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'I want to order something for ann@example.com' }),
  })
  expect(said.status).toBe(200)
  read.push(await said.text())
}
/** Runs a workflow that fails, and waits until its error workflow has sent a mail about the failure. */
async function failAndMail(node: object): Promise<void> {
  const mail = {
    id: 'tell',
    type: 'mail.send',
    args: { to: 'someone@example.com', subject: 'Failed', text: { $cel: 'input.error.message' } },
  }
  const handler = await call('POST', '/api/workflows', { name: 'H', definition: { nodes: [mail], edges: [] } })
  const workflow = await save(node)
  const settings = { error_workflow_id: handler.body.workflow_id }
  expect((await call('PATCH', `/api/workflows/${workflow}`, { settings })).status).toBe(200)
  await call('POST', `/api/workflows/${workflow}/run`, { input: {} })
  await until(async () => {
    const { items } = (await call('GET', `/api/workflows/${handler.body.workflow_id}/executions`)).body
    return items[0]?.finished_at && (await call('GET', `/api/workflows/executions/${items[0].execution_id}`))
  }, 'the mail about the failure')
}
async function save(node: object, mailed?: string): Promise<string> {
  const nodes: object[] = [{ id: 'call', ...node }]
  if (mailed !== undefined)
    nodes.push({
      id: 'tell',
      type: 'mail.send',
      args: { to: 'someone@example.com', subject: 'Result', text: { $cel: mailed } },
    })
  const edges = mailed === undefined ? [] : [{ from: { node: 'call' }, to: 'tell' }]
  const definition = { nodes, edges, output: { $ref: 'nodes.call.output' } }
  const made = await call('POST', '/api/workflows', { name: 'W', definition })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const ended = (execution: string) =>
  until(async () => {
    const found = await call('GET', `/api/workflows/executions/${execution}`)
    return found.body.finished_at !== null && found.body
  }, 'the end of the execution')

async function execute(node: object, mailed?: string): Promise<{ workflow: string; status: string }> {
  const workflow = await save(node, mailed)
  const started = await call('POST', `/api/workflows/${workflow}/run`, { input: {} })
  const { execution_id } = started.body
  const ticket = await browser.call('POST', `/auth/workflow-ticket/${execution_id}`, { body: {} })
  const socket = openSocket(`${ticket.body.url}?after=0`, ticket.body.ticket)
  const { status } = await ended(execution_id)
  await until(
    async () => socket.frames.some(({ type }) => /^execution\.(succeeded|failed)$/.test(type)),
    'the end of the execution on the socket',
  )
  read.push(JSON.stringify(socket.frames))
  socket.socket.close()
  await call('GET', `/api/workflows/executions/${execution_id}/events?limit=200`)
  expect((await call('GET', `/api/workflows/executions/${execution_id}/receipt`)).status).toBe(200)
  await call('GET', `/api/workflows/${workflow}/versions`)
  return { workflow, status }
}

test('secrets of every kind are sent only to their hosts', async () => {
  const bearer = await store({ kind: 'bearer', secrets: { token: secrets.bearer } })
  const tools = await store({ kind: 'bearer', secrets: { token: secrets.tools } })
  const llm = (what: string) =>
    store({
      kind: 'llm',
      config: { provider: 'openai-compatible', base_url: `${vendor.url}/model/${what}`, default_model: 'm' },
      secrets: { api_key: secrets.model },
    })
  const received = await store({ kind: 'bearer', hosts: [receiver.host], secrets: { token: secrets.receiver } })
  const destination = await call('POST', '/api/event-destinations', {
    url: `${receiver.url}/events`,
    event_types: ['execution.*', 'audit.*', 'job.*', 'credential.*'],
    credential_id: received,
  })
  expect(destination.status, destination.text).toBe(201)

  const http = (path: string, credential_id: string) => ({
    type: 'http.request',
    args: { url: vendor.url + path, credential_id },
  })
  const first = await execute(
    http('/bearer/ok', bearer),
    'nodes.call.output.body.forms[1] + nodes.call.output.body.forms[4]',
  )
  expect(first.status).toBe('succeeded')
  await execute(http('/bearer/refuse', bearer))
  expect((await execute(http('/token/ok', await oauth('ok')))).status).toBe('succeeded')
  await execute(http('/token/ok', await oauth('refuse')))
  expect((await execute(http('/token/ok', await consent('ok')))).status).toBe('succeeded')
  expect((await execute(http('/token/refuse', await consent('ok')))).status).toBe('failed')
  await execute(http('/token/ok', await consent('refuse')))
  await failAndMail(http('/bearer/refuse', bearer))
  const prompt = (credential_id: string) => ({ type: 'llm.generate', args: { prompt: 'Hello', credential_id } })
  expect((await execute(prompt(await llm('ok')))).status).toBe('succeeded')
  const refusing = await llm('refuse')
  await execute(prompt(refusing))
  const order = await call('POST', '/api/workflows', {
    name: 'Order',
    definition: {
      inputs: { type: 'object', properties: { email: { type: 'string' } }, required: ['email'] },
      nodes: [{ id: 'a', type: 'set', args: { values: {} } }],
      edges: [],
    },
  })
  for (const model of [await llm('ok'), refusing]) await chat(model, order.body.workflow_id)
  await execute({
    type: 'mcp.call',
    args: { server: { url: `${vendor.url}/tools/refuse`, credential_id: tools }, tool: 'add', arguments: {} },
  })

  const dataset = await call('POST', '/api/datasets', { name: 'D', records: [{ n: 1 }] })
  const suite = await call('POST', `/api/workflows/${first.workflow}/suites`, {
    name: 'S',
    dataset_id: dataset.body.dataset_id,
    checks: [{ kind: 'cel', expression: 'results == null' }],
  })
  expect(suite.status, suite.text).toBe(201)
  const suiteRun = await call('POST', `/api/suites/${suite.body.suite_id}/run`, {})
  await until(async () => {
    const report = await call('GET', `/api/suites/${suite.body.suite_id}/runs/${suiteRun.body.run_id}`)
    return report.body.finished_at
  }, 'the end of the suite')

  await call('POST', `/api/event-destinations/${destination.body.destination_id}/test`)
  await until(async () => {
    const { body } = await call('GET', `/api/event-destinations/${destination.body.destination_id}`)
    return body.pending === 0
  }, 'the deliveries')
  await call('GET', `/api/event-destinations/${destination.body.destination_id}/deliveries?limit=200`)
  for (const path of [
    '/api/credentials',
    '/api/notifications',
    '/api/audit-log',
    '/api/audit-log/export',
    '/api/payments/usage',
    '/metrics',
    `/api/workflows/${first.workflow}/export`,
    `/api/workflows/${first.workflow}/executions`,
  ])
    await call('GET', path)

  const { body: key } = await browser.call('POST', '/auth/api-keys', { body: { name: 'cli' } })
  const cli = async (...args: string[]): Promise<string> => {
    const env = { PATH: process.env.PATH, HEDDLE_BASE: base, HEDDLE_KEY: key.key }
    const main = join(import.meta.dirname, '..', 'sdk', 'cli', 'main.ts')
    const { stdout, stderr } = await run(process.execPath, [main, ...args], { env }).catch(
      (error: { stdout: string; stderr: string }) => error,
    )
    return stdout + stderr
  }
  read.push(await cli('run', first.workflow, '--input', '{}'), await cli('export', first.workflow))

  program.child.kill('SIGUSR2')
  const report = await until(async () => {
    const file = (await readdir(directory.path)).find((entry) => entry.startsWith('report.'))
    const text = file && (await readFile(join(directory.path, file), 'utf8'))
    return text?.trimEnd().endsWith('}') && text
  }, 'the diagnostic report')
  expect(foundIn(report)).toEqual([])

  expect(foundIn(read.join('\n'))).toEqual([])
  // The receiver gets its own token in the header, and no secret in the events.
  expect(receiver.seen.length).toBeGreaterThan(10)
  expect(receiver.seen.every(({ headers }) => headers.authorization === `Bearer ${secrets.receiver}`)).toBe(true)
  expect(foundIn(receiver.seen.map(({ body }) => body).join('\n'))).toEqual([])
  expect(
    foundIn(receiver.seen.map(({ headers }) => JSON.stringify({ ...headers, authorization: '' })).join('\n')),
  ).toEqual([])
  const stored = await dumpDatabase(database)
  expect(stored).toContain('•••')
  expect(foundIn(stored)).toEqual([])
  await program.stop()
  const { errors } = await program.ended
  expect(foundIn(errors + program.output())).toEqual([])
  // Each secret was sent to its host, so there was something to find.
  const sent = JSON.stringify(vendor.seen)
  for (const kind of ['bearer', 'model', 'tools', 'token'] as const)
    expect([kind, sent.includes(JSON.stringify(`Bearer ${secrets[kind]}`).slice(1, -1))]).toEqual([kind, true])
})
