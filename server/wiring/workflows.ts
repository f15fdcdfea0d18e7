import type { FingerprintCheck, GateDependencies } from '#areas/approvals/gate-dependencies'
import { makeGates } from '#areas/approvals/gates'
import { makeQuestions, type QuestionDependencies } from '#areas/approvals/questions'
import { makeReviews, type Review } from '#areas/approvals/reviews'
import { approvalRoutes } from '#areas/approvals/routes'
import { makeApprovals, makeStandingInGate } from '#areas/approvals/service'
import { makeReview } from '#areas/credentials/review'
import { makeCallbackAddresses } from '#areas/events/callback-address'
import { forgetEvents } from '#areas/events/forget'
import { eventRoutes } from '#areas/events/routes'
import { awaitEvent, cancelEventWaits, eventDue } from '#areas/events/waits'
import { makeBulkWork } from '#areas/executions/bulk-work'
import { executionFeed } from '#areas/executions/feed'
import { makeRunIndex } from '#areas/executions/indexing'
import { makeKeepLog } from '#areas/executions/logs'
import { executionRoutes } from '#areas/executions/routes'
import { type AdhocStanding, makeExecutions, makeStandingInExecution } from '#areas/executions/service'
import { makeStarter, type Quota, type TakeFiles } from '#areas/executions/start'
import { startSweeping } from '#areas/executions/sweeping'
import { makeViews } from '#areas/executions/view'
import { makeRunFigures } from '#areas/insights/rollup'
import { makeTelemetry, traceparentOf } from '#areas/insights/telemetry'
import { oddsRoutes } from '#areas/odds/routes'
import type { Allowances } from '#areas/payments/allowances'
import { meterNodes } from '#areas/payments/means'
import type { Quotas } from '#areas/payments/quotas'
import { replayRoutes } from '#areas/replays/routes'
import { makeReplayRunner } from '#areas/replays/runner'
import { findReplayProof, hasPastRuns, makeStandingInReplay } from '#areas/replays/service'
import { stateNodes } from '#areas/state/nodes'
import { makeFindRecorded, recordNodes } from '#areas/suites/recording'
import { findSuiteProof, hasSuite } from '#areas/suites/service'
import { trialRoutes } from '#areas/trials/routes'
import { loadTrial } from '#areas/trials/service'
import type { KeepFile } from '#areas/webhooks/content'
import { makeDeliveries } from '#areas/webhooks/deliveries'
import { makeWebhookIdentifier } from '#areas/webhooks/identify'
import { webhookRoutes } from '#areas/webhooks/routes'
import { makeWebhooks } from '#areas/webhooks/service'
import { guardNodes } from '#areas/workflows/authority'
import type { ReferenceCheck } from '#areas/workflows/definition-check'
import type { WorkflowDependencies } from '#areas/workflows/dependencies'
import { type LoadAdhoc, makeWorkflowPorts } from '#areas/workflows/engine-ports'
import { makeNotifier } from '#areas/workflows/notify'
import { makePassWorkflowsOn } from '#areas/workflows/passing-on'
import { makeTakeRate } from '#areas/workflows/rates'
import { listRetentions } from '#areas/workflows/retention'
import { workflowRoutes } from '#areas/workflows/routes'
import { makeScheduler } from '#areas/workflows/scheduler'
import { makeStandingInWorkflow, makeWorkflows } from '#areas/workflows/service'
import { systemWorkflows } from '#areas/workflows/system'
import { makeEmbedTokens } from '#areas/workflows/tokens'
import { makeUsageNode } from '#areas/workflows/usage-node'
import type { ChooseModel, OpenCredential } from '#engine/credentials'
import { makeDefinitions } from '#engine/definitions'
import { startEngine } from '#engine/engine'
import type { Files } from '#engine/files'
import { makeMaintenance } from '#engine/maintenance'
import type { NodeKind } from '#engine/node'
import { type AnyKind, isControl } from '#engine/nodes/kind'
import { makeLanguageNodes } from '#engine/nodes/language'
import { describePalette, describeRegistry } from '#engine/nodes/registry'
import type { FindImported, FindLock } from '#engine/nodes/service-call'
import { descriptorsOf, makeNodes, type NodeTable, runnableOf } from '#engine/nodes/table'
import { makeTrialAnswer } from '#engine/nodes/trial-answer'
import type { EndedExecution, Engine } from '#engine/ports'
import { makeTurns } from '#engine/worker/turns'
import type { Config } from '#platform/config'
import { type Database, forMaintenance } from '#platform/db/pool'
import type { Org } from '#platform/http/context'
import { makeRateLimiter } from '#platform/http/limits'
import { fromWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import type { PieceRunner } from '#providers/services/pieces/runner'
import type { ProgramRunner } from '#providers/services/programs/runner'
import type { Providers } from './providers.ts'

export type WorkflowWiringOptions = {
  config: Config
  db: Database
  log: Logger
  vault: Vault
  baseUrl(): string
  providers: Providers
  credentials: { openCredential: OpenCredential; chooseModelForNode: ChooseModel; chooseModel: ChooseModel }
  quotas: Quotas
  allowances: Allowances
  orgOf(host: string): Promise<Org>
  /** What other areas bring along. */
  kinds: AnyKind[]
  release?: number
  references: ReadonlyMap<string, ReferenceCheck>
  checkMore: NonNullable<WorkflowDependencies['checkMore']>
  findImported: FindImported
  pieces: PieceRunner
  programs: ProgramRunner
  findLock: FindLock
  files: { use: Files; takeFiles: TakeFiles; keepFile: KeepFile }
  onDeleted: WorkflowDependencies['onDeleted']
  onEnded: ((execution: EndedExecution) => Promise<void>)[]
  onAsked?: NonNullable<QuestionDependencies['onAsked']>
  onGateOpened?: NonNullable<GateDependencies['onOpened']>
  loadAdhoc: LoadAdhoc
  standingInJob?: AdhocStanding
  changedDatasets: FingerprintCheck
  /** By the installation's language model where absent. */
  review?: Review
}

/** The engine, and everything that stands directly on it: workflows, executions, webhooks, approvals. */
export async function wireWorkflows(options: WorkflowWiringOptions) {
  const { config, db, log, providers } = options
  const { openCredential, chooseModelForNode, chooseModel } = options.credentials
  const system = systemWorkflows
  const { files } = options
  const { findImported, pieces, programs, findLock } = options
  const tools = {
    openCredential,
    findImported,
    pieces,
    programs,
    findLock,
    notify: makeNotifier(db),
    takeRate: makeTakeRate(db),
    files: files.use,
  }
  const made = makeNodes({ ...providers, ...tools }, [
    makeUsageNode(db),
    ...stateNodes(db),
    ...makeLanguageNodes({
      ...providers,
      openCredential,
      chooseModel: chooseModelForNode,
      findImported,
      kindOf: (type) => nodes.get(type),
    }),
    ...options.kinds,
  ])
  const nodes: NodeTable = guardNodes(meterNodes(made, options.allowances), db)
  const review: Review = options.review ?? makeReview(chooseModel)

  // Whatever a request makes the service compute for a tenant: workspaces take turns.
  const turns = makeTurns()

  // The gates tell the engine, and the engine opens gates: whichever is made second is looked up when it is needed.
  const engineLater = (): Engine => engine
  const gates = makeGates({
    db,
    engine: engineLater,
    changedDatasets: options.changedDatasets,
    onAgentsAsked: () => reviews.wake(),
    ...(options.onGateOpened && { onOpened: options.onGateOpened }),
  })
  const questions = makeQuestions({
    db,
    engine: engineLater,
    turns,
    ...(options.onAsked && { onAsked: options.onAsked }),
  })
  const approvals = makeApprovals({ gates, engine: engineLater })
  const reviews = makeReviews({ db, log, approvals, gates, review })
  const quota: Quota = {
    take: (workspaceId) => options.quotas.takeExecutions(workspaceId),
    giveBack: (workspaceId) => options.quotas.giveBackExecutions(workspaceId),
  }
  const events = {
    db,
    engine: engineLater,
    quota,
    turns,
    addresses: makeCallbackAddresses({ vault: options.vault, baseUrl: options.baseUrl }),
  }
  const ports = makeWorkflowPorts({
    db,
    system,
    loadAdhoc: options.loadAdhoc,
    loadTrial: (workspaceId, trialId) => loadTrial(db, workspaceId, trialId),
    quota,
  })

  const voidAsked = (workspaceId: string, executionId: string, path?: string): Promise<void> =>
    db.tenant({ workspaceId, userId: null }, async (tx) => {
      await gates.cancelOpen(tx, workspaceId, executionId, path)
      await questions.cancelOpen(tx, workspaceId, executionId, path)
      await cancelEventWaits(tx, workspaceId, executionId, path)
    })

  const figures = makeRunFigures({ db, log })
  const texts = makeRunIndex({ db, log })
  const telemetry = makeTelemetry({ config, log })
  const engine: Engine = await startEngine({
    db,
    log,
    role: config.role === 'api' ? 'api' : 'all',
    ...(options.release !== undefined && { release: options.release }),
    ports: {
      ...ports,
      openGate: gates.openGate,
      askQuestion: questions.askQuestion,
      awaitEvent: (wait) => awaitEvent(events, wait),
      keepLog: makeKeepLog({ db, log }),
      ...(telemetry && { traceOf: traceparentOf }),
      callbackUrl: events.addresses.urlOf,
      due: (wait) => {
        if (wait.kind === 'event') return eventDue(events, wait)
        return wait.kind === 'approval' ? gates.gateDue(wait) : questions.questionDue(wait)
      },
      overtaken: ({ workspaceId, executionId, path }) => voidAsked(workspaceId, executionId, path),
      async ended(execution) {
        await voidAsked(execution.workspaceId, execution.executionId)
        await ports.ended(execution)
        for (const alsoDo of options.onEnded) await alsoDo(execution)
      },
      finished: (run) => {
        figures.note(run)
        texts.note(run)
        telemetry?.note(run)
      },
      blobs: providers.blobs,
      nodes: runnableOf(recordNodes(nodes, db), [makeTrialAnswer(makeFindRecorded(db))]),
    },
  })

  const scheduler = makeScheduler({ db, log, quota })
  const startExecution = makeStarter({ engine, quota, turns, takeFiles: files.takeFiles })
  const views = makeViews(providers.blobs, engineLater)
  const standingInWorkflow = makeStandingInWorkflow(system)
  const standingInExecution = makeStandingInExecution({
    standingThroughQuestion: questions.standingThroughQuestion,
    ...(options.standingInJob && { standingInJob: options.standingInJob }),
  })
  const workflows = makeWorkflows({
    kinds: () => descriptorsOf(nodes),
    system,
    references: new Map([...options.references, ...peopleAndVersions]),
    checkMore: options.checkMore,
    onDeleted: options.onDeleted,
    retentionDays: config.HEDDLE_RETENTION_DAYS,
    proofs: { suite: findSuiteProof, hasSuite, replay: findReplayProof, hasRuns: hasPastRuns },
  })
  const loadDefinition = makeDefinitions(ports)
  const replays = makeReplayRunner({
    db,
    log,
    turns,
    loadDefinition,
    blobs: providers.blobs,
    effectOf: (type) => nodes.get(type)?.descriptor.effect ?? 'pure',
    computing: computingOf(nodes),
    descriptorOf: (type) => nodes.get(type)?.descriptor,
    now: () => performance.now(),
  })
  const executions = makeExecutions({ engine, views, system, startExecution, quota })
  const deliveries = makeDeliveries({ db, log })
  const webhookTokens = makeWebhookIdentifier({ db, orgOf: options.orgOf, log, vault: options.vault, deliveries })

  const bulks = makeBulkWork({ db, engine, quota, log })
  const sweeping = config.role === 'api' ? undefined : startSweeping({ db, log })
  if (config.role !== 'api') {
    scheduler.start()
    replays.start()
    await bulks.start()
    reviews.start()
  }

  return {
    engine,
    nodes,
    loadDefinition,
    workflows,
    executions,
    questions,
    approvals,
    views,
    startExecution,
    passOn: makePassWorkflowsOn({ kinds: () => descriptorsOf(nodes), system }),
    maintain: makeMaintenance({
      db: forMaintenance(db),
      blobs: providers.blobs,
      retentionDays: config.HEDDLE_RETENTION_DAYS,
      retentions: () => listRetentions(db),
    }).run,
    forgetEvents: () => forgetEvents(db),
    forgetReplays: () => db.maintain('select forget_replays($1, 1000)', [REPLAYS_KEPT_DAYS]),
    forgetTrials: () => db.maintain('select forget_trials(10000)'),
    feed: executionFeed({ db, engine, views }),
    tokens: { webhook: webhookTokens.identify, inbound: webhookTokens.identifyInbound },
    standings: {
      workflow: standingInWorkflow,
      execution: standingInExecution,
      gate: makeStandingInGate(standingInExecution),
      replay: makeStandingInReplay(standingInWorkflow),
    },
    routes: [
      ...workflowRoutes({
        vault: options.vault,
        workflows,
        schedules: { onChanged: scheduler.wake, startExecution },
        portable: { workflows, kinds: () => descriptorsOf(nodes), system },
        embedTokens: makeEmbedTokens<{ workflow_id: string }>({ defaultOrigins: async () => [] }),
        registry: () => describeRegistry(nodes),
        palette: () => describePalette(nodes),
      }),
      ...executionRoutes(executions),
      ...replayRoutes({ wake: replays.wake }),
      ...trialRoutes({
        engine,
        views,
        turns,
        takeFiles: files.takeFiles,
        kinds: () => descriptorsOf(nodes),
        checkDefinition: workflows.checkDefinition,
      }),
      ...webhookRoutes(makeWebhooks({ engine, views, startExecution, tokens: webhookTokens, deliveries }), {
        engine,
        views,
        blobs: providers.blobs,
        db,
        deliveries,
        startExecution,
        tokens: webhookTokens,
        vault: options.vault,
        keepFile: files.keepFile,
        limiter: makeRateLimiter(),
      }),
      ...eventRoutes(events),
      ...approvalRoutes({ approvals, questions }),
      ...oddsRoutes(providers.odds),
    ],
    async stop(): Promise<void> {
      await webhookTokens.stop()
      await deliveries.stop()
      await scheduler.stop()
      await replays.stop()
      await bulks.stop()
      await reviews.stop()
      await engine.stop()
      await figures.stop()
      await texts.stop()
      await sweeping?.stop()
      await telemetry?.stop()
    },
  }
}

const REPLAYS_KEPT_DAYS = 30

/** What a replay computes anew where the record does not answer. None of them reaches anything outside. */
const computingOf = (nodes: NodeTable): Map<string, NodeKind> =>
  new Map(
    ['code', 'transform', 'http.respond'].flatMap((type) => {
      const kind = nodes.get(type)
      return kind && !isControl(kind) ? [[type, kind]] : []
    }),
  )

/** Ids of people, teams and versions that a definition names; whether a workflow may be named, its own area says. */
const peopleAndVersions = new Map<string, ReferenceCheck>([
  ['usr', exists('usr', 'select from memberships where workspace_id = $1 and user_id = $2')],
  ['team', exists('team', 'select from teams where workspace_id = $1 and team_id = $2')],
  ['wfv', exists('wfv', 'select from workflow_versions where workspace_id = $1 and version_id = $2')],
])

function exists(prefix: Parameters<typeof fromWire>[0], sql: string): ReferenceCheck {
  return async (tx, workspaceId, text) => {
    const uuid = fromWire(prefix, text)
    return uuid !== undefined && (await tx.maybe(sql, [workspaceId, uuid])) !== undefined
  }
}
