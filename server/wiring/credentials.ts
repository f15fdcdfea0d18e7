import { makeOpenCredential } from '#areas/credentials/node'
import { mayUseNamed, standingInCredential, standingInOwnedCredential } from '#areas/credentials/rights'
import { credentialRoutes } from '#areas/credentials/routes'
import type { CredentialJobHooks } from '#areas/credentials/service'
import type { ResolveParts } from '#areas/credentials/use'
import { makeUseNotes } from '#areas/credentials/used'
import type { ReferenceCheck } from '#areas/workflows/definition-check'
import { findPrincipal } from '#areas/workflows/rights'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Vault } from '#platform/secrets'

export type CredentialOptions = {
  db: Database
  vault: Vault
  log: Logger
  outgoing: Outgoing
  jobs: CredentialJobHooks
}

/** The vault: stored secrets, and the one way to use them. */
export function wireCredentials({ db, vault, log, outgoing, jobs }: CredentialOptions) {
  const notes = makeUseNotes({ db, log })
  const parts: ResolveParts = { db, vault, notes, outgoing, jobs, findPrincipal, underWay: new Map() }
  return {
    openCredential: makeOpenCredential(parts),
    routes: credentialRoutes(parts),
    standings: { credential: standingInCredential, owned_credential: standingInOwnedCredential },
    references: new Map<string, ReferenceCheck>([['cred', mayUseNamed]]),
    stop: notes.stop,
  }
}
