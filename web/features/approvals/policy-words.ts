import { isObject } from '#model/json'

/** When a gate opens, as a sentence. */
export function quorumInWords(policy: Record<string, unknown>): string {
  const quorum = policy.quorum ?? 'any'
  if (quorum === 'any') return 'One approval opens it.'
  if (quorum === 'all') return 'Everybody asked must approve.'
  if (isObject(quorum) && typeof quorum.n_of === 'number') return `${quorum.n_of} approvals open it.`
  if (isObject(quorum) && typeof quorum.$cel === 'string') return `It opens when ${quorum.$cel}.`
  return ''
}
