import type { FastifyInstance } from 'fastify'
import { alertRoutes } from '#areas/alerts/routes'
import { standingInAlertRule } from '#areas/alerts/service'
import { makeAlertWatcher } from '#areas/alerts/watcher'
import { readGateRecords } from '#areas/approvals/record'
import { budgetRoutes } from '#areas/budgets/routes'
import { companyRoutes } from '#areas/companies/routes'
import { makeCompanies, passCompanyOn, standingInCompany } from '#areas/companies/service'
import { passCredentialsOn } from '#areas/credentials/rights'
import { stopDestinationsOf } from '#areas/destinations/rights'
import { forgetRunLabels } from '#areas/executions/content'
import { forgetRunBlocks } from '#areas/executions/indexing'
import { forgetRunLogs } from '#areas/executions/logs'
import { mergeEverywhere } from '#areas/executions/merging'
import { forgetRunFigures } from '#areas/insights/rollup'
import { insightRoutes } from '#areas/insights/routes'
import { forgetUsage } from '#areas/insights/usage'
import { mayReadNamed, passKnowledgeOn } from '#areas/knowledge/rights'
import { mcpRoutes } from '#areas/mcp/routes'
import { notificationFeed } from '#areas/notifications/feed'
import { notificationRoutes } from '#areas/notifications/routes'
import { makeNotifications, standingInNotification } from '#areas/notifications/service'
import { addEngineFigures } from '#areas/operations/figures'
import { keyRotationRoutes } from '#areas/operations/key-rotation'
import { operationRoutes } from '#areas/operations/routes'
import { presenceRoutes } from '#areas/presence/routes'
import { makePresence, standingInPresence } from '#areas/presence/service'
import { receiptRoutes } from '#areas/receipts/routes'
import { makeSigner } from '#areas/receipts/sign'
import { stateRoutes } from '#areas/state/routes'
import { forgetState } from '#areas/state/service'
import { subscriptionRoutes } from '#areas/subscriptions/routes'
import { makeSubscriptions, standingInSubscription } from '#areas/subscriptions/service'
import { teamRoutes } from '#areas/teams/routes'
import { leaveTeams, makeTeams, standingInTeam } from '#areas/teams/service'
import { forgetTriggers } from '#areas/triggers/service'
import { variableRoutes } from '#areas/variables/routes'
import { addWidget } from '#areas/widget/routes'
import { makeCodeCheck } from '#areas/workflows/code-check'
import { systemDefinitionSha256 } from '#areas/workflows/system'
import type { AnyKind } from '#engine/nodes/kind'
import { descriptorsOf } from '#engine/nodes/table'
import type { NodeDescriptor } from '#model/node'
import { makeIdentifier } from '#platform/auth/identify'
import { SECOND } from '#platform/clock'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import { addKeyCors } from '#platform/http/cors'
import { addDocuments } from '#platform/http/documents'
import { addRoutes } from '#platform/http/kernel'
import type { Kernel } from '#platform/http/kernel-parts'
import { prepareLeaving } from '#platform/http/leaving'
import { makeMetrics } from '#platform/http/metrics'
import { addPages } from '#platform/http/pages'
import type { AnyRoute } from '#platform/http/route'
import { makeHttp } from '#platform/http/server'
import type { KeyService } from '#platform/keys/watch'
import type { Logger } from '#platform/log'
import type { Peers } from '#platform/peers'
import { makeRealtime } from '#platform/realtime/realtime'
import type { Vault } from '#platform/secrets'
import { wireConversations } from '#server/wiring/conversations'
import { wireCredentials } from '#server/wiring/credentials'
import { wireData } from '#server/wiring/data'
import { wireDestinations } from '#server/wiring/destinations'
import { wireFiles } from '#server/wiring/files'
import { wireIdentity } from '#server/wiring/identity'
import { jobLinks, wireJobs } from '#server/wiring/jobs'
import { wireKnowledge } from '#server/wiring/knowledge'
import { startMaintenance } from '#server/wiring/maintenance'
import { wirePayments } from '#server/wiring/payments'
import { wireProviders } from '#server/wiring/providers'
import { wireServices } from '#server/wiring/services'
import { wireThreads } from '#server/wiring/threads'
import { wireWorkflows } from '#server/wiring/workflows'

