import type { Review } from '#areas/approvals/reviews'
import { reviewByAgent } from '#engine/agents/review'
import type { ChooseModel } from '#engine/credentials'
import { absentModel } from '#providers/llm/configured'
import { CredentialRefused } from './use.ts'

/** An agent's vote on a gate, by the model its approver names; a credential that cannot be used is an abstention that says so. */
export const makeReview =
  (chooseModel: ChooseModel): Review =>
  async ({ workspaceId, executionId, credentialId, ...request }) => {
    const llm = await chooseModel({ workspaceId, principal: { executionId }, credentialId }).catch((error: unknown) => {
      if (!(error instanceof CredentialRefused)) throw error
      return absentModel(error.message)
    })
    return reviewByAgent({ llm, ...request })
  }
