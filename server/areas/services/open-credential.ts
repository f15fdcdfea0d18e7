import { CredentialRefused } from '#areas/credentials/use'
import { problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { OutgoingCredential } from '#platform/outgoing/credential'

export type OpenFor = (wanted: {
  workspaceId: string
  credentialId: string
  userId: string | null
}) => Promise<OutgoingCredential>

/** Opens a credential for the caller. */
export async function openForCaller(openFor: OpenFor, ctx: Context, credentialId: string): Promise<OutgoingCredential> {
  const { workspace, person } = ctx
  try {
    return await openFor({ workspaceId: workspace.workspace_id, credentialId, userId: person.user_id })
  } catch (error) {
    if (!(error instanceof CredentialRefused)) throw error
    if (error.code === 'credential_not_allowed') throw unknownReference('/credential_id')
    throw problem('credential_unusable', error.message)
  }
}
