// Every column that holds sealed values. A rotation seals them anew; a test holds this list against the schema.

export type SealedColumn = {
  table: string
  column: string
  /** What finds a row again. */
  key: readonly string[]
  /** Which of its rows are sealed, where not all are. */
  where?: string
}

/** Names of values in `installation` that are sealed; the others are ids of keys, and keys under other keys. */
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
