import { toWire } from '#platform/ids'
import type { Initiator, Start } from './ports.ts'

// The chain of people and things that led to an execution, nearest first. Gates that exclude initiators read it.

/** Beyond this, each person is kept once. A chain grows with sub-workflows and with retries of retries. */
const MAX_LINKS = 32

export const personInitiator = (userId: string): Initiator => ({
  kind: 'person',
  id: toWire('usr', userId),
  user_id: userId,
})

export const serviceAccountInitiator = (userId: string): Initiator => ({
  ...personInitiator(userId),
  kind: 'service_account',
})

/** What a start says of its initiators, or the person who started it. */
export const initiatorsOf = ({ initiatedBy, startedBy }: Pick<Start, 'initiatedBy' | 'startedBy'>): Initiator[] =>
  initiatedBy ?? (startedBy === null ? [] : [personInitiator(startedBy)])

/** Of a stored row; one that an older release wrote names only who started it. */
export const initiatorsOfRow = (row: { initiated_by: Initiator[] | null; started_by: string | null }): Initiator[] =>
  row.initiated_by ?? initiatorsOf({ startedBy: row.started_by })

const linkKey = ({ kind, id, user_id }: Initiator): string => `${kind} ${id} ${user_id}`

/** One chain after another; the same link stands in it once. */
export function joinInitiators(...chains: Initiator[][]): Initiator[] {
  const links = [...new Map(chains.flat().map((link) => [linkKey(link), link])).values()]
  if (links.length <= MAX_LINKS) return links
  const people = new Set<string>()
  return links.filter(({ user_id }) => user_id !== null && !people.has(user_id) && people.add(user_id))
}

/**
 * The chain of what an execution starts. Its principal is part of it where the other acts for somebody else: the person who wrote the
 * first decides what the second is given. Where both act for the same person, they are one piece of work in two parts.
 */
export const initiatorsOfFollower = (
  by: { kind: 'execution' | 'error_workflow'; executionId: string; principalId: string | null; chain: Initiator[] },
  principalId: string | null,
): Initiator[] =>
  joinInitiators(
    [
      {
        kind: by.kind,
        id: toWire('exe', by.executionId),
        user_id: by.principalId === principalId ? null : by.principalId,
      },
    ],
    by.chain,
  )
