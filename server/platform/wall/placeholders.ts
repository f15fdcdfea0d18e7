import { createHmac, randomBytes } from 'node:crypto'
import type { OutgoingCredential, PlaceholderCredential } from '#platform/outgoing/credential'
import type { Hop } from '#platform/outgoing/hops'
import { insertIntoJson, insertIntoPairs, insertIntoPath, insertIntoText } from './secret-fields.ts'

// Code behind the wall gets a meaningless placeholder instead of a secret. The placeholder is replaced by the secret
// when a request is sent.

const PREFIX = 'hdlph'

const KEY = randomBytes(32)

/**
 * Returns the same placeholder for the same value of the same credential while this process lives, so that a program
 * that got it at its start can be used with a renewed secret. It reveals nothing about the secret.
 */
const placeholderFor = (id: string | undefined, name: string): string =>
  PREFIX +
  createHmac('sha256', id === undefined ? randomBytes(32) : KEY)
    .update(`${id ?? ''} ${name}`)
    .digest('hex')
    .slice(0, 40)

type Swap = (text: string) => string

function basicWith(value: string, swap: Swap): string {
  const [, scheme, encoded] = /^(basic) +([A-Za-z0-9+/=_-]+)$/i.exec(value) ?? []
  if (encoded === undefined) return swap(value)
  const plain = Buffer.from(encoded, 'base64').toString('utf8')
  return plain.includes(PREFIX) ? `${scheme} ${Buffer.from(swap(plain)).toString('base64')}` : value
}

function bodyWith(body: Hop['body'], contentType: string, own: ReadonlySet<string>, swap: Swap): Hop['body'] {
  if (!Buffer.isBuffer(body) && typeof body !== 'string') return body
  if (!body.includes(PREFIX)) return body
  const put = (text: string): string => {
    if (/json/i.test(contentType)) return insertIntoJson(text, own, swap)
    return /urlencoded/i.test(contentType) ? insertIntoPairs(text, own, swap) : insertIntoText(text, own, asBytes)
  }
  // Latin-1 keeps every byte of a body that is not text.
  const isText = typeof body === 'string' || /json|urlencoded/i.test(contentType)
  const asBytes: Swap = (text) => (isText ? swap(text) : Buffer.from(swap(text)).toString('latin1'))
  if (typeof body === 'string') return put(body)
  const encoding = isText ? 'utf8' : 'latin1'
  return Buffer.from(put(body.toString(encoding)), encoding)
}

function urlWith(url: URL, own: ReadonlySet<string>, swap: Swap): URL {
  if (!url.href.includes(PREFIX)) return url
  const put = new URL(url)
  put.pathname = insertIntoPath(url.pathname, (step) => encodeURIComponent(swap(step)).replaceAll('%3A', ':'))
  put.search = insertIntoPairs(url.search.slice(1), own, swap)
  // A value that is an address would redirect the request to another origin.
  return put.origin === url.origin ? put : url
}

/**
 * Returns the request with values instead of placeholders, only where they prove who is calling: in headers, and in
 * such places of the address and the body.
 */
function insertSecrets(hop: Hop, values: ReadonlyMap<string, string>, own: ReadonlySet<string>): Hop {
  const swap: Swap = (text) => {
    let swapped = text
    for (const [placeholder, value] of values) swapped = swapped.replaceAll(placeholder, () => value)
    return swapped
  }
  const headers = Object.fromEntries(
    Object.entries(hop.headers).map(([name, value]) => [
      name,
      name === 'authorization' ? basicWith(value, swap) : swap(value),
    ]),
  )
  return {
    ...hop,
    url: urlWith(hop.url, own, swap),
    headers,
    body: bodyWith(hop.body, headers['content-type'] ?? '', own, swap),
  }
}

type Base = Omit<OutgoingCredential, 'apply' | 'renew' | 'veiled'>

export function makePlaceholderCredential(
  about: {
    /** The id of the credential. */
    credential_id?: string
    kind: string
    config: Record<string, unknown>
    secrets: Record<string, string>
  },
  base: Base,
  /** Returns newer values with the same names. */
  renewed?: () => Promise<{ secrets: Record<string, string>; base: Base } | undefined>,
): PlaceholderCredential {
  const placeholders = Object.fromEntries(
    Object.keys(about.secrets).map((name) => [name, placeholderFor(about.credential_id, name)]),
  )
  // `value` is the name that pieces give a secret without its own name. It identifies no field.
  const own = new Set(Object.keys(about.secrets).map((name) => name.toLowerCase()))
  own.delete('value')
  const valuesOf = (secrets: Record<string, string>): ReadonlyMap<string, string> =>
    new Map(Object.entries(placeholders).map(([name, placeholder]) => [placeholder, secrets[name] ?? '']))
  const credentialWith = (secrets: Record<string, string>, with_: Base): OutgoingCredential => {
    const values = valuesOf(secrets)
    return { ...with_, apply: (hop) => insertSecrets(hop, values, own) }
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
