import type { ChooseModel, OpenCredential } from '#engine/credentials'
import { NodeFailure } from '#engine/node'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { CredentialRefused, type ResolveParts, resolveCredential } from './use.ts'

const asNodeFailure = (error: unknown): unknown =>
  error instanceof CredentialRefused
    ? new NodeFailure(error.code, error.message, { retryable: error.retryable })
    : error

/** Opens a credential for a node, with the rights of the person for whom its execution acts. */
export const makeOpenCredential =
  (parts: ResolveParts): OpenCredential =>
  async ({ workspaceId, executionId, principalId, credentialId }) => {
    try {
      const { credential } = await resolveCredential(parts, {
        workspaceId,
        credentialId: fromWire('cred', credentialId) ?? UNKNOWN_ID,
        principal: { executionId, principalId },
      })
      return credential
    } catch (error) {
      throw asNodeFailure(error)
    }
  }

/** Chooses the language model of a node, with errors as node failures. */
export const makeNodeModel =
  (choose: ChooseModel): ChooseModel =>
  (wanted) =>
    choose(wanted).catch((error: unknown) => {
      throw asNodeFailure(error)
    })
