import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { newId, toWire } from '#platform/ids'
import { emitEvent } from '#platform/outbox'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Vault } from '#platform/secrets'
import { openSecrets, sealSecrets } from './box.ts'
import type { CredentialJobHooks } from './job-hooks.ts'
import * as store from './store.ts'
import { GrantRefused, requestTokens, type Tokens } from './token-endpoint.ts'
import * as tokenStore from './token-store.ts'

// One refresh at a time across all processes: the process that gets the lease calls the token endpoint outside any
// transaction, and the others wait for the row to change. So a refresh token that is usable once is never used twice.

export type RefreshParts = {
  db: Database
  vault: Vault
  outgoing: Pick<Outgoing, 'request'>
  jobs: CredentialJobHooks
  /** The running refreshes of this process, by credential and version. */
  underWay: Map<string, Promise<store.Usable>>
}

const WAIT = 100
const WAIT_AT_MOST = 35 * SECOND

/**
 * Returns the row with a token that is newer than the token of `row`. `refused` is true if the service answered 401
 * to the token of `row`.
 */
export function refreshTokens(parts: RefreshParts, row: store.Usable, refused: boolean): Promise<store.Usable> {
  const key = `${row.credential_id} ${row.token_version}`
  let refreshing = parts.underWay.get(key)
  if (refreshing === undefined) {
    refreshing = refreshOrWait(parts, row, refused).finally(() => parts.underWay.delete(key))
    parts.underWay.set(key, refreshing)
  }
  return refreshing
}

async function refreshOrWait(parts: RefreshParts, row: store.Usable, refused: boolean): Promise<store.Usable> {
  const { workspace_id: workspaceId, credential_id: credentialId, token_version: version } = row
  const inWorkspace = { workspaceId, userId: null }
  const giveUpAt = performance.now() + WAIT_AT_MOST
  for (;;) {
    const lease = newId()
    const won = await parts.db.tenant(inWorkspace, (tx) =>
      tokenStore.takeLease(tx, workspaceId, credentialId, { lease, version, refused }),
    )
    if (won) await refreshUnder(parts, row, lease)
    const now = await parts.db.tenant(inWorkspace, (tx) => store.findUsable(tx, workspaceId, credentialId, null))
    if (now === undefined || now.state === 'revoked') throw reconnect(row.name, 'it was revoked')
    if (now.state !== 'ready') throw reconnect(row.name, now.problem)
    if (now.token_version !== version) return now
    // Another call has renewed the token because of a 401 a moment ago, and its new token is refused too. So the token
    // is not the cause.
    if (refused && !now.refreshing) return row
    if (performance.now() > giveUpAt)
      throw new OutgoingFailure('credential_refresh_failed', `the token of "${row.name}" could not be renewed in time`)
    await new Promise((resolve) => setTimeout(resolve, WAIT))
  }
}

const reconnect = (name: string, why: string | null): OutgoingFailure =>
  new OutgoingFailure(
    'credential_needs_reconnect',
    `"${name}" must be connected again${why === null ? '' : ` (${why})`}`,
  )

async function refreshUnder(parts: RefreshParts, row: store.Usable, lease: string): Promise<void> {
  const { workspace_id: workspaceId, credential_id: credentialId } = row
  const inWorkspace = { workspaceId, userId: null }
  try {
    const { secrets, lifetimeS } = await renewed(parts, row)
    const tokens = sealSecrets(parts.vault, row, secrets, 'tokens')
    await parts.db.tenant(inWorkspace, (tx) =>
      tokenStore.storeTokens(tx, workspaceId, credentialId, { lease, tokens, lifetimeS }),
    )
  } catch (error) {
    if (error instanceof GrantRefused) {
      await notifyNeedsReconnect(parts, row, lease, error.message)
      return
    }
    await parts.db.tenant(inWorkspace, (tx) => tokenStore.releaseLease(tx, workspaceId, credentialId, lease))
    if (error instanceof OutgoingFailure && error.code !== 'credential_refresh_failed')
      throw new OutgoingFailure('credential_refresh_failed', `the token address of "${row.name}": ${error.message}`)
    throw error
  }
}

async function renewed({ vault, outgoing }: RefreshParts, row: store.Usable): Promise<Tokens> {
  const { name, kind, config } = row
  const clientSecret = openSecrets(vault, row, row.secrets!).client_secret ?? ''
  const client = { name, config, clientSecret }
  const scopes = Array.isArray(config.scopes) ? config.scopes.join(' ') : ''
  if (kind === 'oauth2_client')
    return requestTokens(outgoing, client, {
      grant_type: 'client_credentials',
      ...(scopes !== '' && { scope: scopes }),
    })
  const before = row.tokens === null ? {} : openSecrets(vault, row, row.tokens, 'tokens')
  const { refresh_token } = before
  if (refresh_token === undefined)
    throw new GrantRefused('the token has expired and the service issued no refresh token')
  const tokens = await requestTokens(outgoing, client, { grant_type: 'refresh_token', refresh_token })
  // Services that do not rotate the refresh token do not repeat it.
  return { ...tokens, secrets: { refresh_token, ...tokens.secrets } }
}

/**
 * Marks the credential and notifies its owner once. No refresh is tried until a person has connected the credential
 * again.
 */
async function notifyNeedsReconnect(
  parts: RefreshParts,
  { workspace_id: workspaceId, credential_id: credentialId }: store.Usable,
  lease: string,
  problem: string,
): Promise<void> {
  await parts.db.tenant({ workspaceId, userId: null }, async (tx) => {
    const marked = await tokenStore.markNeedsReconnect(tx, workspaceId, credentialId, { lease, problem })
    if (marked === undefined) return
    await parts.jobs.pauseJobsNaming(tx, workspaceId, credentialId)
    const id = toWire('cred', credentialId)
    await emitEvent(tx, {
      workspaceId,
      type: 'credential.needs_reconnect',
      subjectId: credentialId,
      data: { credential_id: id, name: marked.name, problem },
    })
    await deliverEvent(tx, {
      workspaceId,
      kind: 'credential.needs_reconnect',
      title: `"${marked.name}" must be connected again`,
      body: `The service no longer accepts it (${problem}). Workflows and jobs that use it wait until it is connected again.`,
      data: { credential_id: id },
      link: `/credentials/${id}`,
      to: marked.owner_id === null ? await tokenStore.listWorkspaceOwners(tx, workspaceId) : [marked.owner_id],
    })
  })
}
