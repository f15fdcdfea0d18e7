import type { WatchModel } from '#areas/insights/metering'
import type { ChooseModel } from '#engine/credentials'
import { MINUTE } from '#platform/clock'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { lazyModel } from '#providers/llm/configured'
import { withFallback } from '#providers/llm/fallback'
import type { LanguageModel } from '#providers/llm/index'
import type { VendorSettings } from '#providers/llm/vendors'
import type { Principal } from './credential-request.ts'
import { addressOfModel, type LlmProvider } from './kinds.ts'
import { findWorkspaceModel } from './model-store.ts'
import { CredentialRefused, type ResolveParts, resolveCredential } from './use.ts'

// Chooses the language model: the named model, else the model of the workspace, else the model of the installation.

export type ModelParts = ResolveParts & {
  outgoing: Pick<Outgoing, 'request' | 'fetchWith'>
  installation: LanguageModel
  /** The embedding model of the installation; null if it has none. */
  embeddingModel: string | null
  /** Counts the calls of a model. */
  watch: WatchModel
}

/** The timeout of a model call. Models may take long before the first byte. */
const ANSWER_WITHIN = 2 * MINUTE

async function openModel(
  parts: ModelParts,
  { workspaceId, principal: asker, nodePath, threadId }: Parameters<ChooseModel>[0],
  credentialId: string,
  principal: Principal,
): Promise<LanguageModel> {
  const { row, credential } = await resolveCredential(parts, { workspaceId, credentialId, principal })
  if (row.kind !== 'llm')
    throw new CredentialRefused('credential_not_allowed', `"${row.name}" is not a credential of a language model`)
  const settings: VendorSettings = {
    provider: row.config.provider as LlmProvider,
    model: typeof row.config.default_model === 'string' ? row.config.default_model : '',
    // The real key is added when the request is sent.
    apiKey: 'none',
    baseUrl: addressOfModel(row.config),
    fetch: parts.outgoing.fetchWith(credential, { timeoutMs: ANSWER_WITHIN }),
  }
  return parts.watch(lazyModel(settings, {}), { workspaceId, principal: asker, nodePath, threadId, credentialId })
}

export const makeChooseModel =
  (parts: ModelParts): ChooseModel =>
  async (wanted) => {
    const { workspaceId, principal, credentialId, fallbackCredentialId } = wanted
    const uuidOf = (named: string): string => fromWire('cred', named) ?? UNKNOWN_ID
    if (credentialId !== undefined) {
      const first = await openModel(parts, wanted, uuidOf(credentialId), principal)
      if (fallbackCredentialId === undefined) return first
      return withFallback(first, () => openModel(parts, wanted, uuidOf(fallbackCredentialId), principal))
    }
    const usual = await parts.db.tenant({ workspaceId, userId: null }, (tx) => findWorkspaceModel(tx, workspaceId))
    if (!usual?.credential_id) return parts.installation
    const first = await openModel(parts, wanted, usual.credential_id, 'workspace')
    const { fallback_credential_id: second } = usual
    if (fallbackCredentialId !== undefined)
      return withFallback(first, () => openModel(parts, wanted, uuidOf(fallbackCredentialId), principal))
    return second === null ? first : withFallback(first, () => openModel(parts, wanted, second, 'workspace'))
  }
