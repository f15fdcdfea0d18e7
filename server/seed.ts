import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import type { Config } from '#platform/config'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'

// What an empty database gets at the first start.

export type SeedOptions = { config: Config; ownerUrl: string; http: FastifyInstance; log: Logger }

/** Runs once per database; returns the lines a person must read. */
export async function seed(options: SeedOptions): Promise<string[]> {
  const client = new pg.Client({ connectionString: options.ownerUrl })
  await client.connect()
  try {
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(hashtext('heddle seed'))`)
    const { rowCount } = await client.query('select from orgs limit 1')
    if (rowCount === 0) await client.query('insert into orgs (org_id, name) values ($1, $2)', [newId(), 'Heddle'])
    await client.query('commit')
    return []
  } finally {
    await client.end()
  }
}
