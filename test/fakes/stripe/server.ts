import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Stripe from 'stripe'
import { renew, settle } from './billing.ts'
import { endpoints } from './endpoints.ts'
import { parseForm } from './form.ts'
import { checkParams, missingResource, Refused } from './parameters.ts'
import { makeState, newRef, type PaymentMethod } from './state.ts'

// A fake Stripe for tests: it keeps state, accepts exactly the parameters of the API, replays idempotency keys, signs
// its webhooks, and fails in every way the real one can.

const API_VERSION = '2026-10-28.endive'
export const SECRET_KEY = 'sk_test_fake'
export const WEBHOOK_SECRET = 'whsec_fake_secret_of_the_tests'

type Failure = { status: number; headers?: Record<string, string>; body?: Record<string, unknown> }
const failure = ({ body }: Failure): string =>
  JSON.stringify({ error: body ?? { type: 'api_error', message: 'Something went wrong on our end.' } })

/** A failure of the next requests that match. */
export type Fault = {
  match?: RegExp
  times?: number
  /** `before`: the request has no effect. `after`: the request has its effect, and the response is lost. */
  when?: 'before' | 'after'
  /** The failure is stored under the key of the request and returned again, as Stripe does with a 500. */
  remembered?: true
  what: Failure | 'hang' | 'drop'
}

export type StripeEvent = { id: string; type: string; payload: string }
export type Seen = { method: string; path: string; key: string | undefined; body: string }

const cards: Record<
  string,
  { brand: string; behaviour: PaymentMethod['behaviour']; setup: 'works' | 'declined' | 'confirm' }
> = {
  '4242424242424242': { brand: 'visa', behaviour: 'pays', setup: 'works' },
  '5555555555554444': { brand: 'mastercard', behaviour: 'pays', setup: 'works' },
  '4000000000000002': { brand: 'visa', behaviour: 'declines', setup: 'declined' },
  '4000002500003155': { brand: 'visa', behaviour: 'pays', setup: 'confirm' },
  '4000000000000341': { brand: 'visa', behaviour: 'declines', setup: 'works' },
  '4000002760003184': { brand: 'visa', behaviour: 'wants_holder', setup: 'works' },
}

