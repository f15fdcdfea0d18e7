// Every column with sealed values. A rotation reseals them. A test compares this list with the schema.

export type SealedColumn = {
  table: string
  column: string
  /** The columns that identify a row. */
  key: readonly string[]
  /** The condition for rows with a sealed value, if not all rows have one. */
  where?: string
}

/** The names of the sealed values in `installation`. The other values are key ids, and keys sealed with other keys. */
const SEALED_FACTS = ['key_check', 'signing_root'] as const

export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'installation',
    column: 'value',
    key: ['name'],
    where: `name in (${SEALED_FACTS.map((name) => `'${name}'`).join(', ')})`,
  },
  { table: 'credentials', column: 'secrets', key: ['workspace_id', 'credential_id'] },
  { table: 'credentials', column: 'tokens', key: ['workspace_id', 'credential_id'] },
  { table: 'credential_authorizations', column: 'verifier', key: ['state_hash'] },
  { table: 'connections', column: 'secrets', key: ['workspace_id', 'connection_id'] },
  { table: 'gateway_channels', column: 'credentials', key: ['workspace_id', 'config_id'] },
  { table: 'webhook_tokens', column: 'secret', key: ['workspace_id', 'token_id'] },
  { table: 'event_destinations', column: 'secret', key: ['workspace_id', 'destination_id'] },
  { table: 'event_destinations', column: 'previous_secret', key: ['workspace_id', 'destination_id'] },
  { table: 'totp_factors', column: 'secret', key: ['user_id'] },
  { table: 'idempotency_keys', column: 'answer', key: ['day', 'key_hash'] },
]
