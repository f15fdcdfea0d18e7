// On each `go` message, runs five durable steps COUNT times, with IN_FLIGHT at once. Runs in a folder where the peer is
// installed: `node dbos-program.mjs DATABASE_URL COUNT IN_FLIGHT`.
import { DBOS } from '@dbos-inc/dbos-sdk'

const [url, count, inFlight] = process.argv.slice(2)
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: url,
  logLevel: 'error',
  runAdminServer: false,
  systemDatabasePoolSize: 20,
})
const chain = DBOS.registerWorkflow(
  async (value) => {
    let last = value
    for (let n = 0; n < 5; n += 1) last = await DBOS.runStep(async () => last, { name: `n${n}` })
    return last
  },
  { name: 'chain' },
)
await DBOS.launch()

async function many(runs) {
  let left = runs
  await Promise.all(
    Array.from({ length: Number(inFlight) }, async () => {
      while (left-- > 0) if ((await chain(7)) !== 7) throw new Error('the result is wrong')
    }),
  )
}
process.on('message', async (message) => {
  if (message !== 'go') return
  await many(Number(count))
  process.send('done')
})
await many(200)
process.send('ready')
process.on('disconnect', () => process.exit(0))
