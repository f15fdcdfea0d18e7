import { expect, test } from 'vitest'
import { type HmacSettings, isBasic, secretFault, signatureFault } from './signatures.ts'

// Signatures from the documentation of the senders. Where there is none, the signature was computed with OpenSSL.

const SLACK_BODY =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'

type Example = {
  settings: HmacSettings
  secret: string
  body: string
  headers: Record<string, string>
  at: number
  signed: string
}

const examples: Record<string, Example> = {
  github: {
    settings: { preset: 'github' },
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    at: 0,
    signed: 'x-hub-signature-256',
  },
  slack: {
    settings: { preset: 'slack' },
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: SLACK_BODY,
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    at: 1531420618,
    signed: 'x-slack-signature',
  },
  standard: {
    settings: { preset: 'standard' },
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    at: 1614265330,
    signed: 'webhook-signature',
  },
  // printf '1492774577.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test
  stripe: {
    settings: { preset: 'stripe' },
    secret: 'whsec_test',
    body: '{"id":"evt_1"}',
    headers: {
      'stripe-signature':
        't=1492774577,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39,v1=7656fc2882a7ca0a651666b36bf2f2f22ee204f54f608f227498a2419f2890b2',
    },
    at: 1492774577,
    signed: 'stripe-signature',
  },
  // printf '{"id":1}' | openssl dgst -sha256 -hmac hush -binary | base64
  shopify: {
    settings: { preset: 'shopify' },
    secret: 'hush',
    body: '{"id":1}',
    headers: { 'x-shopify-hmac-sha256': 'VnKUjZsLuN5iZWjn5EntcBVCF9kMN43LglzCE1/GSeY=' },
    at: 0,
    signed: 'x-shopify-hmac-sha256',
  },
  // printf 'a=1' | openssl dgst -sha512 -hmac key -binary | base64 -w0
  custom: {
    settings: { preset: 'custom', header: 'X-Sign', algorithm: 'sha512', encoding: 'base64', prefix: 'mac ' },
    secret: 'key',
    body: 'a=1',
    headers: {
      'x-sign': 'mac E/LeE+CR5Pf6qvy9NHugvsCmx1v1RvE988hv8tqN7Vaf+rVDCMBf5GYvG34hXEtRz7yH8vUSfe1QPR/SdZhkdw==',
    },
    at: 0,
    signed: 'x-sign',
  },
}

const faultOf = (
  { settings, headers, body, secret, at }: Example,
  changes: Partial<{ headers: object; body: string; secret: string; now: number; settings: HmacSettings }> = {},
) =>
  signatureFault(changes.settings ?? settings, {
    headers: { ...headers, ...changes.headers },
    body: Buffer.from(changes.body ?? body),
    secret: changes.secret ?? secret,
    now: changes.now ?? at * 1000,
  })

test.each(Object.keys(examples))('%s: accepts the documented request and refuses any change to it', (name) => {
  const example = examples[name]!
  expect(faultOf(example)).toBeUndefined()
  expect(faultOf(example, { body: `${example.body} ` })).toMatch(/does not match/)
  expect(faultOf(example, { secret: 'AAAAAAAAAAAAAAAAAAAAAAAA' })).toMatch(/does not match/)
  expect(faultOf(example, { headers: { [example.signed]: undefined } })).toMatch(/missing/)
  expect(faultOf(example, { headers: { [example.signed]: '' } })).toMatch(/missing/)
  const signature = example.headers[example.signed]!
  expect(faultOf(example, { headers: { [example.signed]: signature.slice(0, -8) } })).toMatch(/does not match/)
})

test.each(['slack', 'stripe', 'standard'])('%s: refuses a request that is too old or from the future', (name) => {
  const example = examples[name]!
  const after = (s: number, settings = example.settings) => faultOf(example, { now: (example.at + s) * 1000, settings })
  expect([after(300), after(-300)]).toEqual([undefined, undefined])
  expect(after(301)).toMatch(/more than 300 s/)
  expect(after(-301)).toMatch(/more than 300 s/)
  expect(after(301, { ...example.settings, tolerance_s: 600 })).toBeUndefined()
  expect(after(11, { ...example.settings, tolerance_s: 10 })).toMatch(/more than 10 s/)
})

test('a signed timestamp that is not a number is refused', () => {
  for (const text of ['', 'now', '1e9', '-1', '99999999999999'])
    expect(faultOf(examples.slack!, { headers: { 'x-slack-request-timestamp': text } })).toMatch(/missing|not valid/)
})

test('a request with several signatures during a key rotation needs a correct one among the first eight', () => {
  const right = examples.standard!.headers['webhook-signature']!
  const others = (n: number) => Array.from({ length: n }, () => `v1,${'A'.repeat(43)}=`).join(' ')
  const header = (value: string) => faultOf(examples.standard!, { headers: { 'webhook-signature': value } })
  expect(header(`${others(7)} ${right}`)).toBeUndefined()
  expect(header(`${others(8)} ${right}`)).toMatch(/does not match/)
  expect(header(`v1a,abc ${right}`)).toBeUndefined()
})

test('a signature header that occurs twice is refused', () => {
  expect(faultOf(examples.github!, { headers: { 'x-hub-signature-256': ['sha256=a', 'sha256=b'] } })).toMatch(/missing/)
})

test('a secret for Standard Webhooks must be base64 of at least 16 bytes', () => {
  expect(secretFault('standard', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBeUndefined()
  expect(secretFault('standard', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBeUndefined()
  expect(secretFault('standard', 'not base64!')).toMatch(/base64/)
  expect(secretFault('standard', 'whsec_AAAA')).toMatch(/16 bytes/)
  expect(secretFault('github', 'not base64!')).toBeUndefined()
})

test('basic authentication requires the right name and the right password', () => {
  const header = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  expect(isBasic(header('shop:open sesame'), 'shop', 'open sesame')).toBe(true)
  expect(isBasic(header('shop:a:b'), 'shop', 'a:b')).toBe(true)
  for (const text of ['shop:wrong', 'other:open sesame', 'shop', ':', 'shop:'])
    expect(isBasic(header(text), 'shop', 'open sesame'), text).toBe(false)
  expect(isBasic(undefined, 'shop', 'open sesame')).toBe(false)
  expect(isBasic('Bearer abc', 'shop', 'open sesame')).toBe(false)
})
