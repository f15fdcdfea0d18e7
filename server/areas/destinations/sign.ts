import { createHmac, randomBytes } from 'node:crypto'
import type { Vault } from '#platform/secrets'

// Signatures as specified by https://www.standardwebhooks.com: HMAC-SHA256 over id, time and body. After a rotation
// there are two signatures, and a receiver accepts the delivery if either is valid.

const PREFIX = 'whsec_'
const BYTES = 32

export const newSigningSecret = (): string => PREFIX + randomBytes(BYTES).toString('base64')

export type SignedHeaders = { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string }

export function signDelivery(secrets: readonly string[], id: string, at: Date, body: string): SignedHeaders {
  const seconds = Math.floor(at.getTime() / 1000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') }
}

export type SecretColumn = 'secret' | 'previous_secret'
type Of = { workspace_id: string; destination_id: string }

const placeOf = (of: Of, column: SecretColumn) =>
  [of.workspace_id, 'event_destinations', of.destination_id, column] as const

export const sealSigningSecret = (vault: Vault, of: Of, column: SecretColumn, secret: string): Buffer =>
  vault.seal(placeOf(of, column), secret)

export const openSigningSecret = (vault: Vault, of: Of, column: SecretColumn, sealed: Buffer): string =>
  vault.open(placeOf(of, column), sealed)
