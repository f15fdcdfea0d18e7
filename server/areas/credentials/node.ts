import type { ChooseModel, OpenCredential } from '#engine/credentials'
import { NodeFailure } from '#engine/node'
import { fromWire, NOWHERE } from '#platform/ids'
import { CredentialRefused, type ResolveParts, resolveCredential } from './use.ts'

const asNodeFailure = (error: unknown): unknown =>
  error instanceof CredentialRefused
    ? new NodeFailure(error.code, error.message, { retryable: error.retryable })
    : error

/** A credential for a node: opened for the person its execution acts for. */
export const makeOpenCredential =
  (parts: ResolveParts): OpenCredential =>
  async ({ workspaceId, executionId, principalId, credentialId }) => {
    try {
      const { credential } = await resolveCredential(parts, {
        workspaceId,
        credentialId: fromWire('cred', credentialId) ?? NOWHERE,
        principal: { executionId, principalId },
      })
      return credential
    } catch (error) {
      throw asNodeFailure(error)
    }
  }

/** The language model of a node. */
export const makeNodeModel =
  (choose: ChooseModel): ChooseModel =>
  (wanted) =>
    choose(wanted).catch((error: unknown) => {
      throw asNodeFailure(error)
    })