export async function startFakeStripe() {
  const state = makeState()
  const events: StripeEvent[] = []
  const seen: Seen[] = []
  const faults: Fault[] = []
  const waiting: { match: RegExp; resolve(): void }[] = []
  const answers = new Map<string, { fingerprint: string; status: number; body: string }>()

  const emit = (type: string, object: object, before?: object): void => {
    const id = newRef('evt')
    const data = { object: structuredClone(object), ...(before && { previous_attributes: before }) }
    events.push({
      id,
      type,
      payload: JSON.stringify({
        id,
        object: 'event',
        api_version: API_VERSION,
        created: state.now,
        livemode: false,
        type,
        data,
      }),
    })
  }

  function takeFault(label: string): Fault | undefined {
    const at = faults.findIndex(({ match }) => match === undefined || match.test(label))
    const fault = faults[at]
    if (!fault) return undefined
    fault.times = (fault.times ?? 1) - 1
    if (fault.times === 0) faults.splice(at, 1)
    return fault
  }

  function authorise(request: IncomingMessage): void {
    if (request.headers.authorization !== `Bearer ${SECRET_KEY}`)
      throw new Refused(401, { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_***' })
    if (request.headers['stripe-version'] !== API_VERSION)
      throw new Refused(400, {
        type: 'invalid_request_error',
        message: `Invalid Stripe API version: ${request.headers['stripe-version']}`,
      })
  }

  function perform(method: string, url: URL, body: string): { status: number; body: string } {
    for (const endpoint of endpoints) {
      const found = endpoint.method === method && endpoint.path.exec(url.pathname)
      if (!found) continue
      const params = parseForm(method === 'POST' ? body : url.search.slice(1))
      checkParams(params, endpoint.shape)
      return { status: 200, body: JSON.stringify(endpoint.run(state, params, found.slice(1), emit)) }
    }
    throw new Refused(404, {
      type: 'invalid_request_error',
      message: `Unrecognized request URL (${method}: ${url.pathname}).`,
    })
  }

  const refusal = (error: unknown): { status: number; body: string } => {
    if (!(error instanceof Refused)) throw error
    return { status: error.status, body: JSON.stringify({ error: error.body }) }
  }

  /**
   * Returns the same response for the same key, also if a card was declined; refuses other parameters with the same
   * key.
   */
  function once(method: string, url: URL, key: string | undefined, body: string): { status: number; body: string } {
    if (method !== 'POST') {
      try {
        return perform(method, url, body)
      } catch (error) {
        return refusal(error)
      }
    }
    if (key === undefined || key.length > 255)
      return refusal(
        new Refused(400, {
          type: 'invalid_request_error',
          message: 'This test server wants a key of at most 255 letters on every write.',
        }),
      )
    const fingerprint = `${method} ${url.pathname}\n${body}`
    const earlier = answers.get(key)
    if (earlier) {
      if (earlier.fingerprint !== fingerprint)
        return refusal(
          new Refused(400, {
            type: 'idempotency_error',
            message:
              'Keys for idempotent requests can only be used with the same parameters they were first used with.',
          }),
        )
      return earlier
    }
    try {
      const done = perform(method, url, body)
      answers.set(key, { fingerprint, ...done })
      return done
    } catch (error) {
      const refused = refusal(error)
      // A request that was not executed is not stored.
      if (refused.status !== 400 && refused.status !== 404) answers.set(key, { fingerprint, ...refused })
      return refused
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const url = new URL(request.url!, 'http://stripe')
    const method = request.method!
    const header = request.headers['idempotency-key']
    const key = typeof header === 'string' ? header : undefined
    seen.push({ method, path: url.pathname, key, body })
    const send = (status: number, text: string, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'request-id': newRef('req'), ...headers })
      response.end(text)
    }
    try {
      authorise(request)
    } catch (error) {
      const refused = refusal(error)
      return send(refused.status, refused.body)
    }
    const fault = takeFault(`${method} ${url.pathname}`)
    if (fault?.when === 'after') once(method, url, key, body)
    if (fault?.remembered && key !== undefined && typeof fault.what === 'object')
      answers.set(key, {
        fingerprint: `${method} ${url.pathname}\n${body}`,
        status: fault.what.status,
        body: failure(fault.what),
      })
    for (const one of waiting.splice(0)) {
      if (one.match.test(`${method} ${url.pathname}`)) one.resolve()
      else waiting.push(one)
    }
    if (fault) {
      if (fault.what === 'hang') return
      if (fault.what === 'drop') return void request.socket.destroy()
      return send(fault.what.status, failure(fault.what), fault.what.headers)
    }
    const answer = once(method, url, key, body)
    send(answer.status, answer.body)
  }

  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    base,
    state,
    events,
    seen,
    /** The environment of a service that bills through this server. */
    env: { STRIPE_SECRET_KEY: SECRET_KEY, STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, STRIPE_API_BASE: base },
    fail: (fault: Fault): void => void faults.push({ ...fault }),
    /** Resolves when a matching request has arrived, after its effect if its fault is `after`. */
    nextRequest: (match: RegExp): Promise<void> => new Promise((resolve) => waiting.push({ match, resolve })),
    heal: (): void => void faults.splice(0),

    /** Does what Stripe.js does in the browser with the client_secret. */
    confirmSetup(clientSecret: string, number: string): 'succeeded' | 'requires_action' | 'declined' {
      const intent = [...state.intents.values()].find((one) => one.client_secret === clientSecret)
      if (!intent) throw missingResource('setup_intent', clientSecret)
      const card = cards[number]!
      if (card.setup === 'declined') return 'declined'
      if (card.setup === 'confirm' && intent.status !== 'requires_action') {
        intent.status = 'requires_action'
        return 'requires_action'
      }
      const method: PaymentMethod = {
        id: newRef('pm'),
        object: 'payment_method',
        type: 'card',
        customer: intent.customer,
        created: state.now++,
        card: { brand: card.brand, last4: number.slice(-4), exp_month: 12, exp_year: 2040 },
        behaviour: card.behaviour,
      }
      state.methods.set(method.id, method)
      Object.assign(intent, { status: 'succeeded', payment_method: method.id })
      emit('payment_method.attached', method)
      emit('setup_intent.succeeded', intent)
      return 'succeeded'
    },

    /** Does what Stripe.js does in the browser with the client_secret of a first payment, if the card holder agrees. */
    confirmPayment(clientSecret: string): void {
      const subscription = [...state.subscriptions.values()].find(
        ({ latest_invoice }) => latest_invoice?.confirmation_secret.client_secret === clientSecret,
      )
      if (!subscription) throw missingResource('payment_intent', clientSecret)
      const invoice = state.invoices.get(subscription.latest_invoice!.id)!
      settle(invoice)
      subscription.status = 'active'
      emit('invoice.paid', invoice)
      emit('customer.subscription.updated', subscription)
    },

    /** Ends the current period of every subscription of a customer. */
    passPeriod(customerRef: string): void {
      for (const subscription of state.subscriptions.values())
        if (subscription.customer === customerRef && subscription.status !== 'canceled')
          renew(state, subscription, emit)
    },

    /** Returns the headers and the body of a webhook, signed as Stripe signs it. */
    sign(
      payload: string,
      options: { timestamp?: number; secret?: string } = {},
    ): { raw: string; headers: Record<string, string> } {
      const stripe = new Stripe(SECRET_KEY)
      const signature = stripe.webhooks.generateTestHeaderString({
        payload,
        secret: options.secret ?? WEBHOOK_SECRET,
        timestamp: options.timestamp ?? Math.floor(Date.now() / 1000),
      })
      return { raw: payload, headers: { 'stripe-signature': signature, 'content-type': 'application/json' } }
    },

    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

export type FakeStripe = Awaited<ReturnType<typeof startFakeStripe>>
