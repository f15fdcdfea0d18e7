import { recordAudit } from '#platform/audit'
import { unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'
import type { LanguageModel } from '#providers/llm/index'
import { findWorkspaceModel, setWorkspaceModel } from './model-store.ts'
import { mayUse } from './rights.ts'
import * as store from './store.ts'

// The language model of a workspace. Choosing a credential for it lets everything in the workspace use the credential.

/** The models of the installation. */
export type Installation = { installation: LanguageModel; embeddingModel: string | null }

type ByWorkspace = { workspace_id: string }
type Chosen = { credential_id: string | null; fallback_credential_id?: string | null | undefined }

export async function getWorkspaceModel(offered: Installation, ctx: Context, { workspace_id }: ByWorkspace) {
  const row = await findWorkspaceModel(ctx.tx, workspace_id)
  const { credential_id = null, fallback_credential_id = null } = row ?? {}
  const source: 'workspace' | 'installation' | 'none' =
    credential_id !== null ? 'workspace' : offered.installation.available() === null ? 'installation' : 'none'
  return { credential_id, fallback_credential_id, source, embedding_model: offered.embeddingModel }
}

export async function chooseWorkspaceModel(
  offered: Installation,
  ctx: Context,
  { workspace_id, credential_id, fallback_credential_id = null }: ByWorkspace & Chosen,
) {
  for (const [field, id] of Object.entries({ credential_id, fallback_credential_id })) {
    if (id === null) continue
    const row = await store.findUsable(ctx.tx, workspace_id, id, ctx.person.user_id)
    if (!row || !mayUse(row.role) || row.kind !== 'llm') throw unknownReference(`/${field}`)
  }
  await setWorkspaceModel(ctx.tx, workspace_id, { credential_id, fallback_credential_id }, ctx.person.user_id)
  await recordAudit(ctx, ctx.tx, {
    action: 'workspace.language_model_chosen',
    subject: toWire('ws', workspace_id),
    workspaceId: workspace_id,
    data: { credential_id: credential_id && toWire('cred', credential_id) },
  })
  return getWorkspaceModel(offered, ctx, { workspace_id })
}
