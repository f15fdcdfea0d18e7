import { approvalRoutes } from '#areas/approvals/routes'
import { makeAccessLevelInGate } from '#areas/approvals/service'
import { forgetEvents } from '#areas/events/forget'
import { eventRoutes } from '#areas/events/routes'
import { makeBulkWork } from '#areas/executions/bulk-work'
import { executionFeed } from '#areas/executions/feed'
import { executionRoutes } from '#areas/executions/routes'
import { type AdhocAccessLevel, makeAccessLevelInExecution, makeExecutions } from '#areas/executions/service'
import { makeStarter, type TakeFiles } from '#areas/executions/start'
import { startSweeping } from '#areas/executions/sweeping'
import { makeViews } from '#areas/executions/view'
import { oddsRoutes } from '#areas/odds/routes'
import { replayRoutes } from '#areas/replays/routes'
import { makeReplayRunner } from '#areas/replays/runner'
import { findReplayProof, hasPastRuns, makeAccessLevelInReplay } from '#areas/replays/service'
import { findSuiteProof, hasSuite } from '#areas/suites/service'
import { trialRoutes } from '#areas/trials/routes'
import type { KeepFile } from '#areas/webhooks/content'
import { makeDeliveries } from '#areas/webhooks/deliveries'
import { makeWebhookIdentifier } from '#areas/webhooks/identify'
import { webhookRoutes } from '#areas/webhooks/routes'
import { makeWebhooks } from '#areas/webhooks/service'
import type { ReferenceCheck } from '#areas/workflows/definition-check'
import type { WorkflowDependencies } from '#areas/workflows/dependencies'
import { makeLateStarts } from '#areas/workflows/late-starts'
import { makeReassignWorkflows } from '#areas/workflows/reassign-workflows'
import { listRetentions } from '#areas/workflows/retention'
import { workflowRoutes } from '#areas/workflows/routes'
import { makeScheduler } from '#areas/workflows/scheduler'
import { makeAccessLevelInWorkflow, makeWorkflows } from '#areas/workflows/service'
import { systemWorkflows } from '#areas/workflows/system'
import { makeEmbedTokens } from '#areas/workflows/tokens'
import { makeDefinitions } from '#engine/definitions'
import { makeMaintenance } from '#engine/maintenance'
import type { NodeKind } from '#engine/node'
import { isControl } from '#engine/nodes/kind'
import { describePalette, describeRegistry } from '#engine/nodes/registry'
import { descriptorsOf, type NodeTable } from '#engine/nodes/table'
import { forMaintenance } from '#platform/db/pool'
import type { Org } from '#platform/http/context'
import { makeRateLimiter } from '#platform/http/limits'
import { type EngineWiringOptions, wireEngine } from './engine.ts'
import { exists } from './reference-checks.ts'

export type WorkflowWiringOptions = EngineWiringOptions & {
  orgOf(host: string): Promise<Org>
  references: ReadonlyMap<string, ReferenceCheck>
  checkMore: NonNullable<WorkflowDependencies['checkMore']>
  files: { takeFiles: TakeFiles; keepFile: KeepFile }
  onDeleted: WorkflowDependencies['onDeleted']
  accessLevelInJob?: AdhocAccessLevel
}

/** Wires the engine and the areas directly above it: workflows, executions, webhooks, approvals. */
export async function wireWorkflows(options: WorkflowWiringOptions) {
  const { config, db, log, providers, files } = options
  const system = systemWorkflows
  const { engine, engineLater, nodes, turns, quota, events, ports, ...rest } = await wireEngine(options)
  const { questions, approvals, reviews } = rest

  const scheduler = makeScheduler({ db, log, quota })
  const startExecution = makeStarter({ engine, quota, turns, takeFiles: files.takeFiles })
  const views = makeViews(providers.blobs, engineLater)
  const accessLevelInWorkflow = makeAccessLevelInWorkflow(system)
  const accessLevelInExecution = makeAccessLevelInExecution({
    accessLevelThroughQuestion: questions.accessLevelThroughQuestion,
    ...(options.accessLevelInJob && { accessLevelInJob: options.accessLevelInJob }),
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
  const lateStarts = makeLateStarts({ db, log })
  const sweeping = config.role === 'api' ? undefined : startSweeping({ db, log })
  if (config.role !== 'api') {
    // None of them depends on another.
    await Promise.all([scheduler, replays, bulks, lateStarts, reviews].map((periodic) => periodic.start()))
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
    passOn: makeReassignWorkflows({ kinds: () => descriptorsOf(nodes), system }),
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
    accessLevels: {
      workflow: accessLevelInWorkflow,
      execution: accessLevelInExecution,
      gate: makeAccessLevelInGate(accessLevelInExecution),
      replay: makeAccessLevelInReplay(accessLevelInWorkflow),
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
      await lateStarts.stop()
      await reviews.stop()
      await engine.stop()
      await rest.stopRecords()
      await sweeping?.stop()
    },
  }
}

const REPLAYS_KEPT_DAYS = 30

/** Returns the kinds that a replay really runs if the record has no answer. None of them has an external effect. */
const computingOf = (nodes: NodeTable): Map<string, NodeKind> =>
  new Map(
    ['code', 'transform', 'http.respond'].flatMap((type) => {
      const kind = nodes.get(type)
      return kind && !isControl(kind) ? [[type, kind]] : []
    }),
  )

/** Checks for ids of people, teams and versions in a definition. The area of workflows checks ids of workflows. */
const peopleAndVersions = new Map<string, ReferenceCheck>([
  ['usr', exists('usr', 'select from memberships where workspace_id = $1 and user_id = $2')],
  ['team', exists('team', 'select from teams where workspace_id = $1 and team_id = $2')],
  ['wfv', exists('wfv', 'select from workflow_versions where workspace_id = $1 and version_id = $2')],
])
