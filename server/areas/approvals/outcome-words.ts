import type { Gate } from './store.ts'
import type { VoteRow } from './voting-store.ts'

type Vote = Pick<VoteRow, 'voter_kind' | 'voter_name' | 'decision'>

/** Returns how a gate ended and who decided it, as shown to all other people who were asked. */
export function outcomeInWords({ status, outcome }: Pick<Gate, 'status' | 'outcome'>, votes: readonly Vote[]): string {
  if (status === 'expired') return `The time to vote has passed: it counts as ${outcome ?? 'rejected'}`
  if (status !== 'approved' && status !== 'rejected') return 'Withdrawn: the execution no longer waits for it'
  const decision = status === 'approved' ? 'approve' : 'reject'
  const deciding = votes.filter((vote) => vote.decision === decision)
  const people = deciding.filter(({ voter_kind }) => voter_kind === 'human')
  const names = (people.length > 0 ? people : deciding).map(({ voter_name }) => voter_name)
  if (names.length === 0) return status === 'approved' ? 'Approved' : 'Rejected'
  return status === 'approved' ? `Approved by ${listOf(names)}` : `Rejected by ${listOf(names)}`
}

/** Returns why a gate was withdrawn after its call was edited. */
export const editInWords = (editor: string): string =>
  `${editor} edited the arguments: another approval asks about them`

const MAX_NAMES = 4

/** Names everyone, or all but at least two. */
function listOf(names: string[]): string {
  if (names.length > MAX_NAMES) {
    const shown = names.slice(0, MAX_NAMES - 1)
    return `${shown.join(', ')} and ${names.length - shown.length} others`
  }
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
