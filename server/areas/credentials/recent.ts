import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { isOAuth } from './kinds.ts'
import type { Role, Usable } from './store.ts'
import type { Wanted } from './wanted.ts'

// What was found a moment ago, sealed as it is stored: a credential that is used a thousand times a second is read once. A
// change of the credential is told to every process; a person who lost their role, or a lost hint, counts within a second.

const FOR = SECOND
const MAX_KEPT = 1_000
export const CHANGED = 'credentials'

type Found = Usable & { role: Role | null }

export function makeRecent(db: Pick<Database, 'listen'>, now: () => number = () => performance.now()) {
  const kept = new Map<string, { row: Found; until: number }>()
  let changes = 0
  // Where it cannot listen, a change counts within a second all the same.
  const listening = db
    .listen(CHANGED, () => {
      changes += 1
      kept.clear()
    })
    .catch(() => async () => {})

  /** By the person who is stored with the execution: each execution would be a key of its own. */
  const keyOf = ({ workspaceId, credentialId, principal }: Wanted): string | undefined => {
    const who =
      principal === 'workspace' ? principal : 'userId' in principal ? principal.userId : (principal.principalId ?? null)
    return who === null ? undefined : `${workspaceId} ${credentialId} ${who}`
  }

  return {
    find(wanted: Wanted): Found | undefined {
      const key = keyOf(wanted)
      const found = key === undefined ? undefined : kept.get(key)
      return found && found.until > now() ? found.row : undefined
    },
    /** What is read from now on; a change meanwhile makes it too old to be kept. */
    begin: (): number => changes,
    keep(wanted: Wanted, row: Found, since: number): void {
      const key = keyOf(wanted)
      // Tokens change by themselves, and anyone who has no role may get one.
      if (key === undefined || since !== changes || isOAuth(row.kind) || row.role === null) return
      if (kept.size >= MAX_KEPT) kept.clear()
      kept.set(key, { row, until: now() + FOR })
    },
    async stop(): Promise<void> {
      await (await listening)()
    },
  }
}

export type Recent = ReturnType<typeof makeRecent>
