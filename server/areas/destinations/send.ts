import { CredentialRefused } from '#areas/credentials/use'
import { toStorableText } from '#model/storable'
import { SECOND } from '#platform/clock'
import { toWire } from '#platform/ids'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { retryAfterS } from '#platform/outgoing/retry-after'
import type { Vault } from '#platform/secrets'
import type { Attempt, Loaded } from './deliveries-store.ts'
import { messageOf } from './message.ts'
import { openSigningSecret, signDelivery } from './sign.ts'

// One attempt of one delivery: signed, sent through the guarded client, limited in time and size, and never redirected.

export const ANSWER_WITHIN_S = 15
/** The maximum size of the answer that is read and masked. Only its start is stored. */
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_KEPT = 1_000
const GONE = 410
const MAX_RETRY_AFTER_S = 3_600

export type SendParts = {
  outgoing: Pick<Outgoing, 'request'>
  vault: Vault
  baseUrl(): string
  openCredential(wanted: {
    workspaceId: string
    credentialId: string
    userId: string | null
  }): Promise<OutgoingCredential>
}

export type Outcome = Attempt & {
  /** True if the receiver says that it will never accept events again. */
  gone: boolean
  retryAfterS: number | null
}

const retryAfterOf = (headers: Record<string, string>): number | null => {
  const seconds = retryAfterS(headers['retry-after'], headers.date)
  return seconds === undefined ? null : Math.min(seconds, MAX_RETRY_AFTER_S)
}

export async function sendDelivery(parts: SendParts, event: Loaded, signal: AbortSignal): Promise<Outcome> {
  const began = performance.now()
  const over = (rest: Omit<Outcome, 'duration_ms' | 'gone' | 'retryAfterS'> & Partial<Outcome>): Outcome => ({
    gone: false,
    retryAfterS: null,
    duration_ms: Math.round(performance.now() - began),
    ...rest,
  })
  try {
    const body = JSON.stringify(messageOf(event, parts.baseUrl()))
    const credential =
      event.credential_id === null
        ? undefined
        : await parts.openCredential({
            workspaceId: event.workspace_id,
            credentialId: event.credential_id,
            userId: event.owner_id,
          })
    const answer = await parts.outgoing.request({
      method: 'POST',
      url: event.url,
      headers: {
        'content-type': 'application/json',
        ...signDelivery(secretsOf(parts.vault, event), toWire('dlv', event.delivery_id), new Date(), body),
      },
      body,
      signal,
      timeoutMs: ANSWER_WITHIN_S * SECOND,
      maxBytes: MAX_ANSWER_BYTES,
      cut: true,
      redirects: false,
      ...(credential && { credential }),
    })
    const { status } = answer
    const ok = status >= 200 && status < 300
    return over({
      ok,
      answer_status: status,
      answer_text: toStorableText(answer.body.toString('utf8'), MAX_KEPT),
      problem: ok ? null : problemOf(status),
      gone: status === GONE,
      retryAfterS: retryAfterOf(answer.headers),
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof OutgoingFailure || error instanceof CredentialRefused)) throw error
    return over({ ok: false, answer_status: null, answer_text: null, problem: toStorableText(error.message, MAX_KEPT) })
  }
}

const secretsOf = (vault: Vault, event: Loaded): string[] => [
  openSigningSecret(vault, event, 'secret', event.secret),
  ...(event.previous_secret ? [openSigningSecret(vault, event, 'previous_secret', event.previous_secret)] : []),
]

function problemOf(status: number): string {
  if (status >= 300 && status < 400) return `the receiver answered ${status}; redirects are not followed`
  return `the receiver answered ${status}`
}
