import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '#platform/config'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { migrate } from '#platform/db/migrate'
import { openDatabase } from '#platform/db/pool'
import { bootstrapRoles } from '#platform/db/roles'
import { makeLogger } from '#platform/log'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { documents } from './documents.ts'
import { pinNewMigrations } from './migrations.ts'

// `npm run generate`: lists new migrations, and prints the documents from a program that runs on a database of its own.

const root = join(import.meta.dirname, '..')
pinNewMigrations(root)
const directory = await mkdtemp(join(tmpdir(), 'heddle-generate-'))
const log = makeLogger('error')
const vault = makeVault(Buffer.alloc(32, 1))
const postgres = await startEmbeddedPostgres({ dataDir: directory, log, durable: false })
try {
  const urls = await bootstrapRoles({
    ownerUrl: postgres.ownerUrl,
    passwordFor: (role) => vault.derive(role).toString('hex'),
    createDatabase: 'generate',
  })
  await migrate({ ownerUrl: urls.owner, directory: join(root, 'migrations'), log })
  const db = openDatabase({ urls, log })
  const config = readConfig({ HEDDLE_DATA_DIR: directory, HEDDLE_LOG_LEVEL: 'error' })
  const app = await makeApp({ config, db, vault, log, baseUrl: () => 'http://127.0.0.1:4100' })
  for (const [path, print] of Object.entries(documents)) await writeFile(join(root, path), print(app))
  await app.stop()
  await db.close()
} finally {
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
}
