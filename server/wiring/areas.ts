import { reassignCompany } from '#areas/companies/service'
import { reassignCredentials } from '#areas/credentials/rights'
import { stopDestinationsOf } from '#areas/destinations/rights'
import { mayReadNamed, reassignKnowledge } from '#areas/knowledge/rights'
import { forgetState } from '#areas/state/service'
import { leaveTeams } from '#areas/teams/service'
import { forgetTriggers } from '#areas/triggers/service'
import { makeCodeCheck } from '#areas/workflows/code-check'
import type { AnyKind } from '#engine/nodes/kind'
import type { Identifier } from '#platform/auth/identify'
import { SECOND } from '#platform/clock'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import { wireConversations } from './conversations.ts'
import { wireCredentials } from './credentials.ts'
import { wireData } from './data.ts'
import { wireDestinations } from './destinations.ts'
import { wireFiles } from './files.ts'
import { wireIdentity } from './identity.ts'
import { jobLinks, wireJobs } from './jobs.ts'
import { wireKnowledge } from './knowledge.ts'
import { wirePayments } from './payments.ts'
import { wireProviders } from './providers.ts'
import { wireReaching } from './reaching.ts'
import { wireServices } from './services.ts'
import { wireThreads } from './threads.ts'
import { wireWorkflows } from './workflows.ts'

// Connects the areas, each with what it needs from the others.

export type Parts = {
  config: Config
  db: Database
  vault: Vault
  log: Logger
  identifier: Identifier
  /** The address at which users reach the service. It is known after the service listens. */
  baseUrl(): string
  /** Additional node kinds, for benchmarks and tests. */
  kinds?: AnyKind[]
  /** Another release number, for test scenarios. */
  release?: number
}

type Workflows = Awaited<ReturnType<typeof wireWorkflows>>
type Resources = ReturnType<typeof wireResources>
type Talk = ReturnType<typeof wireTalk>

export type Areas = Awaited<ReturnType<typeof wireAreas>>

export async function wireAreas(parts: Parts) {
  // Files and conversations call workflows at run time, but workflows are created with both of them.
  let made: Workflows | undefined
  const later = (): Workflows => made!
  const resources = wireResources(parts, later)
  const talk = wireTalk(parts, resources, later)
  const workflows = await wireEngine(parts, resources, talk)
  made = workflows
  resources.identity.onRemoved.push(
    stopDestinationsOf,
    workflows.passOn,
    reassignCredentials,
    reassignKnowledge,
    reassignCompany,
    leaveTeams,
  )
  const [jobs, destinations] = await Promise.all([
    wireJobsOf(parts, resources, workflows),
    wireDestinationsOf(parts, resources),
  ])
  const reaching = wireReaching({ ...parts, providers: resources.providers, workflows })
  return { ...resources, ...talk, workflows, jobs, destinations, reaching }
}

/** Wires the resources of users, on which the other areas are built. */
function wireResources({ config, db, vault, log, baseUrl }: Parts, workflows: () => Workflows) {
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
    embeddingModel: providers.embeddings?.model ?? null,
    allowances: payments.allowances,
  })
  const files = wireFiles({
    config,
    db,
    vault,
    blobs: providers.blobs,
    baseUrl,
    accessLevelInExecution: () => workflows().accessLevels.execution,
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
    vault,
    baseUrl,
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
  return { payments, providers, links, credentials, files, services, data, knowledge, identity }
}

/** Wires the areas in which people and assistants talk. */
function wireTalk(parts: Parts, resources: Resources, workflows: () => Workflows) {
  const { config, db, vault, log, identifier, baseUrl } = parts
  const { payments, providers, credentials, files, services, data, knowledge, identity } = resources
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
    baseUrl,
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
    workflows,
  })
  const threads = wireThreads({
    db,
    vault,
    log,
    providers,
    identity,
    conversations: conversations.conversations,
    allowances: payments.allowances,
    answers: { approvals: () => workflows().approvals, questions: () => workflows().questions },
    maxBytes: config.HEDDLE_MAX_JSON_BYTES,
    files: files.sent,
  })
  return { conversations, threads }
}

/** Wires workflows and the engine that executes them. */
function wireEngine(parts: Parts, resources: Resources, talk: Talk): Promise<Workflows> {
  const { config, db, vault, log, identifier, baseUrl, release } = parts
  const { payments, providers, links, credentials, files, services, data, knowledge } = resources
  const { conversations, threads } = talk
  const checkCode = makeCodeCheck(providers.sandbox)
  return wireWorkflows({
    config,
    db,
    log,
    vault,
    baseUrl,
    providers,
    credentials,
    quotas: payments.quotas,
    allowances: payments.allowances,
    orgOf: identifier.orgOf,
    kinds: [...data.kinds, ...threads.kinds, ...knowledge.kinds, ...(parts.kinds ?? [])],
    ...(release !== undefined && { release }),
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
    programs: services.programs,
    findLock: services.findLock,
    watchNodes: services.errors.watch,
    onDeleted: [links.workflowDeleted, forgetState, forgetTriggers],
    onEnded: [
      async ({ workspaceId, executionId }) => void (await data.datasetUse.forgetExecution(workspaceId, executionId)),
      conversations.conversations.executionEnded,
    ],
    onAsked: conversations.conversations.questionAsked,
    onGateOpened: conversations.conversations.gateOpened,
    loadAdhoc: links.loadDefinition,
    accessLevelInJob: links.accessLevelThroughJob,
    changedDatasets: data.datasetUse.changedDatasets,
    files,
  })
}

function wireJobsOf({ config, db, log, baseUrl }: Parts, resources: Resources, workflows: Workflows) {
  const { payments, providers, credentials, data, identity } = resources
  return wireJobs({
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
    baseUrl,
    accessLevelInWorkflow: workflows.accessLevels.workflow,
    datasets: data.datasetUse,
    connections: data.connectionUse,
    quotas: payments.quotas,
  })
}

function wireDestinationsOf({ config, db, vault, log, baseUrl }: Parts, resources: Resources) {
  const { payments, providers, credentials } = resources
  return wireDestinations({
    config,
    db,
    vault,
    log,
    outgoing: providers.outgoing,
    baseUrl,
    openCredential: credentials.openFor,
    checkDestinations: (tx, workspaceId) => payments.quotas.check(tx, workspaceId, 'event_destinations', 1),
  })
}
