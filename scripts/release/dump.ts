import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { readConfig } from '#platform/config'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { migrate } from '#platform/db/migrate'
import { openDatabase } from '#platform/db/pool'
import { bootstrapRoles } from '#platform/db/roles'
import { newId } from '#platform/ids'
import { checkSecretKey } from '#platform/key'
import { makeLogger } from '#platform/log'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { callAt } from '#test/harness/call'
import { dumpRows } from './rows.ts'
import { fillInstallation, type Names } from './world.ts'

// `npm run release:dump`: writes test/releases/<version>, the stored data of a small installation of this release.

const root = join(import.meta.dirname, '..', '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const target = join(root, 'test', 'releases', version)
if (existsSync(target)) {
  console.error(`${target} is there already: a release is dumped once. Set the version in package.json first.`)
  process.exit(1)
}

/** Used only for this fictional installation. */
const SECRET_KEY = Buffer.alloc(32, 9).toString('base64')

const directory = mkdtempSync(join(tmpdir(), 'heddle-release-'))
const log = makeLogger('error')
const postgres = await startEmbeddedPostgres({ dataDir: directory, log, durable: false })
try {
  const urls = await bootstrapRoles({
    ownerUrl: postgres.ownerUrl,
    passwordFor: (role) => role,
    createDatabase: 'heddle',
  })
  await migrate({ ownerUrl: urls.owner, directory: join(root, 'migrations'), log })
  const db = openDatabase({ urls, log })
  const data = join(directory, 'data')
  const config = readConfig({
    HEDDLE_DATA_DIR: data,
    HEDDLE_LOG_LEVEL: 'error',
    HEDDLE_SECRET_KEY: SECRET_KEY,
    HEDDLE_RATE_LIMITS: 'off',
  })
  const vault = makeVault(config.HEDDLE_SECRET_KEY!)
  await checkSecretKey(db, vault)
  const client = new pg.Client({
    connectionString: Object.assign(new URL(postgres.ownerUrl), { pathname: '/heddle' }).href,
  })
  // The error of a lost connection would hide the original failure.
  client.on('error', () => {})
  await client.connect()
  await client.query(`insert into orgs (org_id, name) values ($1, 'Heddle')`, [newId()])
  let base = ''
  const app = await makeApp({ config, db, vault, log, baseUrl: () => base })
  base = await app.http.listen({ host: '127.0.0.1', port: 0 })
  const filled = await fillInstallation({
    sql: async (text, values) => (await client.query(text, values)).rows as never,
    call: (method, path, options) => callAt(base, method, path, options),
  })
  await app.stop()
  await db.close()

  mkdirSync(target, { recursive: true })
  await dumpRows(client, join(target, 'rows'))
  await client.end()
  if (existsSync(join(data, 'blobs'))) cpSync(join(data, 'blobs'), join(target, 'blobs'), { recursive: true })
  const names: Names = { version, secret_key: SECRET_KEY, ...filled }
  writeFileSync(join(target, 'names.json'), `${JSON.stringify(names, null, 2)}\n`)
  console.log(`wrote ${target}`)
} finally {
  await postgres.stop()
  rmSync(directory, { recursive: true, force: true })
}
