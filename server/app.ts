import type { FastifyInstance } from 'fastify'
import { alertRoutes } from '#areas/alerts/routes'
import { accessLevelInAlertRule } from '#areas/alerts/service'
import { readGateRecords } from '#areas/approvals/record'
import { budgetRoutes } from '#areas/budgets/routes'
import { commentRoutes } from '#areas/comments/routes'
import { companyRoutes } from '#areas/companies/routes'
import { accessLevelInCompany } from '#areas/companies/service'
import { conversationFeed } from '#areas/inbox/feed'
import { insightRoutes } from '#areas/insights/routes'
import { mcpRoutes } from '#areas/mcp/routes'
import { notificationFeed } from '#areas/notifications/feed'
import { notificationRoutes } from '#areas/notifications/routes'
import { accessLevelInNotification } from '#areas/notifications/service'
import { oauthRoutes } from '#areas/oauth/routes'
import { addDatabaseFigures, addEngineFigures } from '#areas/operations/figures'
import { keyRotationRoutes } from '#areas/operations/key-rotation'
import { operationRoutes } from '#areas/operations/routes'
import { tenantRoutes } from '#areas/operations/workspaces'
import { presenceRoutes } from '#areas/presence/routes'
import { accessLevelInPresence } from '#areas/presence/service'
import { receiptRoutes } from '#areas/receipts/routes'
import { makeSigner } from '#areas/receipts/sign'
import { stateRoutes } from '#areas/state/routes'
import { subscriptionRoutes } from '#areas/subscriptions/routes'
import { accessLevelInSubscription } from '#areas/subscriptions/service'
import { teamRoutes } from '#areas/teams/routes'
import { accessLevelInTeam } from '#areas/teams/service'
import { variableRoutes } from '#areas/variables/routes'
import { viewRoutes } from '#areas/views/routes'
import { addWidget } from '#areas/widget/routes'
import { systemDefinitionSha256 } from '#areas/workflows/system'
import type { AnyKind } from '#engine/nodes/kind'
import { descriptorsOf } from '#engine/nodes/table'
import type { NodeDescriptor } from '#model/node'
import { type Identifier, makeIdentifier } from '#platform/auth/identify'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import { addConsole } from '#platform/http/console'
import { addKeyCors } from '#platform/http/cors'
import { prepareDrain } from '#platform/http/drain'
import { addRoutes } from '#platform/http/kernel'
import type { Kernel } from '#platform/http/kernel-parts'
import { type Metrics, makeMetrics } from '#platform/http/metrics'
import type { AnyRoute } from '#platform/http/route'
import { makeHttp } from '#platform/http/server'
import { addSystemRoutes } from '#platform/http/system-routes'
import type { KeyService } from '#platform/keys/watch'
import type { Logger } from '#platform/log'
import type { Peers } from '#platform/peers'
import { makeRealtime } from '#platform/realtime/realtime'
import type { Vault } from '#platform/secrets'
import { type Areas, wireAreas } from '#server/wiring/areas'
import { startBackground, stopAreas } from '#server/wiring/background'

// The composition root: connects the areas, the HTTP server and the background work.

export type AppOptions = {
  config: Config
  db: Database
  vault: Vault
  /** Manages the keys of the installation. Only the program itself sets it. */
  keys?: KeyService
  log: Logger
  /** The other processes of this program, if there are several. */
  peers?: Peers | undefined
  /** Returns the address of the service for its users. Known once the service listens. */
  baseUrl(): string
  checkAnswers?: boolean
  /** Called for every response of an operation. For tests. */
  onAnswered?: (route: AnyRoute, status: number) => void
  /** The directory of the built console. Without it there is only the API. */
  pages?: string | undefined
  /** Additional kinds of nodes, for benchmarks and tests. */
  kinds?: AnyKind[]
  /** A release other than this one, for test scenarios. */
  release?: number
  /**
   * Clean up at the start, in addition to every hour. A test may turn this off, because a new database contains nothing
   * that has expired.
   */
  clearUpAtStart?: boolean | undefined
}

export type App = {
  http: FastifyInstance
  routes: AnyRoute[]
  nodes: ReadonlyMap<string, NodeDescriptor>
  /**
   * Stops the service in order: open requests are answered, executions are parked. For `drainMs` the service reports
   * that it is not ready but still answers, so that clients can switch to another process.
   */
  stop(options?: { drainMs?: number }): Promise<void>
}

export async function makeApp(options: AppOptions): Promise<App> {
  const { config, db, vault, log, baseUrl, kinds, release } = options
  const metrics = makeMetrics(options.peers)
  const identifier = makeIdentifier({ db, operators: config.HEDDLE_OPERATORS })
  const areas = await wireAreas({
    config,
    db,
    vault,
    log,
    identifier,
    baseUrl,
    ...(kinds && { kinds }),
    ...(release !== undefined && { release }),
  })
  const routes = routesOf(options, areas)
  const nodes = descriptorsOf(areas.workflows.nodes)
  const serving = await serve(options, areas, {
    kernel: kernelOf(options, areas, identifier, metrics),
    routes,
    nodes,
    metrics,
  })
  const background = await startBackground(options, areas)
  return {
    http: serving.http,
    routes,
    nodes,
    async stop({ drainMs = 0 } = {}) {
      const retired = areas.workflows.engine.retire()
      await serving.leaving.drain(drainMs)
      // Open sockets would keep the server from closing.
      await serving.realtime.stop()
      await areas.conversations.retire()
      await serving.leaving.close()
      await background.stop()
      await retired
      await stopAreas(areas)
    },
  }
}

