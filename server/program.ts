import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { SECOND } from '#platform/clock'
import { type Config, readConfig, refuseSetting, SettingRefused } from '#platform/config'
import { isWrongPassword, refusePassword } from '#platform/db/cluster'
import { connectionsOfOne, shareConnections } from '#platform/db/connections'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#platform/db/embedded'
import { migrate } from '#platform/db/migrate'
import { openDatabase } from '#platform/db/pool'
import { poolingOf, refusePooler, throughPooler } from '#platform/db/pooler'
import { StartRefused } from '#platform/db/refused'
import { warnOfReplication } from '#platform/db/replication'
import { bootstrapRoles, isSetUp } from '#platform/db/roles'
import { SCHEMA } from '#platform/db/schema'
import { listen, listenAtShared, webAddressOf } from '#platform/http/listen'
import { checkSecretKey, findSecretKey, makeSecretKey } from '#platform/key'
import { makePasswordSealer } from '#platform/keys/sign-in'
import { watchKeys } from '#platform/keys/watch'
import { onLauncherExit } from '#platform/launcher'
import { type Logger, makeLogger } from '#platform/log'
import { freeMemoryWhenIdle, keepHeapSmall } from '#platform/memory'
import { preferEventLoop } from '#platform/priority'
import { makeVault } from '#platform/secrets'
import { buildConsole } from '#server/console'
import { joinSupervisor, MEMBER } from '#server/member'

// config → database → app → listen → stop cleanly

const STOP_WITHIN = 9.5 * SECOND
/** The time to end requests and close the database after draining. */
const AFTER_DRAIN = 4.5 * SECOND

/** The stop functions of everything that was started, in the order in which they are called. */
const started: ((options: { drainMs: number }) => Promise<unknown>)[] = []

let drainMs = 0

async function start(config: Config): Promise<void> {
  const membership = await joinSupervisor(() => leave({ drainMs: 0 }))
  const log = makeLogger(config.HEDDLE_LOG_LEVEL, membership?.peers.index)
  const key = findSecretKey(config)
  const pages = config.role === 'worker' || config.resetPassword !== null ? undefined : buildConsole(log)
  const own = config.DATABASE_URL === null && !membership?.ownDatabase ? startOwnDatabase(config, log) : undefined
  const loading = loadService(own?.launched)
  // Loading blocks this process: answers of a running database server would be read late, while their timeouts keep
  // counting. So loading ends first.
  if (!own) await loading
  const embedded =
    config.DATABASE_URL === null ? { ownerUrl: membership?.ownDatabase ?? (await own!.starting).ownerUrl } : undefined
  const place = {
    ownerUrl: embedded?.ownerUrl ?? config.DATABASE_SESSION_URL ?? config.DATABASE_URL!,
    ...(embedded && { createDatabase: 'heddle' }),
  }
  const pooling = embedded ? 'none' : await poolingOf(config.DATABASE_URL!)
  if (pooling === 'transaction' && config.DATABASE_SESSION_URL === null) throw refusePooler()
  const explained = (error: unknown): never => {
    throw embedded && isWrongPassword(error) ? refusePassword(config.HEDDLE_DATA_DIR) : error
  }
  const vault = makeVault(key ?? (await makeSecretKey(config, () => isSetUp(place).catch(explained))))
  const direct = await bootstrapRoles({
    ...place,
    settingsInRoles: pooling !== 'none',
    passwordFor: (role) => vault.derive(`database:${role}`).toString('hex'),
    keeper: makePasswordSealer(vault),
  }).catch(explained)
  const urls = pooling === 'none' ? direct : await throughPooler(direct, config.DATABASE_URL!, pooling)
  if (!embedded) await warnOfReplication(urls.owner, log)
  await migrate({
    ownerUrl: urls.owner,
    directory: join(import.meta.dirname, '..', 'migrations'),
    log,
    ...(embedded && { schema: join(import.meta.dirname, '..', SCHEMA) }),
  })
  const connections = shareConnections(
    config.role,
    config.HEDDLE_DATABASE_CONNECTIONS ?? connectionsOfOne(config.role, membership?.peers.count ?? 1),
  )
  const db = openDatabase({ urls, log, connections })
  started.unshift(() => db.close())
  const configured = vault.keys.current()
  await checkSecretKey(db, vault)
  if (config.resetPassword !== null) {
    const { resetPassword } = await import('#server/reset-password')
    for (const line of await resetPassword(urls.owner, config.resetPassword)) console.log(line)
    await stop()
    process.exit(0)
  }

  const adminUrl = new URL(place.ownerUrl)
  if (embedded) adminUrl.pathname = '/heddle'
  const keys = watchKeys({ db, vault, config, log, configured, ownerUrl: urls.owner, adminUrl: adminUrl.href })
  started.unshift(() => keys.stop())
  let address = config.HEDDLE_BASE_URL ?? membership?.address ?? null
  const { makeApp, seed, fillDemo } = await loading
  const built = await pages
  const making = makeApp({
    config,
    db,
    vault,
    keys,
    log,
    peers: membership?.peers,
    baseUrl: () => address ?? webAddressOf(config.HOST, config.PORT),
    pages: built,
  })
  const http = making.then((app) => app.http)
  const seeding =
    config.role === 'worker'
      ? Promise.resolve([])
      : seed({ config, ownerUrl: urls.owner, http, log, fillDemo, claims: (membership?.peers.index ?? 1) === 1 })
  // A failure is reported where the promise is awaited below.
  for (const promise of [http, seeding]) promise.catch(() => {})
  const app = await making
  started.unshift(app.stop)
  drainMs = config.HEDDLE_DRAIN_S * SECOND
  const lines = await seeding
  await (await own?.starting)?.onDisk
  for (const line of lines) console.log(line)
  keepGoing(log)
  keepHeapSmall()
  freeMemoryWhenIdle()
  preferEventLoop()
  if (membership) {
    if (membership.sharedSockets.length > 0) await listenAtShared(app.http, membership.sharedSockets)
    membership.ready()
    flushCompileCache()
    return
  }
  const listening = await listenAt(app.http, config)
  const { port } = new URL(listening)
  const here = webAddressOf(config.HOST, port)
  address ??= here
  console.log(`heddle ready on ${here}`)
  // Without this call, the cache is written only when the process ends normally.
  flushCompileCache()
}

