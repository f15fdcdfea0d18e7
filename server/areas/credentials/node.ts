import type { OpenCredential } from '#engine/credentials'
import { NodeFailure } from '#engine/node'
import { fromWire, NOWHERE } from '#platform/ids'
import { CredentialRefused, type ResolveParts, resolveCredential } from './use.ts'

/** A credential for a node: opened for whoever its execution acts for. */
export const makeOpenCredential =
  (parts: ResolveParts): OpenCredential =>
  async ({ workspaceId, executionId, credentialId }) => {
    try {
      const { credential } = await resolveCredential(parts, {
        workspaceId,
        credentialId: fromWire('cred', credentialId) ?? NOWHERE,
        principal: { executionId },
      })
      return credential
    } catch (error) {
      if (error instanceof CredentialRefused)
        throw new NodeFailure(error.code, error.message, { retryable: error.retryable })
      throw error
    }
  }
