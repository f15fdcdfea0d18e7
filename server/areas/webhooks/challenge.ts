import type { FastifyRequest } from 'fastify'
import type { InboundToken } from './inbound-token.ts'

// Challenges with which senders verify that an address expects them. They are answered here and start nothing.

export type ChallengeAnswer = { contentType: string; body: string }

/** The echoed value is untrusted, so it is short and sent as plain text. */
const MAX_ECHO = 1_000

const textOf = (query: unknown, name: string): string | undefined => {
  const value = (query as Record<string, unknown>)[name]
  return typeof value === 'string' && value !== '' && value.length <= MAX_ECHO ? value : undefined
}

const plain = (body: string | undefined): ChallengeAnswer | undefined =>
  body === undefined ? undefined : { contentType: 'text/plain', body }

/** Answers challenges without a signature, before anything is verified. */
export function unsignedChallenge(
  { challenge }: Pick<InboundToken, 'challenge'>,
  shown: string,
  { method, query }: Pick<FastifyRequest, 'method' | 'query'>,
): ChallengeAnswer | undefined {
  if (challenge === 'meta' && method === 'GET' && textOf(query, 'hub.mode') === 'subscribe')
    return textOf(query, 'hub.verify_token') === shown ? plain(textOf(query, 'hub.challenge')) : undefined
  if (challenge === 'dropbox' && method === 'GET') return plain(textOf(query, 'challenge'))
  if (challenge === 'microsoft' && method === 'POST') return plain(textOf(query, 'validationToken'))
  return undefined
}

/** Answers the challenge of Slack, which is signed like its other requests. */
export function signedChallenge(
  { challenge }: Pick<InboundToken, 'challenge'>,
  body: Buffer,
): ChallengeAnswer | undefined {
  if (challenge !== 'slack' || !body.includes('url_verification')) return undefined
  try {
    const asked = JSON.parse(body.toString()) as { type?: unknown; challenge?: unknown }
    if (asked.type !== 'url_verification' || typeof asked.challenge !== 'string') return undefined
    return { contentType: 'application/json', body: JSON.stringify({ challenge: asked.challenge.slice(0, MAX_ECHO) }) }
  } catch {
    return undefined
  }
}
