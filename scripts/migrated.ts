import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { migrate } from '#platform/db/migrate'
import type { DatabaseUrls } from '#platform/db/pool'
import { bootstrapRoles } from '#platform/db/roles'
import { type Logger, makeLogger } from '#platform/log'

export const root = join(import.meta.dirname, '..')

export type Migrated = { urls: DatabaseUrls; directory: string; log: Logger }

/** Provides a PostgreSQL with all migrations applied while `use` runs. */
export async function withMigratedDatabase<T>(use: (place: Migrated) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-scripts-'))
  const log = makeLogger('error')
  const postgres = await startEmbeddedPostgres({ dataDir: directory, log, durable: false })
  try {
    const urls = await bootstrapRoles({
      ownerUrl: postgres.ownerUrl,
      passwordFor: (role) => role,
      createDatabase: 'scripts',
    })
    await migrate({ ownerUrl: urls.owner, directory: join(root, 'migrations'), log })
    return await use({ urls, directory, log })
  } finally {
    await postgres.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
