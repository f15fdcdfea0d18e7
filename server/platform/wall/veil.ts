import { randomBytes } from 'node:crypto'
import type { OutgoingCredential, Veiled } from '#platform/outgoing/credential'
import type { Hop } from '#platform/outgoing/hops'

// What code behind the wall is given in place of a secret: a text that means nothing. Where a request leaves, it becomes the secret.

const PREFIX = 'hdlph'

const newPlaceholder = (): string => PREFIX + randomBytes(20).toString('hex')

type Swap = (text: string, encode?: (value: string) => string) => string

const inUrl = (value: string): string => encodeURIComponent(value).replaceAll('%3A', ':')
const inJson = (value: string): string => JSON.stringify(value).slice(1, -1)

function basicWith(value: string, swap: Swap): string {
  const [, scheme, encoded] = /^(basic) +([A-Za-z0-9+/=_-]+)$/i.exec(value) ?? []
  if (encoded === undefined) return swap(value)
  const plain = Buffer.from(encoded, 'base64').toString('utf8')
  return plain.includes(PREFIX) ? `${scheme} ${Buffer.from(swap(plain)).toString('base64')}` : value
}

function bodyWith(body: Hop['body'], contentType: string, swap: Swap): Hop['body'] {
  if (!Buffer.isBuffer(body) && typeof body !== 'string') return body
  const isThere = typeof body === 'string' ? body.includes(PREFIX) : body.includes(PREFIX)
  if (!isThere) return body
  const encode = /json/i.test(contentType) ? inJson : /urlencoded/i.test(contentType) ? encodeURIComponent : undefined
  // Latin-1 keeps every byte of what is no text.
  const text = typeof body === 'string' ? body : body.toString('latin1')
  const asBytes = (value: string): string => {
    const encoded = encode ? encode(value) : value
    return typeof body === 'string' ? encoded : Buffer.from(encoded).toString('latin1')
  }
  const swapped = swap(text, asBytes)
  return typeof body === 'string' ? swapped : Buffer.from(swapped, 'latin1')
}

/** The same request with values where their placeholders stood: in the address, in headers, in the body. */
function unveil(hop: Hop, values: ReadonlyMap<string, string>): Hop {
  const swap: Swap = (text, encode = (value) => value) => {
    let swapped = text
    for (const [placeholder, value] of values)
      if (swapped.includes(placeholder)) swapped = swapped.replaceAll(placeholder, () => encode(value))
    return swapped
  }
  const headers = Object.fromEntries(
    Object.entries(hop.headers).map(([name, value]) => [
      name,
      name === 'authorization' ? basicWith(value, swap) : swap(value),
    ]),
  )
  const { href } = hop.url
  const url = href.includes(PREFIX) ? new URL(swap(href, inUrl)) : hop.url
  // A value that is an address would move the request elsewhere.
  if (url.origin !== hop.url.origin) return { ...hop, headers, url: hop.url }
  return { ...hop, url, headers, body: bodyWith(hop.body, headers['content-type'] ?? '', swap) }
}

type Base = Omit<OutgoingCredential, 'apply' | 'renew' | 'veiled'>

export function makeVeil(
  about: { kind: string; config: Record<string, unknown>; secrets: Record<string, string> },
  base: Base,
  /** Newer values, by the same names. */
  renewed?: () => Promise<{ secrets: Record<string, string>; base: Base } | undefined>,
): Veiled {
  const placeholders = Object.fromEntries(Object.keys(about.secrets).map((name) => [name, newPlaceholder()]))
  const valuesOf = (secrets: Record<string, string>): ReadonlyMap<string, string> =>
    new Map(Object.entries(placeholders).map(([name, placeholder]) => [placeholder, secrets[name] ?? '']))
  const credentialWith = (secrets: Record<string, string>, with_: Base): OutgoingCredential => {
    const values = valuesOf(secrets)
    return { ...with_, apply: (hop) => unveil(hop, values) }
  }
  return {
    kind: about.kind,
    config: about.config,
    placeholders,
    credential: {
      ...credentialWith(about.secrets, base),
      ...(renewed && {
        renew: async () => {
          const newer = await renewed()
          return newer && credentialWith(newer.secrets, newer.base)
        },
      }),
    },
    reveal: () => ({ ...about.secrets }),
  }
}
