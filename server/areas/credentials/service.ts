import { checkOwner, checkShares, type NewShare, replaceShares } from '#areas/teams/personal-shares'
import { recordAudit } from '#platform/audit'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import type { Vault } from '#platform/secrets'
import { opensFor, type Secrets, sealSecrets } from './box.ts'
import { checkConfig, checkSecrets, completeDraft, type Draft, secretSchemaOf } from './check.ts'
import { CHANGED } from './credential-cache.ts'
import { namesFor } from './hosts.ts'
import type { CredentialJobHooks } from './job-hooks.ts'
import { type CredentialKind, kindForms } from './kinds.ts'
import { presets } from './presets.ts'
import type { Credential, CredentialPatch, CredentialSecret, CredentialState, NewCredential } from './schema.ts'
import * as store from './store.ts'

// The operations on credentials. Secrets are accepted but never returned.

export type ById = { credential_id: string }

export type VaultParts = { vault: Vault; jobs: CredentialJobHooks }

const firstState = (kind: CredentialKind): CredentialState => (kind === 'oauth2_code' ? 'needs_authorization' : 'ready')

/** Converts a row for the API. Shares are stored by uuid, with people and teams in separate columns. */
const view = (row: Credential): Credential => ({
  ...row,
  shared: row.shared.map(({ kind, id, role }) => ({
    kind,
    ...(id !== undefined && { id: toWire(kind === 'team' ? 'team' : 'usr', id) }),
    role,
  })),
})

export async function getCredential(ctx: Context, { credential_id }: ById): Promise<Credential> {
  const row = await store.findCredential(ctx.tx, ctx.workspace.workspace_id, credential_id, ctx.person.user_id)
  if (!row?.role) throw problem('not_found')
  return view(row)
}

export async function listCredentials(
  ctx: Context,
  { usable, ...asked }: ListInput & { usable?: 'true' | 'false' | undefined },
) {
  const roles: store.Role[] = usable === 'true' ? ['owner', 'edit', 'use'] : ['owner', 'edit', 'use', 'see', 'manage']
  const page = await store.listCredentials(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, roles, asked)
  return { ...page, items: page.items.map(view) }
}

export type CredentialsFor = Omit<store.CredentialsFor, 'hosts'> & { url?: URL }

/** Lists the credentials that the person can see and that one service accepts. */
export async function listCredentialsFor(ctx: Context, { url, ...wanted }: CredentialsFor, asked: ListInput) {
  const { workspace_id } = ctx.workspace
  const hosts = url ? namesFor(url) : []
  const page = await store.listCredentialsFor(ctx.tx, workspace_id, ctx.person.user_id, { ...wanted, hosts }, asked)
  return { ...page, items: page.items.map(view) }
}

export async function createCredential(parts: VaultParts, ctx: Context, input: NewCredential): Promise<Credential> {
  const { workspace_id } = ctx.workspace
  const draft = completeDraft(input)
  checkConfig(draft)
  const { secrets, shared = [] } = input
  checkSecrets(draft, secrets)
  await checkShares(ctx, shared)
  const credential_id = newId()
  await store.insertCredential(ctx.tx, workspace_id, {
    ...draft,
    credential_id,
    name: input.name,
    state: firstState(draft.kind),
    owner_id: ctx.person.user_id,
    secrets: sealSecrets(parts.vault, { ...draft, workspace_id, credential_id }, secrets),
    expires_at: input.expires_at ?? null,
  })
  await replaceShares(ctx.tx, workspace_id, 'credential', credential_id, shared)
  await audit(ctx, credential_id, 'credential.created', { kind: draft.kind, hosts: draft.hosts })
  return getCredential(ctx, { credential_id })
}

export async function updateCredential(
  parts: VaultParts,
  ctx: Context,
  { credential_id, ...patch }: ById & CredentialPatch,
): Promise<Credential> {
  const { workspace_id } = ctx.workspace
  const present = await locked(ctx, credential_id)
  if (patch.shared !== undefined || patch.owner_id !== undefined) await requireOwner(ctx, credential_id)
  if (patch.shared) await checkShares(ctx, patch.shared)
  if (patch.owner_id !== undefined) await checkOwner(ctx, patch.owner_id)
  const after = changedDraft(present, patch)
  checkConfig(after)
  const sealed = { ...present, ...after }
  if (patch.secrets !== undefined) {
    checkSecrets(after, patch.secrets)
  } else if (present.secrets !== null && !opensFor(present, sealed)) {
    throw invalid(
      [{ path: '/secrets', message: 'is required: the stored secret is for other hosts or addresses' }],
      'Send the secret again together with the new hosts or addresses.',
    )
  }
  await store.updateCredential(ctx.tx, workspace_id, credential_id, {
    name: patch.name,
    hosts: after.hosts,
    config: after.config,
    owner_id: patch.owner_id,
    expires_at: patch.expires_at,
  })
  if (patch.secrets) await putSecrets(parts, ctx, sealed, patch.secrets)
  if (patch.shared) await replaceShares(ctx.tx, workspace_id, 'credential', credential_id, patch.shared)
  await audit(ctx, credential_id, patch.shared ? 'credential.shared' : 'credential.changed', {
    hosts: after.hosts,
    ...(patch.shared && { shared: patch.shared.map(describeShare) }),
  })
  return getCredential(ctx, { credential_id })
}

