import { createHash, createHmac } from 'node:crypto'
import type { Hop } from '#platform/outgoing/hops'

// AWS Signature Version 4. The secret key itself is never sent: it signs the request when the request is sent.

export type AwsKey = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
  region: string
  service: string
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()

/** Escapes everything but letters, digits and `-._~` (RFC 3986). */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

/** Every service except S3 expects the path escaped once more than it is sent. */
const canonicalPath = (url: URL, service: string): string =>
  service === 's3' ? url.pathname : url.pathname.split('/').map(escaped).join('/')

const canonicalQuery = (url: URL): string =>
  [...url.searchParams]
    .map(([name, value]) => [escaped(name), escaped(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')

export function signAws(hop: Hop, key: AwsKey, now = new Date()): Hop {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = stamp.slice(0, 8)
  const { body } = hop
  // A file is streamed, so its hash is not known yet. S3 accepts an unsigned payload.
  const isRead = body === null || typeof body === 'string' || Buffer.isBuffer(body)
  const bodyHash = isRead ? sha256(body ?? '') : 'UNSIGNED-PAYLOAD'
  const headers: Record<string, string> = {
    ...hop.headers,
    'x-amz-date': stamp,
    ...(key.service === 's3' && { 'x-amz-content-sha256': bodyHash }),
    ...(key.sessionToken !== undefined && { 'x-amz-security-token': key.sessionToken }),
  }
  // Headers that proxies may change are not signed.
  const signed = Object.entries({ ...headers, host: hop.url.host })
    .filter(([name]) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const request = [
    hop.method,
    canonicalPath(hop.url, key.service),
    canonicalQuery(hop.url),
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}`),
    '',
    names,
    bodyHash,
  ].join('\n')
  const scope = `${day}/${key.region}/${key.service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256(request)].join('\n')
  const signingKey = [day, key.region, key.service, 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${key.secretAccessKey}`,
  )
  const signature = hmac(signingKey, toSign).toString('hex')
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...hop, headers }
}
