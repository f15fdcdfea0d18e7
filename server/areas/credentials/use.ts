import type { Database, Tx } from '#platform/db/pool'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Vault } from '#platform/secrets'
import { makeOutgoingCredential } from './apply.ts'
import { openSecrets, type Secrets } from './box.ts'
import type { CredentialCache } from './credential-cache.ts'
import type { CredentialRequest } from './credential-request.ts'
import type { CredentialJobHooks } from './job-hooks.ts'
import { isOAuth } from './kinds.ts'
import { type RefreshParts, refreshTokens } from './refresh.ts'
import { mayUse } from './rights.ts'
import * as store from './store.ts'
import type { UseNotes } from './use-notes.ts'

// The only function that resolves a credential for a person in a workspace. The result includes the allowed hosts: the
// egress checks every hop, and refuses every host that was not sealed with the secret.

export class CredentialRefused extends Error {
  readonly code:
    | 'credential_not_allowed'
    | 'credential_revoked'
    | 'credential_expired'
    | 'credential_needs_authorization'
    | 'credential_needs_reconnect'
    | 'credential_refresh_failed'
    | 'credential_unreadable'

  constructor(code: CredentialRefused['code'], message: string) {
    super(message)
    this.code = code
  }

  /** Only the token endpoint may succeed on a retry. */
  get retryable(): boolean {
    return this.code === 'credential_refresh_failed'
  }
}

export type Resolved = { row: store.Usable; credential: OutgoingCredential; secrets: Secrets }

export type ResolveParts = {
  db: Database
  vault: Vault
  notes: UseNotes
  outgoing: Pick<Outgoing, 'request'>
  jobs: CredentialJobHooks
  underWay: RefreshParts['underWay']
  cache: CredentialCache
  /** Finds the person for whom an execution acts. */
  findPrincipal(tx: Tx, workspaceId: string, executionId: string): Promise<{ user_id: string } | undefined>
}

const notAllowed = (): CredentialRefused =>
  new CredentialRefused(
    'credential_not_allowed',
    'the credential does not exist, or the person whose rights this execution uses may not use it; its owner can share it',
  )

export async function resolveCredential(parts: ResolveParts, wanted: CredentialRequest): Promise<Resolved> {
  const found = await findFor(parts, wanted)
  const row = isOAuth(found.kind) ? await withToken(parts, found) : found
  const { secrets } = openRow(parts.vault, row)
  parts.notes.note(wanted.workspaceId, wanted.credentialId)
  return { row, secrets, credential: outgoingOf(parts, row) }
}

/**
 * Renews the token a minute before it expires, or after half of a short lifetime. If the token endpoint is unavailable, a token that has not expired is
 * still used.
 */
async function withToken(parts: ResolveParts, row: store.Usable): Promise<store.Usable> {
  if (!row.token_stale) return row
  try {
    return await refreshTokens(parts, row, false)
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    if (error.code === 'credential_needs_reconnect') throw new CredentialRefused(error.code, error.message)
    if (!row.token_ended) return row
    throw new CredentialRefused('credential_refresh_failed', error.message)
  }
}

function outgoingOf(parts: ResolveParts, row: store.Usable): OutgoingCredential {
  const opened = { ...row, ...openRow(parts.vault, row) }
  if (!isOAuth(row.kind)) return makeOutgoingCredential(opened)
  return makeOutgoingCredential(opened, async () => {
    const renewed = await refreshTokens(parts, row, true)
    return renewed === row ? undefined : makeOutgoingCredential({ ...renewed, ...openRow(parts.vault, renewed) })
  })
}

async function findFor(parts: ResolveParts, wanted: CredentialRequest): Promise<store.Usable> {
  const row = parts.cache.find(wanted) ?? (await look(parts, wanted))
  if (row === undefined || (wanted.principal !== 'workspace' && !mayUse(row.role))) throw notAllowed()
  refuseUnusable(row)
  return row
}

type Found = store.Usable & { role: store.Role | null }

async function look(parts: ResolveParts, wanted: CredentialRequest): Promise<Found | undefined> {
  const { workspaceId, credentialId, principal } = wanted
  const since = parts.cache.begin()
  // Cached for the stored person only. Another person stands in for them in each workflow, with rights of their own.
  const kept = (row: Found | undefined): Found | undefined => {
    if (row) parts.cache.keep(wanted, row, since)
    return row
  }
  return parts.db.tenant({ workspaceId, userId: null }, async (tx) => {
    const as = (userId: string | null): Promise<Found | undefined> =>
      store.findUsable(tx, workspaceId, credentialId, userId)
    if (principal === 'workspace') return kept(await as(null))
    if ('userId' in principal) return kept(await as(principal.userId))
    // A person who has left has no role any more. Then the execution acts for another person.
    const stored = principal.principalId ? await as(principal.principalId) : undefined
    if (stored?.role) return kept(stored)
    return as((await parts.findPrincipal(tx, workspaceId, principal.executionId))?.user_id ?? null)
  })
}

function refuseUnusable({ name, state, problem, expired }: store.Usable): void {
  const refused = (code: CredentialRefused['code'], what: string) => new CredentialRefused(code, `"${name}" ${what}`)
  if (state === 'revoked') throw refused('credential_revoked', 'was revoked; store a new secret to use it again')
  if (state === 'needs_authorization')
    throw refused('credential_needs_authorization', 'is not connected yet; connect it')
  if (state === 'needs_reconnect')
    throw refused('credential_needs_reconnect', `must be connected again${problem === null ? '' : ` (${problem})`}`)
  if (expired) throw refused('credential_expired', 'has expired; store a new secret')
}

function openRow(vault: Vault, row: store.Usable): { secrets: Secrets; tokens: Secrets | undefined } {
  try {
    return {
      secrets: openSecrets(vault, row, row.secrets!),
      tokens: isOAuth(row.kind) && row.tokens ? openSecrets(vault, row, row.tokens, 'tokens') : undefined,
    }
  } catch {
    throw new CredentialRefused(
      'credential_unreadable',
      `the secret of "${row.name}" was stored for other hosts; store it again`,
    )
  }
}
