import { makeCredentialCache } from '#areas/credentials/credential-cache'
import type { CredentialJobHooks } from '#areas/credentials/job-hooks'
import { addressOfModel } from '#areas/credentials/kinds'
import { watchModels } from '#areas/credentials/model-watch'
import { type ModelParts, makeChooseModel } from '#areas/credentials/models'
import { makeNodeModel, makeOpenCredential } from '#areas/credentials/node'
import { accessLevelInCredential, accessLevelInOwnedCredential, mayUseNamed } from '#areas/credentials/rights'
import { credentialRoutes } from '#areas/credentials/routes'
import { resolveCredential } from '#areas/credentials/use'
import { makeUseNotes } from '#areas/credentials/use-notes'
import { makeWatchModel } from '#areas/insights/metering'
import type { Allowances } from '#areas/payments/allowances'
import { meterModel } from '#areas/payments/resource-meters'
import type { ReferenceCheck } from '#areas/workflows/definition-check'
import { findPrincipal } from '#areas/workflows/rights'
import type { ChooseModel } from '#engine/credentials'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Vault } from '#platform/secrets'
import type { LanguageModel } from '#providers/llm/index'

export type CredentialOptions = {
  db: Database
  vault: Vault
  log: Logger
  outgoing: Outgoing
  jobs: CredentialJobHooks
  /** The language model of the installation, if tenants may use it. */
  installation: LanguageModel
  /** The embedding model of the installation. Null if there is none. */
  embeddingModel: string | null
  allowances: Allowances
}

/** Wires the stored secrets, and the only way to use them. */
export function wireCredentials(options: CredentialOptions) {
  const { db, vault, log, outgoing, jobs, installation, embeddingModel, allowances } = options
  const notes = makeUseNotes({ db, log })
  const recent = makeCredentialCache(db)
  const watch = makeWatchModel({ db, log })
  const parts: ModelParts = {
    cache: recent,
    installation,
    embeddingModel,
    watch: watch.model,
    db,
    vault,
    notes,
    outgoing,
    jobs,
    findPrincipal,
    underWay: new Map(),
  }
  const chooseAny = makeChooseModel(parts)
  const chooseModel: ChooseModel = async (wanted) => {
    const llm = await chooseAny(wanted)
    if (llm !== installation) return llm
    return watch.model(meterModel(llm, wanted.workspaceId, allowances), { ...wanted, credentialId: null })
  }
  const modelWatch = watchModels({ db, log, installation })
  return {
    openCredential: makeOpenCredential(parts),
    /** Opens a credential for a person instead of an execution. */
    openFor: async ({
      workspaceId,
      credentialId,
      userId,
    }: {
      workspaceId: string
      credentialId: string
      userId: string | null
    }) => (await resolveCredential(parts, { workspaceId, credentialId, principal: { userId } })).credential,
    /** Opens the credential of a language model with its settings, for protocols other than chat. */
    openModel: async ({
      workspaceId,
      credentialId,
      userId,
    }: {
      workspaceId: string
      credentialId: string
      userId: string | null
    }) => {
      const { row, credential } = await resolveCredential(parts, { workspaceId, credentialId, principal: { userId } })
      return { credential, config: row.config, address: row.kind === 'llm' ? addressOfModel(row.config) : null }
    },
    watchEmbed: watch.embed,
    chooseModel,
    chooseModelForNode: makeNodeModel(chooseModel),
    hasModel: modelWatch.hasModel,
    routes: credentialRoutes(parts),
    accessLevels: { credential: accessLevelInCredential, owned_credential: accessLevelInOwnedCredential },
    references: new Map<string, ReferenceCheck>([['cred', mayUseNamed]]),
    async stop(): Promise<void> {
      modelWatch.stop()
      await recent.stop()
      await notes.stop()
    },
  }
}
