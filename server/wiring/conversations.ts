import type { AgentPorts } from '#areas/conversations/agent/types'
import { makeConversations } from '#areas/conversations/service'
import type { ShownResults } from '#areas/conversations/updates'
import { makeEmbedIdentifier } from '#areas/embed/identify'
import { makeOrigins } from '#areas/embed/origins'
import { embedTemplateRoutes, embedWorkflowRoutes } from '#areas/embed/routes'
import { makeTemplateWidget } from '#areas/embed/template-widget'
import { makeVisitorConversations, type SentFiles } from '#areas/embed/visitor-conversations'
import { makeVisitors } from '#areas/embed/visitors'
import { makeWorkflowWidget } from '#areas/embed/workflow-widget'
import { makeWorkLoop } from '#areas/gateway/loop'
import type { Allowances } from '#areas/payments/allowances'
import type { Quotas } from '#areas/payments/quotas'
import { makeExtract } from '#areas/requirements/extract'
import { requirementRoutes } from '#areas/requirements/routes'
import { makeRequirements } from '#areas/requirements/service'
import { templateRoutes } from '#areas/templates/routes'
import { accessLevelInTemplate, makeTemplates } from '#areas/templates/service'
import { systemWorkflows } from '#areas/workflows/system'
import { makeEmbedTokens } from '#areas/workflows/tokens'
import type { ChooseModel } from '#engine/credentials'
import type { AccessLevelFinders } from '#platform/access/check'
import type { Database } from '#platform/db/pool'
import type { Org } from '#platform/http/context'
import type { AnyRoute } from '#platform/http/route'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import type { Providers } from './providers.ts'
import type { wireWorkflows } from './workflows.ts'

type Workflows = Awaited<ReturnType<typeof wireWorkflows>>

export type ConversationWiringOptions = {
  db: Database
  vault: Vault
  log: Logger
  providers: Providers
  quotas: Quotas
  allowances: Allowances
  orgOf(host: string): Promise<Org>
  baseUrl(): string
  credentials: { chooseModel: ChooseModel; hasModel(): boolean }
  /** The number of days that conversations with visitors are kept by default. */
  retentionDays: number
  /** How long an assistant waits for a workflow that it started, in milliseconds. */
  toolWaitMs: number
  /** Returns results as users see them: with download links instead of files. */
  shownResults: ShownResults
  /** Returns results for the status of a visitor's execution: files with their URLs. */
  resultsWithUrls: ShownResults
  files: SentFiles
  /** The functions of other areas that assistants use. */
  agentPorts: Omit<AgentPorts, 'waitFor'>
  /**
   * A function, because conversations are created before the engine: as soon as it starts, the engine tells them of
   * questions and ends.
   */
  workflows(): Workflows
}

/** Wires conversations, and the entry points for visitors: templates and widgets. */
export function wireConversations(options: ConversationWiringOptions) {
  const { db, log, vault, providers, quotas, workflows } = options
  const conversations = makeConversations({
    db,
    log,
    chooseModel: options.credentials.chooseModel,
    hasModel: options.credentials.hasModel,
    shownResults: options.shownResults,
    toolWaitMs: options.toolWaitMs,
    takeFiles: options.files.take,
    agentPorts: {
      ...options.agentPorts,
      waitFor: (...asked) => workflows().engine.waitFor(...asked),
    },
    questions: () => workflows().questions,
    checkQuota: (tx, workspaceId) => quotas.check(tx, workspaceId, 'runs_per_month', 1),
    countStarted: (workspaceId, count) =>
      // The execution has already started. If it exceeds the limit it is not counted, and the next one is refused.
      void quotas.takeExecutions(workspaceId, count).catch(() => {}),
  })
  const leftOver = makeWorkLoop({ what: 'answers of assistants', atOnce: 8, ofOne: 8, log, ...conversations.leftOver })
  const templates = makeTemplates({
    accessLevelInWorkflow: (ctx, id) => workflows().accessLevels.workflow(ctx, id),
    hasModel: options.credentials.hasModel,
    catalogue: options.agentPorts.services.catalogue,
    findImported: options.agentPorts.services.findImported,
    findDataset: options.agentPorts.findDataset,
  })
  const templateTokens = makeEmbedTokens<{ template_id: string }>({
    defaultOrigins: async (ctx, { template_id }) =>
      (await templates.findTemplate(ctx.tx, ctx.workspace.workspace_id, template_id))?.allowed_origins ?? [],
  })
  const visitors = makeVisitors({ vault })
  const origins = makeOrigins({ db, baseUrl: options.baseUrl })
  const tokens = makeEmbedIdentifier({ db, orgOf: options.orgOf, log, visitors, origins })
  const visitorConversations = makeVisitorConversations({
    conversations,
    visitors,
    engine: () => workflows().engine,
    views: () => workflows().views,
    resultsWithUrls: options.resultsWithUrls,
  })
  const { speech, transcription } = providers
  const templateWidget = makeTemplateWidget({
    conversations,
    templates,
    visitorConversations,
    visitors,
    speech,
    transcription,
    allowances: options.allowances,
    files: options.files,
  })
  const workflowWidget = makeWorkflowWidget({ conversations, visitorConversations, visitors, files: options.files })
  const requirements = makeRequirements({
    extract: makeExtract({ chooseModel: options.credentials.chooseModel, log }),
    system: systemWorkflows,
  })
  const accessLevels: AccessLevelFinders = { template: accessLevelInTemplate }
  const routes: AnyRoute[] = [
    ...requirementRoutes(requirements),
    ...templateRoutes(templates, templateTokens),
    ...embedTemplateRoutes(templateWidget, visitorConversations),
    ...embedWorkflowRoutes(workflowWidget, visitorConversations),
  ]
  return {
    conversations,
    tasks: {
      'conversations that are too old': async () => {
        const forget = 'select forget_conversations($1, 500) as forgotten'
        for (let forgotten = 500; forgotten === 500; )
          forgotten = (await db.maintain<{ forgotten: number }>(forget, [options.retentionDays]))[0]!.forgotten
      },
      'what assistants remember': async () => {
        const forget = 'select forget_assistant_memories($1, 500) as forgotten'
        for (let forgotten = 500; forgotten === 500; )
          forgotten = (await db.maintain<{ forgotten: number }>(forget, [options.retentionDays]))[0]!.forgotten
      },
    },
    routes,
    accessLevels,
    tokens: { template: tokens.template, workflow: tokens.workflow },
    addCors: origins.addTo,
    start: leftOver.start,
    /** Running answers are left to other processes, or to the next start. */
    async retire(): Promise<void> {
      await conversations.stop()
      await leftOver.stop()
    },
    stop: tokens.stop,
  }
}
