import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { migrate } from '#platform/db/migrate'
import { bootstrapRoles } from '#platform/db/roles'
import { makeLogger } from '#platform/log'
import { sqlProblems, statementsOf } from './problems.ts'

// A program of its own, so that `npm run check` does everything else meanwhile.

const root = join(import.meta.dirname, '..', '..')
const log = makeLogger('error')
const directory = await mkdtemp(join(tmpdir(), 'heddle-sql-'))
const postgres = await startEmbeddedPostgres({ dataDir: directory, log, durable: false })
try {
  const urls = await bootstrapRoles({
    ownerUrl: postgres.ownerUrl,
    passwordFor: (role) => role,
    createDatabase: 'sql',
  })
  await migrate({ ownerUrl: urls.owner, directory: join(root, 'migrations'), log })
  const client = new pg.Client({ connectionString: urls.owner })
  await client.connect()
  const problems = await sqlProblems(client, statementsOf(root))
  await client.end()
  console.log(problems.join('\n'))
  process.exitCode = problems.length > 0 ? 1 : 0
} finally {
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
}
