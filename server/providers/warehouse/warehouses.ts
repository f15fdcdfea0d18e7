import { join } from 'node:path'
import { makeChildPool } from '#platform/children/pool'
import { prestart } from '#platform/children/prestart'
import { MINUTE, SECOND } from '#platform/clock'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeBigquery } from './bigquery.ts'
import { startWarehouseChild } from './child.ts'
import { makeClickhouse } from './clickhouse.ts'
import { limitQueryTime, messageOf, withTimeout } from './common.ts'
import { makeDatabricks } from './databricks.ts'
import { makeDuckdb } from './duckdb.ts'
import { runInChild } from './in-child.ts'
import { type Target, type Warehouse, WarehouseFailure, type Warehouses, type Work } from './index.ts'
import { makeMysql } from './mysql.ts'
import { makePostgres, makeRedshift } from './postgres.ts'
import { makeSnowflake } from './snowflake.ts'
import { makeSqlserver } from './sqlserver.ts'

/** Returns the directory of the DuckDB files of all workspaces. */
export const duckdbDirectory = (dataDir: string): string => join(dataDir, 'warehouses')

export type WarehousesOptions = {
  allowTargets: readonly string[]
  dataDir: string
  /** The number of processes that connect to warehouses, and the number of processes that run DuckDB. */
  processes?: number
  duckdbProcesses?: number
}

const PROCESSES = 8
const DUCKDB_PROCESSES = 3
/** The processes have a lower priority than the service, even if a driver needs much processor time. */
const NICENESS = 10
/**
 * Starting Node.js and loading DuckDB takes half a second of processor time, and several seconds on a busy machine, so
 * one process is started in advance.
 */
const AHEAD_FOR = 10 * MINUTE
const AHEAD_AFTER = 1 * SECOND

/** Runs every probe and query in a separate process; the service itself has only the descriptions of the warehouses. */
export function makeWarehouses(options: WarehousesOptions) {
  const { allowTargets } = options
  const directory = duckdbDirectory(options.dataDir)
  const pool = makeChildPool({
    size: options.processes ?? PROCESSES,
    start: () => startWarehouseChild({ addons: false, niceness: NICENESS }),
  })
  const startDuckdb = () => {
    const child = startWarehouseChild({ addons: true, niceness: NICENESS })
    child.warm('duckdb')
    return child
  }
  const duckdbAhead = prestart(startDuckdb, { keepMs: AHEAD_FOR, afterMs: AHEAD_AFTER })
  const duckdbPool = makeChildPool({ size: options.duckdbProcesses ?? DUCKDB_PROCESSES, start: duckdbAhead.start })
  const outside = (warehouse: Warehouse): Warehouse =>
    discreet(runInChild(warehouse, warehouse.kind === 'duckdb' ? duckdbPool : pool, { allowTargets, directory }))
  const outgoing = makeOutgoing({ allowTargets })
  const warehouses: Warehouses = {
    postgres: outside(makePostgres(outgoing)),
    redshift: outside(makeRedshift(outgoing)),
    snowflake: outside(makeSnowflake(outgoing)),
    bigquery: outside(makeBigquery(outgoing)),
    databricks: outside(makeDatabricks(outgoing)),
    clickhouse: outside(makeClickhouse(outgoing)),
    duckdb: outside(makeDuckdb(directory)),
    mysql: outside(makeMysql(outgoing)),
    sqlserver: outside(makeSqlserver(outgoing)),
  }
  return {
    warehouses,
    /** The number of processes that are working or idle. */
    live: () => ({ remote: pool.live, duckdb: duckdbPool.live }),
    async close(): Promise<void> {
      duckdbAhead.close()
      await Promise.all([pool.close(), duckdbPool.close(), outgoing.close()])
    },
  }
}

/**
 * Keeps secrets out of error messages: servers and drivers quote what they received, so each message is searched for
 * the values of the secrets. Every probe and query also has a timeout here, independent of its driver's own timeouts.
 */
function discreet(warehouse: Warehouse): Warehouse {
  const { execute } = warehouse
  return {
    ...warehouse,
    ...(execute && {
      async execute(target: Target, work: Work) {
        const late = AbortSignal.timeout(work.timeoutMs)
        try {
          return await execute(target, { ...work, signal: AbortSignal.any([work.signal, late]) })
        } catch (error) {
          throw withoutSecrets(
            error,
            target,
            late.aborted ? `no answer within ${Math.round(work.timeoutMs / 1000)} s` : undefined,
          )
        }
      },
    }),
    probe: (target, options) =>
      withTimeout(options, (signal) => warehouse.probe(target, { ...options, signal })).catch((error: unknown) => {
        throw withoutSecrets(error, target)
      }),
    async query(target, query) {
      try {
        const { columns, pages } = await limitQueryTime(query, (timed) => warehouse.query(target, timed))
        return { columns, pages: guarded(pages, target) }
      } catch (error) {
        throw withoutSecrets(error, target)
      }
    },
  }
}

async function* guarded<T>(pages: AsyncIterable<T>, target: Target): AsyncGenerator<T> {
  try {
    yield* pages
  } catch (error) {
    throw withoutSecrets(error, target)
  }
}

function withoutSecrets(error: unknown, { secrets }: Pick<Target, 'secrets'>, instead?: string): WarehouseFailure {
  const step = error instanceof WarehouseFailure ? error.step : 'read'
  let message = instead ?? messageOf(error)
  for (const secret of Object.values(secrets).flatMap(partsOf)) {
    const spellings = [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
      JSON.stringify(secret).slice(1, -1),
    ]
    for (const spelling of spellings) message = message.replaceAll(spelling, '[redacted]')
  }
  return new WarehouseFailure(step, message, error instanceof WarehouseFailure ? error.changed : 'unknown')
}

/**
 * Returns the parts to redact. A key file contains many secrets. Redacting shorter texts would only mangle ordinary
 * words.
 */
function partsOf(secret: string): string[] {
  if (!secret.startsWith('{')) return secret.length < 4 ? [] : [secret]
  try {
    const values = Object.values(JSON.parse(secret) as Record<string, unknown>)
    return [secret, ...values.filter((value): value is string => typeof value === 'string' && value.length >= 16)]
  } catch {
    return [secret]
  }
}
