import type { FingerprintCheck, GateDependencies } from '#areas/approvals/gate-dependencies'
import { makeGates } from '#areas/approvals/gates'
import { makeQuestions, type QuestionDependencies } from '#areas/approvals/questions'
import { makeReviews, type Review } from '#areas/approvals/reviews'
import { makeApprovals } from '#areas/approvals/service'
import { makeReview } from '#areas/credentials/review'
import { makeCallbackAddresses } from '#areas/events/callback-address'
import { awaitEvent, cancelEventWaits, eventDue } from '#areas/events/waits'
import { makeRunIndex } from '#areas/executions/indexing'
import { makeKeepLog } from '#areas/executions/logs'
import type { Quota } from '#areas/executions/start'
import { makeRunFigures } from '#areas/insights/rollup'
import { makeTelemetry, traceparentOf } from '#areas/insights/telemetry'
import type { Allowances } from '#areas/payments/allowances'
import type { Quotas } from '#areas/payments/quotas'
import { meterNodes } from '#areas/payments/resource-meters'
import { stateNodes } from '#areas/state/nodes'
import { makeFindRecorded, recordNodes } from '#areas/suites/recording'
import { loadTrial } from '#areas/trials/service'
import { guardNodes } from '#areas/workflows/authority'
import { type LoadAdhoc, makeWorkflowPorts } from '#areas/workflows/engine-ports'
import { makeNotifier } from '#areas/workflows/notify'
import { makeTakeRate } from '#areas/workflows/rates'
import { systemWorkflows } from '#areas/workflows/system'
import { makeUsageNode } from '#areas/workflows/usage-node'
import type { ChooseModel, OpenCredential } from '#engine/credentials'
import { startEngine } from '#engine/engine'
import type { Files } from '#engine/files'
import type { AnyKind } from '#engine/nodes/kind'
import { makeLanguageNodes } from '#engine/nodes/language'
import type { FindImported, FindLock } from '#engine/nodes/service-call'
import { makeNodes, type NodeTable, runnableOf } from '#engine/nodes/table'
import { makeTrialAnswer } from '#engine/nodes/trial-answer'
import type { EndedExecution, Engine, EnginePorts } from '#engine/ports'
import { makeTurns } from '#engine/worker/turns'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import type { PieceRunner } from '#providers/services/pieces/runner'
import type { ProgramRunner } from '#providers/services/programs/runner'
import type { Providers } from './providers.ts'

export type EngineWiringOptions = {
  config: Config
  db: Database
  log: Logger
  vault: Vault
  baseUrl(): string
  providers: Providers
  credentials: { openCredential: OpenCredential; chooseModelForNode: ChooseModel; chooseModel: ChooseModel }
  quotas: Quotas
  allowances: Allowances
  /** The node kinds of other areas. */
  kinds: AnyKind[]
  release?: number
  findImported: FindImported
  pieces: PieceRunner
  programs: ProgramRunner
  findLock: FindLock
  watchNodes(nodes: NodeTable): NodeTable
  files: { use: Files }
  onEnded: ((execution: EndedExecution) => Promise<void>)[]
  onAsked?: NonNullable<QuestionDependencies['onAsked']>
  onGateOpened?: NonNullable<GateDependencies['onOpened']>
  loadAdhoc: LoadAdhoc
  changedDatasets: FingerprintCheck
  /** If absent, agents review with the language model of the installation. */
  review?: Review
}

