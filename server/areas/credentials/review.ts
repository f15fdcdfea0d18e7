import type { Review } from '#areas/approvals/reviews'
import { reviewByAgent } from '#engine/agents/review'
import type { ChooseModel } from '#engine/credentials'
import { absentModel } from '#providers/llm/configured'
import { CredentialRefused } from './use.ts'

/**
 * Casts an agent's vote on a gate, with the model that its approver names. An unusable credential results in an
 * abstention with the reason.
 */
export const makeReview =
  (chooseModel: ChooseModel): Review =>
  async ({ workspaceId, executionId, credentialId, ...request }) => {
    const llm = await chooseModel({ workspaceId, principal: { executionId }, credentialId }).catch((error: unknown) => {
      if (!(error instanceof CredentialRefused)) throw error
      return absentModel(error.message)
    })
    return reviewByAgent({ llm, ...request })
  }
