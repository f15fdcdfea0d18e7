import { setTimeout as sleep } from 'node:timers/promises'
import { startHostilePostgres } from '../../server/providers/warehouse/testing/hostile-postgres.ts'
import { type Attack, runAtOnce, type Tenant, times } from './attack.ts'

// A warehouse of the tenant, and a database that runs the tenant's queries: both run outside the service.

/** The settings of the service need the port before the server exists. */
const PORT = 45_871

/** Returns a map over `count` items, each with one query. */
const queries = (connection_id: string, query: string) => ({
  nodes: [
    {
      id: 'each',
      type: 'map',
      args: {
        items: { $ref: 'input.items' },
        concurrency: 16,
        body: { nodes: [{ id: 'q', type: 'warehouse.query', args: { connection_id, query } }], edges: [] },
      },
    },
  ],
  edges: [],
})

const connect = async (tenant: Tenant, kind: string, config: object, secrets = {}): Promise<string> =>
  (await tenant.post('/api/connections', { name: 'Hostile', kind, config, secrets })).connection_id!

export const endlessWarehouse: Attack = {
  name: 'warehouse.endless',
  does: 'a map over 16 queries of a server that sends rows without end',
  settings: { HEDDLE_ALLOW_TARGETS: `127.0.0.1:${PORT}` },
  async prepare(world) {
    const server = await startHostilePostgres('rows', PORT)
    const tenant = await world.tenant()
    const config = { host: '127.0.0.1', port: PORT, database: 'd', user: 'u' }
    const connection = await connect(tenant, 'postgres', config, { password: 'p' })
    const items = times(16, (n) => n)
    const strike = await runAtOnce(tenant, queries(connection, 'select x from t'), { count: 1, input: { items } })
    return async () => {
      const ends = await strike()
      // The last connection is closed a moment after the execution has ended.
      for (let waited = 0; server.open() > 0 && waited < 2_000; waited += 50) await sleep(50)
      if (server.open() > 0) throw new Error(`${server.open()} connections stayed open (${ends})`)
      return ends
    }
  },
}

export const duckdbMemory: Attack = {
  name: 'warehouse.duckdb',
  does: "a map over 16 DuckDB queries for repeat('x', 3e9)",
  async prepare(world) {
    const tenant = await world.tenant()
    const connection = await connect(tenant, 'duckdb', {})
    const query = "select length(repeat('x', 3000000000)) as n"
    return runAtOnce(tenant, queries(connection, query), { count: 1, input: { items: times(16, (n) => n) } })
  },
}