/** Wires the engine, and the areas through which it asks people and waits for events. */
export async function wireEngine(options: EngineWiringOptions) {
  const { config, db, log } = options
  const nodes = wireNodes(options)
  // Limits the computing that requests cause: workspaces take turns.
  const turns = makeTurns()
  // Gates call the engine, and the engine opens gates. The engine is created second, so it is looked up when it is
  // needed.
  const engineLater = (): Engine => engine
  const people = wirePeople(options, { engine: engineLater, turns })
  const quota: Quota = {
    take: (workspaceId) => options.quotas.takeExecutions(workspaceId),
    giveBack: (workspaceId) => options.quotas.giveBackExecutions(workspaceId),
  }
  const addresses = makeCallbackAddresses({ vault: options.vault, baseUrl: options.baseUrl })
  const events = { db, engine: engineLater, quota, turns, addresses }
  const ports = makeWorkflowPorts({
    db,
    system: systemWorkflows,
    loadAdhoc: options.loadAdhoc,
    loadTrial: (workspaceId, trialId) => loadTrial(db, workspaceId, trialId),
    quota,
  })
  const records = wireRecords(options)
  const engine: Engine = await startEngine({
    db,
    log,
    role: config.role === 'api' ? 'api' : 'all',
    ...(options.release !== undefined && { release: options.release }),
    ports: {
      ...ports,
      ...askingPorts(db, people, events),
      ...records.ports,
      async ended(execution) {
        await voidAsked(db, people, execution.workspaceId, execution.executionId)
        await ports.ended(execution)
        for (const alsoDo of options.onEnded) await alsoDo(execution)
      },
      blobs: options.providers.blobs,
      nodes: runnableOf(recordNodes(nodes, db), [makeTrialAnswer(makeFindRecorded(db))]),
    },
  })
  return { ...people, engine, engineLater, nodes, turns, quota, events, ports, stopRecords: records.stop }
}

function wireNodes(options: EngineWiringOptions): NodeTable {
  const { db, providers, files, findImported, pieces, programs, findLock } = options
  const { openCredential, chooseModelForNode } = options.credentials
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
  const nodes: NodeTable = guardNodes(options.watchNodes(meterNodes(made, options.allowances)), db)
  return nodes
}

type People = ReturnType<typeof wirePeople>
type Events = Parameters<typeof awaitEvent>[0] & { addresses: ReturnType<typeof makeCallbackAddresses> }

/** Wires gates and questions, and the agents that vote on gates. */
function wirePeople(
  options: EngineWiringOptions,
  { engine, turns }: { engine(): Engine; turns: ReturnType<typeof makeTurns> },
) {
  const { db, log, onAsked, onGateOpened } = options
  const gates = makeGates({
    db,
    engine,
    changedDatasets: options.changedDatasets,
    onAgentsAsked: () => reviews.wake(),
    ...(onGateOpened && { onOpened: onGateOpened }),
  })
  const questions = makeQuestions({ db, engine, turns, ...(onAsked && { onAsked }) })
  const approvals = makeApprovals({ gates, engine })
  const review: Review = options.review ?? makeReview(options.credentials.chooseModel)
  const reviews = makeReviews({ db, log, approvals, gates, review })
  return { gates, questions, approvals, reviews }
}

const voidAsked = (
  db: Database,
  { gates, questions }: People,
  workspaceId: string,
  executionId: string,
  path?: string,
): Promise<void> =>
  db.tenant({ workspaceId, userId: null }, async (tx) => {
    await gates.cancelOpen(tx, workspaceId, executionId, path)
    await questions.cancelOpen(tx, workspaceId, executionId, path)
    await cancelEventWaits(tx, workspaceId, executionId, path)
  })

type AskingPorts = Pick<
  EnginePorts,
  'openGate' | 'askQuestion' | 'awaitEvent' | 'callbackUrl' | 'due' | 'closeAbandoned'
>

const askingPorts = (db: Database, people: People, events: Events): AskingPorts => ({
  openGate: people.gates.openGate,
  askQuestion: people.questions.askQuestion,
  awaitEvent: (wait) => awaitEvent(events, wait),
  callbackUrl: events.addresses.urlOf,
  due: (wait) => {
    if (wait.kind === 'event') return eventDue(events, wait)
    return wait.kind === 'approval' ? people.gates.gateDue(wait) : people.questions.questionDue(wait)
  },
  closeAbandoned: ({ workspaceId, executionId, path }) => voidAsked(db, people, workspaceId, executionId, path),
})

/** Wires the records of executions for users: statistics, search texts, logs, traces. */
function wireRecords({ config, db, log }: EngineWiringOptions) {
  const figures = makeRunFigures({ db, log })
  const texts = makeRunIndex({ db, log })
  const telemetry = makeTelemetry({ config, log })
  const ports: Pick<EnginePorts, 'keepLog' | 'traceOf' | 'finished'> = {
    keepLog: makeKeepLog({ db, log }),
    ...(telemetry && { traceOf: traceparentOf }),
    finished: (run) => {
      figures.note(run)
      texts.note(run)
      telemetry?.note(run)
    },
  }
  return {
    ports,
    async stop(): Promise<void> {
      await figures.stop()
      await texts.stop()
      await telemetry?.stop()
    },
  }
}
