import { pino } from 'pino'
import { type EmbeddedOptions, startEmbeddedPostgres } from '#platform/db/embedded'

// A program that only owns an embedded database, for tests that kill it. It prints one line when the database is ready.

const options = JSON.parse(process.argv[2] ?? '{}') as Pick<EmbeddedOptions, 'dataDir' | 'places'>
try {
  const postgres = await startEmbeddedPostgres({ ...options, log: pino(pino.destination(2)) })
  const alive = setInterval(() => {}, 1000)
  process.once('SIGTERM', async () => {
    await postgres.stop()
    clearInterval(alive)
  })
  const { ownerUrl, directory, adopted, postmasterPid } = postgres
  console.log(JSON.stringify({ ownerUrl, directory, adopted, postmasterPid }))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
