import type { AnyRoute } from '#platform/http/route'
import type { Accepting } from './accept.ts'
import type { ApiKeys } from './api-keys.ts'
import { factorRoutes } from './factor-routes.ts'
import { invitationRoutes } from './invitation-routes.ts'
import { keyRoutes } from './key-routes.ts'
import type { Oidc } from './oidc.ts'
import { oidcRoutes } from './oidc-routes.ts'
import type { People } from './people.ts'
import type { FactorDeps } from './second-factor.ts'
import { sessionRoutes } from './session-routes.ts'
import type { Sessions } from './sessions.ts'
import type { AccountMail } from './sign-up.ts'
import { signUpRoutes } from './sign-up-routes.ts'

type Services = {
  accountMail: AccountMail
  factors: FactorDeps
  people: People
  sessions: Sessions
  apiKeys: ApiKeys
  accepting: Accepting
  oidc: Oidc
}

export const identityRoutes = (services: Services): AnyRoute[] => [
  ...signUpRoutes(services),
  ...factorRoutes(services.factors),
  ...sessionRoutes(services),
  ...keyRoutes(services.apiKeys),
  ...invitationRoutes(services.accepting),
  ...oidcRoutes(services.oidc),
]
