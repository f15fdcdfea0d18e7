import { toWire } from '#platform/ids'
import type { Initiator, Start } from './ports.ts'

// The chain of people and things that led to an execution, nearest first. Gates that exclude initiators read the
// chain.

/**
 * The maximum length of a chain. A longer chain keeps each person once. Sub-workflows and retries of retries extend a
 * chain.
 */
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

/** Returns the initiators that a start names, otherwise the person who started the execution. */
export const initiatorsOf = ({ initiatedBy, startedBy }: Pick<Start, 'initiatedBy' | 'startedBy'>): Initiator[] =>
  initiatedBy ?? (startedBy === null ? [] : [personInitiator(startedBy)])

/**
 * Returns the initiators of a stored row. A row of an older release names only the person who started the execution.
 */
export const initiatorsOfRow = (row: { initiated_by: Initiator[] | null; started_by: string | null }): Initiator[] =>
  row.initiated_by ?? initiatorsOf({ startedBy: row.started_by })

const linkKey = ({ kind, id, user_id }: Initiator): string => `${kind} ${id} ${user_id}`

/** Joins chains in order, without repeating a link. */
export function joinInitiators(...chains: Initiator[][]): Initiator[] {
  const links = [...new Map(chains.flat().map((link) => [linkKey(link), link])).values()]
  if (links.length <= MAX_LINKS) return links
  const people = new Set<string>()
  return links.filter(({ user_id }) => user_id !== null && !people.has(user_id) && people.add(user_id))
}

/**
 * Returns the chain of an execution that another execution starts. The principal of the first execution is part of
 * the chain if the second one acts for another person, because the author of the first one decides the input of the
 * second. If both act for the same person, they count as one piece of work in two parts.
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
