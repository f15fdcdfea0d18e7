import type pg from 'pg'

// Runs the worker's statements, except those of the journal. Each is prepared once per connection and runs in its own
// transaction.

export const runStatement = async <Row>(on: pg.Pool | pg.PoolClient, name: string, text: string, values: unknown[]) =>
  (await on.query({ name: `engine-${name}`, text, values })).rows as Row[]
