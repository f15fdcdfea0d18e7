import type pg from 'pg'

// The worker's statements besides the journal's. Each is prepared once per connection and runs in a transaction of its own.

export const ask = async <Row>(on: pg.Pool | pg.PoolClient, name: string, text: string, values: unknown[]) =>
  (await on.query({ name: `engine-${name}`, text, values })).rows as Row[]
