import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { migrate } from '#platform/db/migrate'
import type { DatabaseUrls } from '#platform/db/pool'
import { bootstrapRoles } from '#platform/db/roles'

export type BenchDatabase = {
  urls: DatabaseUrls
  superuserUrl: string
  postmasterPid: number
  /** Changes each time the server is restarted. */
  postmaster(): number
  stop(): Promise<void>
}

/** Starts a separate, durable PostgreSQL (fsync on): figures without durability would be meaningless. */
export const startBenchDatabase = async (
  migrations = join(import.meta.dirname, '..', 'migrations'),
): Promise<BenchDatabase> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'heddle-bench-'))
  chmodSync(dataDir, 0o711)
  const log = pino({ level: 'warn' }, pino.destination(2))
  const postgres = await startEmbeddedPostgres({ dataDir, log })
  // The server outlives the process that started it, so a benchmark that is interrupted must stop the server.
  const abandon = (): void => {
    process.kill(postgres.postmasterPid, 'SIGQUIT')
    rmSync(dataDir, { recursive: true, force: true })
  }
  process.once('exit', abandon)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const urls = await bootstrapRoles({
    ownerUrl: postgres.ownerUrl,
    createDatabase: 'bench',
    passwordFor: (role) => role,
  })
  await migrate({ ownerUrl: urls.owner, directory: migrations, log })
  return {
    urls,
    superuserUrl: postgres.ownerUrl,
    postmasterPid: postgres.postmasterPid,
    postmaster: () => postgres.postmasterPid,
    stop: async () => {
      process.off('exit', abandon)
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

export const percentile = (values: number[], p: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((p / 100) * sorted.length))] ?? Number.NaN
}

/** Opens a pool for observing. Errors of clients that are closed while the database stops are ignored. */
export function openPool(options: pg.PoolConfig): pg.Pool {
  const ignored = (): void => {}
  return new pg.Pool(options).on('error', ignored).on('connect', (client) => client.on('error', ignored))
}