const describeShare = (share: NewShare): string =>
  `${share.kind === 'workspace' ? 'workspace' : toWire(share.kind === 'team' ? 'team' : 'usr', share.id)}: ${share.role}`

/** Keeps the name of the service in the config. All other settings must be sent again. */
function changedDraft(present: store.Usable, patch: CredentialPatch): Draft {
  const { kind, service } = present
  const config =
    patch.config === undefined
      ? present.config
      : { ...patch.config, ...(kind === 'service' && { service: present.config.service }) }
  return { kind, service, hosts: [...(patch.hosts ?? present.hosts)].sort(), config: config as Draft['config'] }
}

/**
 * Replaces the secret in place: the id stays valid in every workflow that names it. A revoked credential works again.
 */
export async function rotateSecret(
  parts: VaultParts,
  ctx: Context,
  { credential_id, secrets, expires_at }: ById & CredentialSecret,
): Promise<Credential> {
  const present = await locked(ctx, credential_id)
  checkSecrets(present, secrets)
  await putSecrets(parts, ctx, present, secrets)
  if (expires_at !== undefined)
    await store.updateCredential(ctx.tx, ctx.workspace.workspace_id, credential_id, { expires_at })
  return getCredential(ctx, { credential_id })
}

/**
 * Erases the secret. The row stays, so that workflows that name the credential fail with the reason. A second call
 * deletes the row.
 */
export async function revokeCredential(parts: VaultParts, ctx: Context, { credential_id }: ById): Promise<void> {
  const { workspace_id } = ctx.workspace
  await locked(ctx, credential_id)
  if ((await store.revokeCredential(ctx.tx, workspace_id, credential_id)) === 0) {
    await store.deleteCredential(ctx.tx, workspace_id, credential_id)
    await audit(ctx, credential_id, 'credential.deleted')
    return
  }
  await parts.jobs.pauseJobsNaming(ctx.tx, workspace_id, credential_id)
  await audit(ctx, credential_id, 'credential.revoked')
}

/** Returns the forms for an editor. */
export async function listCredentialKinds() {
  return {
    kinds: Object.values(kindForms),
    services: presets.map((preset) => ({
      service: preset.service,
      title: preset.title,
      kind: preset.kind,
      hosts: preset.hosts,
      config: preset.config,
      secret_schema: secretSchemaOf(preset.kind, preset),
      help: preset.help ?? null,
    })),
  }
}

async function putSecrets(parts: VaultParts, ctx: Context, of: store.Usable, secrets: Secrets): Promise<void> {
  const { workspace_id } = ctx.workspace
  await store.storeSecrets(ctx.tx, workspace_id, of.credential_id, {
    secrets: sealSecrets(parts.vault, of, secrets),
    state: firstState(of.kind),
  })
  if (firstState(of.kind) === 'ready') await parts.jobs.resumeJobsNaming(ctx.tx, workspace_id)
  await audit(ctx, of.credential_id, 'credential.secret_stored')
}

async function locked(ctx: Context, credentialId: string): Promise<store.Usable> {
  const row = await store.lockUsable(ctx.tx, ctx.workspace.workspace_id, credentialId)
  if (!row) throw problem('not_found')
  return row
}

async function requireOwner(ctx: Context, credentialId: string): Promise<void> {
  const role = await store.findRole(ctx.tx, ctx.workspace.workspace_id, credentialId, ctx.person.user_id)
  if (role !== 'owner') throw problem('forbidden', 'Only the owner of a credential may share it or transfer it.')
}

/** Records a change in its transaction and makes every process drop its cached credentials. */
function audit(ctx: Context, credentialId: string, action: string, data: Record<string, unknown> = {}): Promise<void> {
  ctx.tx.hint(CHANGED, credentialId)
  return recordAudit(ctx, ctx.tx, { action, subject: toWire('cred', credentialId), data })
}
