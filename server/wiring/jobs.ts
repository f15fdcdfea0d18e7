import type { ConnectionUse } from '#areas/connections/using'
import type { DatasetUse } from '#areas/datasets/use'
import { jobFeed } from '#areas/jobs/feed'
import {
  credentialJobHooks,
  jobHooks,
  joinJob,
  loadJobDefinition,
  pauseJobsOfWorkflow,
  reassignJobs,
} from '#areas/jobs/hooks'
import { makeDispatcher } from '#areas/jobs/ledger/dispatcher'
import { writeOutput } from '#areas/jobs/ledger/output'
import { jobMemberRoutes } from '#areas/jobs/member-routes'
import { makeJobMembers } from '#areas/jobs/members'
import { accessLevelInJob, accessLevelInOwnedJob, accessLevelThroughJob } from '#areas/jobs/rights'
import { jobRoutes } from '#areas/jobs/routes'
import { makeJobs } from '#areas/jobs/service'
import { makeReadSource } from '#areas/jobs/source'
import type { Quotas } from '#areas/payments/quotas'
import { type JudgeByAgent, makeConcludeSuite } from '#areas/suites/judge'
import { makeRecordPeople } from '#areas/suites/recording'
import { suiteRoutes } from '#areas/suites/routes'
import { makeAccessLevelInSuite, makeSuites } from '#areas/suites/service'
import { cancelRunsOfWorkflow } from '#areas/suites/store'
import type { Workflows } from '#areas/workflows/service'
import { reviewByAgent } from '#engine/agents/review'
import type { ChooseModel } from '#engine/credentials'
import type { LoadDefinition } from '#engine/definitions'
import { descriptorsOf, type NodeTable } from '#engine/nodes/table'
import type { Engine } from '#engine/ports'
import type { Kinds } from '#model/graph'
import { isMetered } from '#model/graph-ids'
import type { FindAccessLevel } from '#platform/access/check'
import type { Config } from '#platform/config'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { LanguageModel } from '#providers/llm/index'
import type { wireIdentity } from './identity.ts'
import type { Providers } from './providers.ts'

export type JobWiringOptions = {
  config: Config
  db: Database
  log: Logger
  engine: Engine
  workflows: Workflows
  datasets: DatasetUse
  connections: ConnectionUse
  identity: Pick<ReturnType<typeof wireIdentity>, 'invitations' | 'onAccepted' | 'onRemoved'>
  quotas: Quotas
  chooseModel: ChooseModel
  providers: Pick<Providers, 'blobs' | 'llm'>
  accessLevelInWorkflow: FindAccessLevel
  nodes: NodeTable
  loadDefinition: LoadDefinition
  baseUrl(): string
}

/** The functions of jobs that other areas need before jobs are wired. */
export const jobLinks = (db: Database) => ({
  hooks: jobHooks,
  credentialHooks: credentialJobHooks,
  async workflowDeleted(tx: Tx, workspaceId: string, workflowId: string): Promise<void> {
    await pauseJobsOfWorkflow(tx, workspaceId, workflowId)
    await cancelRunsOfWorkflow(tx, workspaceId, workflowId)
  },
  loadDefinition: loadJobDefinition(db),
  accessLevelThroughJob,
})

/** Wires enrichment jobs, suites, and the runner of both. */
export async function wireJobs(options: JobWiringOptions) {
  const { config, db, log, engine, workflows, datasets, providers } = options
  const reader = { db, datasets, blobs: providers.blobs }
  const modelOf: ModelOf = (workspaceId) => options.chooseModel({ workspaceId, principal: { userId: null } })
  const dispatcher = makeDispatcher({
    db,
    log,
    engine,
    datasets,
    isMetered: (definition) => isMetered(definition, descriptorsOf(options.nodes)),
    readSource: makeReadSource({ db, connections: options.connections }),
    countRuns: (workspaceId, count) => options.quotas.takeExecutions(workspaceId, count),
    concludeJob: (run, lease, versionId) => writeOutput(reader, run, lease, versionId),
    concludeSuite: makeConcludeSuite({
      reader,
      judge: judgeBy(modelOf),
      recordPeople: makeRecordPeople({
        db,
        blobs: providers.blobs,
        loadDefinition: options.loadDefinition,
        nodes: options.nodes,
      }),
    }),
  })
  if (config.role !== 'api') await dispatcher.start()
  const { invitations } = options.identity
  const jobs = makeJobs({ workflows, datasets, blobs: providers.blobs, engine, invitations })
  const members = makeJobMembers({ invitations })
  const kinds = (): Kinds => descriptorsOf(options.nodes)
  const suites = makeSuites({ datasets, modelOf, engine, kinds, baseUrl: options.baseUrl })
  options.identity.onAccepted.job = joinJob
  options.identity.onRemoved.push(reassignJobs)
  return {
    feed: jobFeed(db),
    routes: [...jobRoutes(jobs), ...jobMemberRoutes(members), ...suiteRoutes(suites)],
    accessLevels: {
      job: accessLevelInJob,
      owned_job: accessLevelInOwnedJob,
      suite: makeAccessLevelInSuite(options.accessLevelInWorkflow),
    },
    /** Deletes rows of the ledger that belong to nothing, in portions. */
    async maintain(): Promise<void> {
      for (let more = true; more; ) {
        const rows = await db.maintain<{ more: boolean }>('select sweep_ledger() as more')
        more = rows[0]!.more
      }
    },
    stop: dispatcher.stop,
  }
}

type ModelOf = (workspaceId: string) => Promise<LanguageModel>

const judgeBy =
  (modelOf: ModelOf): JudgeByAgent =>
  async ({ workspaceId, title, payload, instructions, model }) =>
    reviewByAgent({
      llm: await modelOf(workspaceId),
      agent: { id: 'suite-judge', name: 'Judge', instructions, model },
      title,
      payload,
    })
