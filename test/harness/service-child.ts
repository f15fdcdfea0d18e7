import { flushCompileCache } from 'node:module'
import { kind } from '#engine/testing'
import { readConfig } from '#platform/config'
import { shareConnections } from '#platform/db/connections'
import { type DatabaseUrls, openDatabase } from '#platform/db/pool'
import { makeLogger } from '#platform/log'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'

// The service in a separate process on a given database, so that a test or a node can kill it.

const urls = JSON.parse(process.argv[2]!) as DatabaseUrls
const config = readConfig({ HEDDLE_RATE_LIMITS: 'off', HEDDLE_LOG_LEVEL: 'error', HEDDLE_DATA_DIR: process.argv[3]! })
const log = makeLogger('error')
const db = openDatabase({ urls, log, connections: shareConnections('all', 16) })
let address = ''
const deadly = kind('deadly', 'pure', (call) => {
  if (call.args.now === true) process.kill(process.pid, 'SIGKILL')
  return { output: null }
})
const app = await makeApp({
  config,
  db,
  vault: makeVault(Buffer.alloc(32, 7)),
  log,
  baseUrl: () => address,
  kinds: [deadly],
})
address = await app.http.listen({ host: '127.0.0.1', port: 0 })
process.send?.(address)
// The process may be killed at any moment, which would lose its compile cache.
flushCompileCache()
process.on('disconnect', () => process.exit(0))
