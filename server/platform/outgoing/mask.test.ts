import { describe, expect, test } from 'vitest'
import { makeMask } from './mask.ts'

const SECRET = 'sk/live "q"+Ü=9&<x>'
const mask = makeMask([SECRET])

const echoes: [form: string, text: string][] = [
  ['plain', SECRET],
  ['JSON', JSON.stringify({ a: SECRET })],
  ['JSON in JSON', JSON.stringify(JSON.stringify({ a: SECRET }))],
  ['JSON with escaped slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
  ['a URL', `https://a.example/?k=${encodeURIComponent(SECRET)}`],
  ['a URL with lower-case escapes', encodeURIComponent(SECRET).replace(/%../g, (two) => two.toLowerCase())],
  ['a form', new URLSearchParams({ k: SECRET }).toString()],
  ['hexadecimal', Buffer.from(SECRET).toString('hex')],
  ['HTML', 'sk/live &quot;q&quot;+Ü=9&amp;&lt;x&gt;'],
  ...[0, 1, 2].flatMap((offset): [string, string][] => [
    [`base64 at offset ${offset}`, Buffer.from(`${'u'.repeat(offset)}${SECRET}:tail`).toString('base64')],
    [`base64url at offset ${offset}`, Buffer.from(`${'u'.repeat(offset)}${SECRET}`).toString('base64url')],
    [
      `base64 in an address at offset ${offset}`,
      encodeURIComponent(Buffer.from(`${'u'.repeat(offset)}${SECRET}`).toString('base64')),
    ],
  ]),
]

/** Returns the results of all common decodings of the text. */
const decodings = (text: string): string[] => {
  const all = [text]
  for (const decode of [
    (value: string) => decodeURIComponent(value.replaceAll('+', ' ')),
    (value: string) => decodeURIComponent(value),
    (value: string) => Buffer.from(value, 'base64').toString(),
    (value: string) => Buffer.from(value, 'hex').toString(),
    (value: string) => Buffer.from(decodeURIComponent(value), 'base64').toString(),
    (value: string) => JSON.stringify(JSON.parse(JSON.parse(value))),
  ]) {
    try {
      all.push(decode(text))
    } catch {
      // The text is not in this encoding.
    }
  }
  return all
}

describe('a secret in a response', () => {
  test.each(echoes)('as %s is masked', (_form, text) => {
    for (const masked of [mask.text(text), mask.bytes(Buffer.from(text)).toString()]) {
      expect(masked).toContain('•••')
      for (const decoded of decodings(masked)) expect(decoded).not.toContain(SECRET)
    }
  })

  test.each(echoes)('as %s is masked in a stream that is cut at any position', async (_form, text) => {
    const bytes = Buffer.from(`before ${text} after`)
    const whole = mask.bytes(bytes).toString()
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const parts: Buffer[] = []
      const source = async function* () {
        yield bytes.subarray(0, cut)
        yield bytes.subarray(cut)
      }
      for await (const part of mask.chunks(source())) parts.push(part)
      expect(Buffer.concat(parts).toString()).toBe(whole)
    }
  })

  test('does not delay a stream that does not end with the start of a secret', async () => {
    let release = (): void => {}
    const rest = new Promise<void>((resolve) => {
      release = resolve
    })
    const source = async function* () {
      yield Buffer.from('data: an answer\n\n')
      await rest
    }
    const masked = mask.chunks(source())
    expect(((await masked.next()).value as Buffer).toString()).toBe('data: an answer\n\n')
    release()
    expect((await masked.next()).done).toBe(true)
  })

  test('leaves all other text unchanged', () => {
    const text = JSON.stringify({ a: 'sk/live', b: [1, 2, 3], c: 'Ünïcode' })
    expect(mask.text(text)).toBe(text)
    const bytes = Buffer.from([0xff, 0xfe, 0, 1, 2])
    expect(mask.bytes(bytes)).toBe(bytes)
  })

  test('that is too short to be distinguished from other text is not masked', () => {
    expect(makeMask(['abc', '']).text('abc')).toBe('abc')
  })
})