async function listenAt(http: FastifyInstance, { HOST: host, PORT: port }: Config): Promise<string> {
  try {
    return await listen(http, { host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' || code === 'EACCES') throw refuseSetting('PORT', port, error)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
      throw refuseSetting('HOST', host, error)
    throw error
  }
}

type OwnDatabase = { launched: Promise<void>; starting: Promise<EmbeddedPostgres> }

/** If the program is stopped during this, it waits for the database server it is starting, and then stops it. */
function startOwnDatabase(config: Config, log: Logger): OwnDatabase {
  const { promise: launched, resolve } = Promise.withResolvers<void>()
  const starting = startEmbeddedPostgres({
    dataDir: config.HEDDLE_DATA_DIR,
    log,
    connections: config.HEDDLE_DATABASE_CONNECTIONS ?? connectionsOfOne(config.role, 1),
    onLaunched: resolve,
  })
  started.unshift(() => starting.then((embedded) => embedded.stop()))
  return { launched, starting }
}

/** Loads most of the program while its database starts, because loading blocks everything else in this process. */
function loadService(launched: Promise<void> | undefined) {
  const load = async () => {
    await launched
    const [app, seeds, demo] = await Promise.all([
      import('#server/app'),
      import('#server/seed'),
      import('#server/demo'),
    ])
    return { makeApp: app.makeApp, seed: seeds.seed, fillDemo: demo.fillDemo }
  }
  const loading = load()
  loading.catch(() => {})
  return loading
}

async function stop(options = { drainMs: 0 }): Promise<void> {
  for (const end of started.splice(0)) await end(options)
}

let stopping = false

function leave(options: { drainMs: number }): void {
  if (stopping) return
  stopping = true
  setTimeout(() => process.exit(1), Math.max(STOP_WITHIN, options.drainMs + AFTER_DRAIN)).unref()
  stop(options).then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
}

function stopOnSignal(): void {
  process.on('SIGTERM', () => leave({ drainMs }))
  // SIGINT comes from a person at a keyboard, who sends no more requests.
  process.on('SIGINT', () => leave({ drainMs: 0 }))
  if (!process.env[MEMBER]) onLauncherExit(() => leave({ drainMs }))
}

/** An unhandled rejection must not end the process and the work of its tenants. */
function keepGoing(log: Logger): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled promise rejection'))
}

stopOnSignal()
try {
  await start(readConfig(process.env, process.argv.slice(2)))
} catch (error) {
  // If the program was stopped while starting, the failure is only a consequence, and the stop ends the program.
  if (!stopping) {
    await stop().catch(() => {})
    const refused = error instanceof SettingRefused || error instanceof StartRefused
    console.error(refused ? `heddle cannot start: ${error.message}` : error)
    process.exit(1)
  }
}
