import { approvalCases } from './approvals.ts'
import { companyCases } from './companies.ts'
import { connectionCases } from './connections.ts'
import { conversationCases } from './conversations.ts'
import { credentialCases } from './credentials.ts'
import { datasetCases } from './datasets.ts'
import { destinationCases } from './destinations.ts'
import { executionCases } from './executions.ts'
import { fileCases } from './files.ts'
import { gatewayCases } from './gateway.ts'
import { identityCases } from './identity.ts'
import { inboxCases } from './inbox.ts'
import { jobCases } from './jobs.ts'
import { knowledgeCases } from './knowledge.ts'
import type { Cases } from './matrix.ts'
import { notificationCases, presenceCases } from './notifications.ts'
import { oauthCases } from './oauth.ts'
import { paymentCases } from './payments.ts'
import { serviceAccountCases } from './service-accounts.ts'
import { serviceCases } from './services.ts'
import { startCases } from './starts.ts'
import { subscriptionCases } from './subscriptions.ts'
import { teamCases } from './teams.ts'
import { threadCases } from './threads.ts'
import { variableCases } from './variables.ts'
import { workflowCases } from './workflows.ts'
import { workspaceCases } from './workspaces.ts'

/** The cases of all areas. The case of a new operation belongs in the file of its area. */
export const cases: Cases = {
  ...companyCases,
  ...identityCases,
  ...workspaceCases,
  ...teamCases,
  ...subscriptionCases,
  ...notificationCases,
  ...presenceCases,
  ...paymentCases,
  ...workflowCases,
  ...startCases,
  ...executionCases,
  ...approvalCases,
  ...datasetCases,
  ...connectionCases,
  ...jobCases,
  ...conversationCases,
  ...threadCases,
  ...inboxCases,
  ...gatewayCases,
  ...credentialCases,
  ...destinationCases,
  ...variableCases,
  ...serviceAccountCases,
  ...fileCases,
  ...serviceCases,
  ...knowledgeCases,
  ...oauthCases,
}
