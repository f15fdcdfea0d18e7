import { afterEach, describe, expect, test } from 'vitest'
import { makeOidcClient } from '#areas/identity/oidc-client'
import { openMcpSession } from '#engine/agents/mcp-client'
import { makeLogger } from '#platform/log'
import { makeBoundedFetch } from '#platform/outgoing/bounded'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { connectStripe } from '#providers/billing/stripe/stripe'
import { makeS3Blobs } from '#providers/blobs/s3'
import { callVendor } from '#providers/channels/call'
import { makeSdkModel } from '#providers/llm/sdk'
import { makeSmtpMail } from '#providers/mail/smtp'
import { makeTheOddsApi } from '#providers/odds/the-odds-api'
import { callOpenAi } from '#providers/speech/openai-call'
import { type Misbehaviour, misbehaviours, startEndlessLines, startEndlessServer } from './harness/endless.ts'

// Every client of an external server gets a response without end, one letter at a time, a decompression bomb, or a huge
// header. The call must fail, read little, and close the connection.

type Call = (server: { base: string; port: number }) => Promise<unknown>

const TIMEOUT = 400
const MEGABYTE = 1024 * 1024

/** The largest bodies that these clients accept, and the data in the buffers of both sides. */
const MAX_READ = 160 * MEGABYTE

const clients: Record<string, Call> = {
  'a bounded fetch': async ({ base }) => {
    const answer = await makeBoundedFetch({ maxBytes: MEGABYTE, timeoutMs: TIMEOUT })(base)
    return answer.arrayBuffer()
  },
  'the client of tenants': async ({ base, port }) => {
    const outgoing = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`] })
    return outgoing.request({ url: base, timeoutMs: TIMEOUT }).finally(() => outgoing.close())
  },
  'a language model': ({ base }) =>
    makeSdkModel(
      { provider: 'openai-compatible', model: 'm', apiKey: 'k', baseUrl: `${base}/v1` },
      { timeoutMs: 1_500, tries: 1 },
    ).generate({ messages: [{ role: 'user', text: 'hello' }] } as never),
  speech: ({ base }) =>
    callOpenAi(
      { baseUrl: `${base}/v1`, timeout: TIMEOUT },
      { path: '/audio/speech', body: '{}', largestAnswer: MEGABYTE },
    ),
  odds: ({ base }) =>
    makeTheOddsApi({ key: 'k', base, timeoutMs: TIMEOUT }).fetch({ date: new Date().toISOString().slice(0, 10) }),
  Stripe: ({ base }) =>
    connectStripe({ secretKey: 'sk_test_1', apiBase: base, timeoutMs: TIMEOUT, retries: 0 }).customers.retrieve(
      'cus_1',
    ),
  S3: ({ base }) =>
    makeS3Blobs({
      bucket: 'b',
      endpoint: base,
      region: 'us-east-1',
      accessKeyId: 'a',
      secretAccessKey: 's',
      bounds: { maxBytes: MEGABYTE, timeoutMs: TIMEOUT },
    }).get('key'),
}

/** Clients with long, fixed timeouts. Only responses that are too large are tested with them. */
const patient: Record<string, Call> = {
  'a channel': ({ base }) => callVendor({ vendor: 'Slack', url: base, body: {}, signal: undefined }),
  'an OpenID provider': ({ base }) => {
    const provider = { id: 'p', title: 'P', issuer: base, client_id: 'c', client_secret: 's' }
    return makeOidcClient({ providers: [provider], key: Buffer.alloc(32), log: makeLogger('silent') }).authorizationUrl(
      provider,
      'http://127.0.0.1/callback',
      { state: 's', secret: 's' },
    )
  },
  'a tool server': async ({ base, port }) => {
    const outgoing = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`] })
    const server = { url: base, headers: {} } as Parameters<typeof openMcpSession>[1]
    return openMcpSession(outgoing, server, new AbortController().signal).finally(() => outgoing.close())
  },
}

let stop: (() => Promise<void>) | undefined
afterEach(() => stop?.())

async function meets(treatment: Misbehaviour, call: Call): Promise<void> {
  const server = await startEndlessServer(treatment)
  stop = server.stop
  await expect(call(server)).rejects.toThrow()
  await expect.poll(() => server.open()).toBe(0)
  expect(server.sent()).toBeLessThan(MAX_READ)
}

describe.each(misbehaviours)('a server that answers with %s', (treatment) => {
  test.each(Object.keys(clients))('is abandoned by %s', (name) => meets(treatment, clients[name]!))
  if (treatment !== 'drip')
    test.each(Object.keys(patient))('is abandoned by %s', (name) => meets(treatment, patient[name]!))
})

test.each(['without end', 'drip'] as const)(
  'a mail server that speaks %s is abandoned',
  async (treatment) => {
    const server = await startEndlessLines(treatment)
    stop = server.stop
    const mail = makeSmtpMail({ url: `smtp://127.0.0.1:${server.port}`, from: 'a@example.com', timeoutMs: TIMEOUT })
    const sending = mail.send({ workspaceId: null, to: ['b@example.com'], subject: 's', text: 't', key: 'k' })
    await expect(sending).rejects.toMatchObject({ code: 'mail_unavailable' })
    await expect.poll(() => server.open()).toBe(0)
    await mail.close()
  },
  30_000,
)
