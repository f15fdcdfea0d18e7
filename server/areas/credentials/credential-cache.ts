import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { CredentialRequest } from './credential-request.ts'
import { isOAuth } from './kinds.ts'
import type { Role, Usable } from './store.ts'

// A short cache of credentials, sealed as they are stored: a credential that is used a thousand times a second is read
// once. A change of the credential is sent to every process. A lost role or a lost hint takes effect within a second.

const CACHED_FOR = SECOND
const MAX_KEPT = 1_000
export const CHANGED = 'credentials'

type Found = Usable & { role: Role | null }

export function makeCredentialCache(db: Pick<Database, 'listen'>, now: () => number = () => performance.now()) {
  const kept = new Map<string, { row: Found; until: number }>()
  let changes = 0
  // If listening fails, a change still takes effect within a second.
  const listening = db
    .listen(CHANGED, () => {
      changes += 1
      kept.clear()
    })
    .catch(() => async () => {})

  /** Uses the person who is stored with the execution as the key. Otherwise each execution would have its own key. */
  const keyOf = ({ workspaceId, credentialId, principal }: CredentialRequest): string | undefined => {
    const who =
      principal === 'workspace' ? principal : 'userId' in principal ? principal.userId : (principal.principalId ?? null)
    return who === null ? undefined : `${workspaceId} ${credentialId} ${who}`
  }

  return {
    find(wanted: CredentialRequest): Found | undefined {
      const key = keyOf(wanted)
      const found = key === undefined ? undefined : kept.get(key)
      return found && found.until > now() ? found.row : undefined
    },
    /** Call this before reading. A change during the read prevents the row from being cached. */
    begin: (): number => changes,
    keep(wanted: CredentialRequest, row: Found, since: number): void {
      const key = keyOf(wanted)
      // Tokens are renewed without a hint, and a person without a role may get one at any time.
      if (key === undefined || since !== changes || isOAuth(row.kind) || row.role === null) return
      if (kept.size >= MAX_KEPT) kept.clear()
      kept.set(key, { row, until: now() + CACHED_FOR })
    },
    async stop(): Promise<void> {
      await (await listening)()
    },
  }
}

export type CredentialCache = ReturnType<typeof makeCredentialCache>
