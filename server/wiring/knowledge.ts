import { findProvider } from '#areas/credentials/rights'
import { findUpload, openUpload } from '#areas/files/uploads'
import type { EmbedParts } from '#areas/knowledge/embeddings'
import { makeIndexer } from '#areas/knowledge/indexing'
import { makeKnowledgeAdd, makeKnowledgeSearch } from '#areas/knowledge/nodes'
import { accessLevelInKnowledge, accessLevelInOwnedKnowledge, mayReadNamed } from '#areas/knowledge/rights'
import { knowledgeRoutes } from '#areas/knowledge/routes'
import { searchKnowledge } from '#areas/knowledge/search'
import type { Allowances } from '#areas/payments/allowances'
import type { Quotas } from '#areas/payments/quotas'
import { meterEmbeddings } from '#areas/payments/resource-meters'
import type { ReferenceCheck } from '#areas/workflows/definition-check'
import { findPrincipal } from '#areas/workflows/rights'
import type { AnyKind } from '#engine/nodes/kind'
import type { Config } from '#platform/config'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Providers } from './providers.ts'

export type KnowledgeOptions = {
  config: Config
  db: Database
  log: Logger
  providers: Providers
  quotas: Quotas
  allowances: Allowances
  openModel: EmbedParts['openModel']
  watchEmbed: EmbedParts['watchEmbed']
  datasets: {
    findDataset(tx: Tx, workspaceId: string, datasetId: string): Promise<{ name: string } | undefined>
    readRecords(workspaceId: string, datasetId: string): AsyncIterable<{ texts: string[] }>
  }
}

/** Wires knowledge bases: their routes, the node that searches them, and the indexer of their documents. */
export function wireKnowledge(options: KnowledgeOptions) {
  const { config, db, log, providers, quotas, allowances, openModel, watchEmbed, datasets } = options
  const { embeddings } = providers
  const installation = embeddings && {
    model: embeddings.model,
    name: embeddings.name,
    askFor: (workspaceId: string) => meterEmbeddings(embeddings.ask, workspaceId, allowances),
  }
  const search = { db, outgoing: providers.outgoing, openModel, watchEmbed, installation }
  const indexer = makeIndexer({
    ...search,
    log,
    conversion: providers.conversion,
    openUpload: (wanted) => openUpload({ db, blobs: providers.blobs }, wanted),
    readRecords: datasets.readRecords,
    countRequest: (workspaceId) => allowances.spend(workspaceId, 'outgoing_requests_per_minute'),
  })
  const checkDocuments = (tx: Tx, workspaceId: string) => quotas.check(tx, workspaceId, 'knowledge_documents', 1)
  const kinds: AnyKind[] = [
    makeKnowledgeSearch({ ...search, findPrincipal }),
    makeKnowledgeAdd({ db, findPrincipal, checkDocuments }),
  ]
  return {
    kinds,
    search: (wanted: Parameters<typeof searchKnowledge>[1]) => searchKnowledge(search, wanted),
    routes: knowledgeRoutes({
      ...search,
      findUpload,
      findDataset: datasets.findDataset,
      checkDocuments,
      findProvider: (ctx, credentialId) =>
        findProvider(ctx.tx, ctx.workspace.workspace_id, credentialId, ctx.person.user_id),
    }),
    accessLevels: { knowledge: accessLevelInKnowledge, owned_knowledge: accessLevelInOwnedKnowledge },
    references: new Map<string, ReferenceCheck>([['kb', mayReadNamed]]),
    async start(): Promise<void> {
      if (config.role !== 'api') await indexer.start()
    },
    stop: indexer.stop,
  }
}
