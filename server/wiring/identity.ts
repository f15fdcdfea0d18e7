import { makeAccepting } from '#areas/identity/accept'
import { makeApiKeys } from '#areas/identity/api-keys'
import { type CheckMembers, makeInvitations, type OnAccepted } from '#areas/identity/invitations'
import { sendThrough } from '#areas/identity/mail'
import { makeOidc } from '#areas/identity/oidc'
import { makeOidcClient } from '#areas/identity/oidc-client'
import { makePeople } from '#areas/identity/people'
import { identityRoutes } from '#areas/identity/routes'
import { makeSessions } from '#areas/identity/sessions'
import { makeRequireVerified } from '#areas/identity/verification'
import { serviceAccountRoutes } from '#areas/service-accounts/routes'
import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import { makeMembers } from '#areas/workspaces/members'
import { workspaceRoutes } from '#areas/workspaces/routes'
import { accessLevelInWorkspace, makeWorkspaces } from '#areas/workspaces/service'
import type { Config } from '#platform/config'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import type { Mail } from '#providers/mail/index'

/**
 * Wires people and workspaces. Other areas invite with `invitations.invite`. They add functions to `onAccepted` and
 * `onRemoved` to update their data when a person accepts an invitation or leaves.
 */
export function wireIdentity(options: {
  config: Config
  vault: Vault
  log: Logger
  mail: Mail
  checkMembers: CheckMembers
}) {
  const { config, vault, log, mail, checkMembers } = options
  const onAccepted: OnAccepted = {}
  const onRemoved: OnMemberRemoved[] = []
  const sendMail = sendThrough(mail, log)
  const requireVerified = makeRequireVerified(config)
  const invitations = makeInvitations({ sendMail, onAccepted, checkMembers, requireVerified })
  const people = makePeople({ config, sendMail })
  const client = makeOidcClient({ providers: config.HEDDLE_OIDC, key: vault.derive('oidc'), log })
  const members = makeMembers({ invitations, onRemoved, checkMembers })
  return {
    invitations,
    onAccepted,
    onRemoved,
    accessLevels: { workspace: accessLevelInWorkspace },
    routes: [
      ...identityRoutes({
        factors: { vault, people },
        accountMail: { config, people, sendMail },
        people,
        sessions: makeSessions(),
        apiKeys: makeApiKeys(),
        accepting: makeAccepting({ invitations, people }),
        oidc: makeOidc({ config, client, people }),
      }),
      ...workspaceRoutes({ workspaces: makeWorkspaces(), members }),
      ...serviceAccountRoutes(members),
    ],
  }
}