/** The kernel of the HTTP server: how callers are identified, and which level they have in a resource. */
function kernelOf(options: AppOptions, areas: Areas, identifier: Identifier, metrics: Metrics): Kernel {
  return {
    config: options.config,
    db: options.db,
    log: options.log,
    vault: options.vault,
    identifier,
    peers: options.peers,
    baseUrl: options.baseUrl,
    checkAnswers: options.checkAnswers ?? false,
    onAnswered: (route, status, seconds) => {
      metrics.observe(route, status, seconds)
      options.onAnswered?.(route, status)
    },
    onOverloaded: metrics.overloaded,
    onAdmission: metrics.watchAdmission,
    accessLevels: {
      ...areas.identity.accessLevels,
      ...areas.payments.accessLevels,
      ...areas.workflows.accessLevels,
      ...areas.data.accessLevels,
      ...areas.jobs.accessLevels,
      ...areas.conversations.accessLevels,
      ...areas.threads.accessLevels,
      ...areas.credentials.accessLevels,
      ...areas.destinations.accessLevels,
      ...areas.files.accessLevels,
      ...areas.knowledge.accessLevels,
      company: accessLevelInCompany,
      team: accessLevelInTeam,
      subscription: accessLevelInSubscription,
      notification: accessLevelInNotification,
      presence: accessLevelInPresence,
      alert_rule: accessLevelInAlertRule,
    },
    tokens: { ...areas.workflows.tokens, ...areas.conversations.tokens },
  }
}

function routesOf(options: AppOptions, areas: Areas): AnyRoute[] {
  return [
    ...areas.identity.routes,
    ...companyRoutes(),
    ...teamRoutes(),
    ...subscriptionRoutes(),
    ...notificationRoutes(),
    ...presenceRoutes(),
    ...areas.workflows.routes,
    ...areas.reaching.routes,
    ...areas.payments.routes,
    ...operationRoutes({ engine: areas.workflows.engine }),
    ...tenantRoutes(),
    ...keyRotationRoutes(() => options.keys),
    ...areas.data.routes,
    ...areas.jobs.routes,
    ...areas.conversations.routes,
    ...areas.threads.routes,
    ...areas.credentials.routes,
    ...areas.services.routes,
    ...areas.destinations.routes,
    ...variableRoutes(),
    ...viewRoutes(),
    ...commentRoutes(),
    ...stateRoutes(),
    ...receiptRoutes({
      engine: areas.workflows.engine,
      signer: makeSigner(options.vault),
      baseUrl: options.baseUrl,
      readGates: readGateRecords,
      systemDefinitionSha256,
    }),
    ...areas.files.routes,
    ...areas.knowledge.routes,
    ...mcpRoutes(areas.workflows),
    ...oauthRoutes(),
    ...insightRoutes(),
    ...budgetRoutes(),
    ...alertRoutes(),
  ]
}

type Served = { kernel: Kernel; routes: AnyRoute[]; nodes: ReadonlyMap<string, NodeDescriptor>; metrics: Metrics }

async function serve(options: AppOptions, areas: Areas, { kernel, routes, nodes, metrics }: Served) {
  const { config, db, log } = options
  const http = makeHttp(kernel)
  const leaving = prepareDrain(http)
  const realtime = makeRealtime({ db, log, server: http.server, baseUrl: options.baseUrl })
  realtime.addFeed('notifications', notificationFeed(db))
  realtime.addFeed('execution', areas.workflows.feed)
  realtime.addFeed('job', areas.jobs.feed)
  realtime.addFeed('conversations', conversationFeed({ db, log }))
  areas.conversations.addCors(http)
  addKeyCors(http, config.HEDDLE_CORS_ORIGINS)
  addRoutes(http, routes, kernel)
  addWidget(http)
  // First, so that the query for the engine's figures is not counted as a caller that waits for a connection.
  addDatabaseFigures(metrics.registry, db)
  addEngineFigures(metrics.registry, areas.workflows.engine, log)
  addSystemRoutes(http, {
    config,
    routes,
    nodes,
    db,
    metrics,
    log,
    engineReady: areas.workflows.engine.ready,
    isLeaving: leaving.isDraining,
  })
  if (options.pages !== undefined)
    addConsole(http, options.pages, {
      stripe: config.STRIPE_SECRET_KEY !== null && config.STRIPE_PUBLISHABLE_KEY !== null,
    })
  await http.ready()
  return { http, leaving, realtime }
}
