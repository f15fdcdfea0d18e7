import { isObject } from '#model/json'

const PART = /^(approvals|rejections|abstentions)\.(human|agent|total)\s*(>=|==)\s*(\d+)$/

const people: Record<string, [one: string, many: string]> = {
  human: ['person', 'people'],
  agent: ['agent', 'agents'],
  total: ['vote', 'votes'],
}
const doing: Record<string, [one: string, many: string]> = {
  approvals: ['approves', 'approve'],
  rejections: ['rejects', 'reject'],
  abstentions: ['abstains', 'abstain'],
}

function partInWords(part: string): string | null {
  const [, votes, who, sign, figure] = PART.exec(part.trim()) ?? []
  if (!votes || !who || !figure) return null
  const count = Number(figure)
  const verb = doing[votes]!
  const noun = people[who]!
  if (sign === '==') return count === 0 ? `nobody ${who === 'agent' ? 'of the agents ' : ''}${verb[0]}` : null
  if (who === 'total') return `${count} ${count === 1 ? verb[0] : verb[1]}`
  return `${count} ${count === 1 ? `${noun[0]} ${verb[0]}` : `${noun[1]} ${verb[1]}`}`
}

/** "2 people approve and 1 agent approves"; null where the rule says more than counts. */
function ruleInWords(cel: string): string | null {
  const parts = cel.split('&&').map(partInWords)
  return parts.every((part) => part !== null) ? parts.join(' and ') : null
}

/** When a gate lets pass, as a sentence. */
export function quorumInWords(policy: Record<string, unknown>): string {
  const quorum = policy.quorum ?? 'any'
  if (quorum === 'any') return 'One approval is enough.'
  if (quorum === 'all') return 'Every approver must approve.'
  if (isObject(quorum) && typeof quorum.n_of === 'number') return `Requires ${quorum.n_of} approvals.`
  if (isObject(quorum) && typeof quorum.$cel === 'string')
    return `Approved when ${ruleInWords(quorum.$cel) ?? quorum.$cel}.`
  return ''
}
