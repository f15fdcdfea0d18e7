import type { Place, Vault } from '#platform/secrets'

export type Credentials = Record<string, string>

/** Encrypts credentials for one row. Copied to another row, they cannot be decrypted. */
export function makeCredentials(vault: Vault) {
  const placeOf = (workspaceId: string, configId: string): Place => [
    workspaceId,
    'gateway_channels',
    configId,
    'credentials',
  ]
  return {
    seal: (workspaceId: string, configId: string, credentials: Credentials): Buffer | null =>
      Object.keys(credentials).length === 0
        ? null
        : vault.seal(placeOf(workspaceId, configId), JSON.stringify(credentials)),
    open: (row: { workspace_id: string; config_id: string; credentials: Buffer | null }): Credentials =>
      row.credentials === null
        ? {}
        : (JSON.parse(vault.open(placeOf(row.workspace_id, row.config_id), row.credentials)) as Credentials),
  }
}

export type CredentialBox = ReturnType<typeof makeCredentials>