// The composition root: the only file that knows everything.

export type AppOptions = {
  config: Config
  db: Database
  vault: Vault
  /** Looks after the keys of the installation; only the program itself has it. */
  keys?: KeyService
  log: Logger
  /** The other processes of this program, where it has several. */
  peers?: Peers | undefined
  /** Where people reach the service; known once it listens. */
  baseUrl(): string
  checkAnswers?: boolean
  /** Told of every answer of an operation; for tests. */
  onAnswered?: (route: AnyRoute, status: number) => void
  /** Where the built console is; without it there is only the API. */
  pages?: string | undefined
  /** More kinds of nodes, for benches and tests. */
  kinds?: AnyKind[]
  /** Another release than this one, for rehearsals. */
  release?: number
}

export type App = {
  http: FastifyInstance
  routes: AnyRoute[]
  nodes: ReadonlyMap<string, NodeDescriptor>
  /**
   * Lets work in flight come to rest: open requests are answered, executions parked. For `drainMs` it says that it is not
   * ready and answers all the same, so that its clients can turn to others.
   */
  stop(options?: { drainMs?: number }): Promise<void>
}

export async function makeApp(options: AppOptions): Promise<App> {
  const { config, db, vault, log } = options
  const metrics = makeMetrics(options.peers)
  const identifier = makeIdentifier({ db, operators: config.HEDDLE_OPERATORS })

  const payments = wirePayments({ config, db, vault, log })
  const providers = wireProviders({
    config,
    db,
    log,
    cpuSecondsPerMinute: payments.quotas.cpuSecondsPerMinute,
    allowances: payments.allowances,
  })
  const links = jobLinks(db)
  const credentials = wireCredentials({
    db,
    vault,
    log,
    outgoing: providers.outgoing,
    jobs: links.credentialHooks,
    installation: providers.llm,
    allowances: payments.allowances,
  })
  const files = wireFiles({
    config,
    db,
    vault,
    blobs: providers.blobs,
    baseUrl: options.baseUrl,
    standingInExecution: () => workflows.standings.execution,
  })
  const services = wireServices({
    config,
    db,
    log,
    quota: {
      take: (workspaceId) => payments.quotas.takeExecutions(workspaceId),
      giveBack: (workspaceId) => payments.quotas.giveBackExecutions(workspaceId),
    },
    outgoing: providers.outgoing,
    conversion: providers.conversion,
    files: files.use,
    openFor: credentials.openFor,
  })
  const data = wireData({ config, db, vault, log, jobs: links.hooks })
  const knowledge = wireKnowledge({
    config,
    db,
    log,
    providers,
    quotas: payments.quotas,
    allowances: payments.allowances,
    openModel: credentials.openModel,
    watchEmbed: credentials.watchEmbed,
    datasets: data.datasetUse,
  })
  const identity = wireIdentity({
    config,
    vault,
    log,
    mail: providers.mail,
    checkMembers: (tx, workspaceId) => payments.quotas.check(tx, workspaceId, 'members', 1),
  })
  const conversations = wireConversations({
    db,
    vault,
    log,
    providers,
    quotas: payments.quotas,
    allowances: payments.allowances,
    retentionDays: config.HEDDLE_RETENTION_DAYS,
    toolWaitMs: config.HEDDLE_ASSISTANT_WAIT_S * SECOND,
    orgOf: identifier.orgOf,
    baseUrl: options.baseUrl,
    credentials,
    shownResults: files.shown,
    resultsWithUrls: files.withUrls,
    files: files.sent,
    agentPorts: {
      searchKnowledge: knowledge.search,
      mayReadKnowledge: mayReadNamed,
      readRecords: data.datasetUse.readRecords,
      findDataset: data.datasetUse.findDataset,
      services: services.use,
    },
    workflows: () => workflows,
  })
  const threads = wireThreads({
    db,
    vault,
    log,
    providers,
    identity,
    conversations: conversations.conversations,
    allowances: payments.allowances,
    maxBytes: config.HEDDLE_MAX_JSON_BYTES,
    files: files.sent,
  })
  const checkCode = makeCodeCheck(providers.sandbox)
  const workflows: Awaited<ReturnType<typeof wireWorkflows>> = await wireWorkflows({
    config,
    db,
    log,
    vault,
    baseUrl: options.baseUrl,
    providers,
    credentials,
    quotas: payments.quotas,
    allowances: payments.allowances,
    orgOf: identifier.orgOf,
    kinds: [...data.kinds, ...threads.kinds, ...knowledge.kinds, ...(options.kinds ?? [])],
    ...(options.release !== undefined && { release: options.release }),
    references: new Map([
      ...data.references,
      ...threads.references,
      ...credentials.references,
      ...knowledge.references,
    ]),
    checkMore: async (tx, workspaceId, definition) => [
      ...(await services.checkDefinition(tx, workspaceId, definition)),
      ...(await checkCode(workspaceId, definition)),
    ],
    findImported: services.findImported,
    pieces: services.pieces,
    onDeleted: [links.workflowDeleted, forgetState, forgetTriggers],
    onEnded: [
      async ({ workspaceId, executionId }) => void (await data.datasetUse.forgetExecution(workspaceId, executionId)),
      conversations.conversations.executionEnded,
    ],
    onAsked: conversations.conversations.questionAsked,
    onGateOpened: conversations.conversations.gateOpened,
    loadAdhoc: links.loadDefinition,
    standingInJob: links.standingThroughJob,
    changedDatasets: data.datasetUse.changedDatasets,
    files,
  })

  identity.onRemoved.push(
    stopDestinationsOf,
    workflows.passOn,
    passCredentialsOn,
    passKnowledgeOn,
    passCompanyOn,
    leaveTeams,
  )

  const jobs = await wireJobs({
    config,
    db,
    log,
    providers,
    chooseModel: credentials.chooseModel,
    identity,
    engine: workflows.engine,
    workflows: workflows.workflows,
    nodes: workflows.nodes,
    loadDefinition: workflows.loadDefinition,
    baseUrl: options.baseUrl,
    standingInWorkflow: workflows.standings.workflow,
    datasets: data.datasetUse,
    connections: data.connectionUse,
    quotas: payments.quotas,
  })

  const destinations = await wireDestinations({
    config,
    db,
    vault,
    log,
    outgoing: providers.outgoing,
    baseUrl: options.baseUrl,
    openCredential: credentials.openFor,
    checkDestinations: (tx, workspaceId) => payments.quotas.check(tx, workspaceId, 'event_destinations', 1),
  })

  const kernel: Kernel = {
    config,
    db,
    log,
    vault,
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
    standings: {
      ...identity.standings,
      ...payments.standings,
      ...workflows.standings,
      ...data.standings,
      ...jobs.standings,
      ...conversations.standings,
      ...threads.standings,
      ...credentials.standings,
      ...destinations.standings,
      ...files.standings,
      ...knowledge.standings,
      company: standingInCompany,
      team: standingInTeam,
      subscription: standingInSubscription,
      notification: standingInNotification,
      presence: standingInPresence,
      alert_rule: standingInAlertRule,
    },
    tokens: { ...workflows.tokens, ...conversations.tokens },
  }

  const routes: AnyRoute[] = [
    ...identity.routes,
    ...companyRoutes(makeCompanies()),
    ...teamRoutes(makeTeams()),
    ...subscriptionRoutes(makeSubscriptions()),
    ...notificationRoutes(makeNotifications()),
    ...presenceRoutes(makePresence()),
    ...workflows.routes,
    ...payments.routes,
    ...operationRoutes({ engine: workflows.engine }),
    ...keyRotationRoutes(() => options.keys),
    ...data.routes,
    ...jobs.routes,
    ...conversations.routes,
    ...threads.routes,
    ...credentials.routes,
    ...services.routes,
    ...destinations.routes,
    ...variableRoutes(),
    ...stateRoutes(),
    ...receiptRoutes({
      engine: workflows.engine,
      signer: makeSigner(vault),
      baseUrl: options.baseUrl,
      readGates: readGateRecords,
      systemDefinitionSha256,
    }),
    ...files.routes,
    ...knowledge.routes,
    ...mcpRoutes(workflows),
    ...insightRoutes(),
    ...budgetRoutes(),
    ...alertRoutes(),
  ]

  const nodes = descriptorsOf(workflows.nodes)
  const http = makeHttp(kernel)
  const leaving = prepareLeaving(http)
  const realtime = makeRealtime({ db, log, server: http.server, baseUrl: options.baseUrl })
  realtime.addFeed('notifications', notificationFeed(db))
  realtime.addFeed('execution', workflows.feed)
  realtime.addFeed('job', jobs.feed)
  conversations.addCors(http)
  addKeyCors(http, config.HEDDLE_CORS_ORIGINS)
  addRoutes(http, routes, kernel)
  addWidget(http)
  addEngineFigures(metrics.registry, workflows.engine, log)
  await addDocuments(http, {
    config,
    routes,
    nodes,
    db,
    metrics,
    log,
    engineReady: workflows.engine.ready,
    isLeaving: leaving.isLeaving,
  })
  if (options.pages !== undefined) addPages(http, options.pages)
  await http.ready()
  await threads.start()
  conversations.start()
  services.start()
  await knowledge.start()
  const alerts = makeAlertWatcher({
    db,
    log,
    mail: providers.mail,
    sendToChannel: threads.sendToChannel,
    baseUrl: options.baseUrl,
  })
  if (config.role !== 'api') alerts.start()
  const maintenance =
    config.role === 'api'
      ? undefined
      : startMaintenance({
          db,
          log,
          retentionDays: config.HEDDLE_RETENTION_DAYS,
          tasks: {
            'journal of executions': workflows.maintain,
            'events from outside': workflows.forgetEvents,
            'trials of drafts': workflows.forgetTrials,
            'replays of versions': workflows.forgetReplays,
            'usage of language models': () => forgetUsage(db, config.HEDDLE_RETENTION_DAYS),
            'labels of runs': () => forgetRunLabels(db, config.HEDDLE_RETENTION_DAYS),
            'index of runs': () => forgetRunBlocks(db, config.HEDDLE_RETENTION_DAYS),
            'small blocks of the index of runs': () => mergeEverywhere(db),
            'logs of runs': () => forgetRunLogs(db, config.HEDDLE_RETENTION_DAYS),
            'figures of runs': () => forgetRunFigures(db),
            'ledger of jobs': jobs.maintain,
            'files of warehouses': data.maintain,
            'deliveries of events': destinations.maintain,
            ...files.tasks,
            ...threads.tasks,
            ...conversations.tasks,
          },
        })

  return {
    http,
    routes,
    nodes,
    async stop({ drainMs = 0 } = {}) {
      const retired = workflows.engine.retire()
      await leaving.leave(drainMs)
      // Open sockets would keep the server from closing.
      await realtime.stop()
      await conversations.retire()
      await leaving.close()
      await maintenance?.stop()
      await alerts.stop()
      await retired
      await services.stop()
      await threads.stop()
      await knowledge.stop()
      await conversations.stop()
      await jobs.stop()
      await destinations.stop()
      await workflows.stop()
      await credentials.stop()
      await payments.stop()
      await providers.stop()
      await data.stop()
    },
  }
}
