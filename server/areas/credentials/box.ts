import type { JsonObject } from '#model/definition'
import type { Vault } from '#platform/secrets'
import { type CredentialKind, sealedSettings } from './kinds.ts'

// The only place where a secret of a credential is sealed and opened: for its workspace, its row, and the hosts for
// which it was stored.

export type Secrets = Record<string, string>
export type Sealed = {
  workspace_id: string
  credential_id: string
  kind: CredentialKind
  hosts: string[]
  config: JsonObject
}

const placeOf = (of: Sealed, field: 'secrets' | 'tokens') =>
  [
    of.workspace_id,
    'credentials',
    of.credential_id,
    JSON.stringify([field, of.kind, [...of.hosts].sort(), ...sealedSettings(of.config)]),
  ] as const

export const sealSecrets = (
  vault: Vault,
  of: Sealed,
  secrets: Secrets,
  field: 'secrets' | 'tokens' = 'secrets',
): Buffer => vault.seal(placeOf(of, field), JSON.stringify(secrets))

/** Throws if the row was changed outside of this program. */
export const openSecrets = (
  vault: Vault,
  of: Sealed,
  sealed: Buffer,
  field: 'secrets' | 'tokens' = 'secrets',
): Secrets => JSON.parse(vault.open(placeOf(of, field), sealed)) as Secrets

/** Checks whether a secret that was sealed for `before` can be opened for `after`. */
export const opensFor = (before: Sealed, after: Sealed): boolean =>
  placeOf(before, 'secrets').join('\n') === placeOf(after, 'secrets').join('\n')
