import { expect, test } from 'vitest'
import { makeMask } from '#platform/outgoing/mask'
import { makePlaceholderCredential } from './placeholders.ts'

// Tests where a placeholder is replaced by the secret, and where it is not.

const SECRET = 's3cret"/é'
const base = { name: 'C', allows: () => true, mask: makeMask([SECRET]) }
const veil = makePlaceholderCredential(
  { credential_id: 'c1', kind: 'piece', config: {}, secrets: { value: SECRET, shop_word: SECRET } },
  base,
)
const P = veil.placeholders.value!
const W = veil.placeholders.shop_word!

const sent = (request: { url?: string; headers?: Record<string, string>; body?: string }) => {
  const { url, headers, body } = veil.credential.apply({
    method: 'POST',
    url: new URL(request.url ?? 'https://api.example.com/'),
    headers: request.headers ?? {},
    body: request.body === undefined ? null : Buffer.from(request.body),
  } as never)
  return { url: url.href, headers, body: body === null ? null : String(body) }
}
const json = (value: unknown, type = 'application/json') => {
  const { body } = sent({ headers: { 'content-type': type }, body: JSON.stringify(value) })
  return JSON.parse(body!) as unknown
}

test('a placeholder stays the same for a credential, and differs between credentials', () => {
  const again = makePlaceholderCredential(
    { credential_id: 'c1', kind: 'piece', config: {}, secrets: { value: 'newer' } },
    base,
  )
  const other = makePlaceholderCredential(
    { credential_id: 'c2', kind: 'piece', config: {}, secrets: { value: SECRET } },
    base,
  )
  const nameless = () =>
    makePlaceholderCredential({ kind: 'piece', config: {}, secrets: { value: SECRET } }, base).placeholders.value
  expect(again.placeholders.value).toBe(P)
  expect(other.placeholders.value).not.toBe(P)
  expect(nameless()).not.toBe(nameless())
})

test('placeholders in headers are replaced', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  expect(sent({ headers: { authorization: `Bearer ${P}`, 'x-key': P } }).headers).toEqual({
    authorization: `Bearer ${SECRET}`,
    'x-key': SECRET,
  })
  expect(sent({ headers: { authorization: basic(`user:${P}`) } }).headers.authorization).toBe(basic(`user:${SECRET}`))
})

test('placeholders in the address are replaced where they prove who is calling', () => {
  const secret = encodeURIComponent(SECRET)
  expect(sent({ url: `https://a.example/bot${P}/send?text=${P}` }).url).toBe(
    `https://a.example/bot${secret}/send?text=${P}`,
  )
  expect(sent({ url: `https://a.example/x?api_key=${P}&q=a%20${P}` }).url).toBe(
    `https://a.example/x?api_key=${secret}&q=a%20${P}`,
  )
  expect(sent({ url: `https://a.example/notes/my-secret-is-${P}` }).url).toContain(P)
})

test('placeholders in a body are replaced only in fields that prove who is calling', () => {
  expect(json({ token: P, auth: { apiKey: P, password: `Bearer ${P}` }, shop_word: W })).toEqual({
    token: SECRET,
    auth: { apiKey: SECRET, password: `Bearer ${SECRET}` },
    shop_word: SECRET,
  })
  const content = {
    text: P,
    title: `it is ${P}`,
    value: P,
    token: `a text with ${P} in it`,
    blocks: [{ text: P }],
    [P]: 1,
  }
  expect(json(content)).toEqual(content)
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  expect(sent({ ...form, body: `client_secret=${P}&text=${P}` }).body).toBe(
    `client_secret=${encodeURIComponent(SECRET)}&text=${P}`,
  )
  const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${P}\r\n`
  const multipart = { headers: { 'content-type': 'multipart/form-data; boundary=b' } }
  expect(sent({ ...multipart, body: `${part('api_key')}${part('message')}--b--` }).body).toBe(
    `${part('api_key').replace(P, SECRET)}${part('message')}--b--`,
  )
  expect(
    sent({ headers: { 'content-type': 'text/xml' }, body: `<a><ns:Password>${P}</ns:Password><b>${P}</b></a>` }).body,
  ).toBe(`<a><ns:Password>${SECRET}</ns:Password><b>${P}</b></a>`)
  expect(sent({ headers: { 'content-type': 'text/plain' }, body: P }).body).toBe(P)
})

test('a body without a placeholder is sent byte for byte', () => {
  const body = '{"n": 12345678901234567890,  "token":"x"}'
  expect(sent({ headers: { 'content-type': 'application/json' }, body }).body).toBe(body)
})
