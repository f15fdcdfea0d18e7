import { isObject } from '#model/json'
import { t } from '#web/words/language.ts'

const PART = /^(approvals|rejections|abstentions)\.(human|agent|total)\s*(>=|==)\s*(\d+)$/

type Counted = [none: string, one: string, many: string]

/** By the kind of vote and by the kind of voter. */
const counted: Record<string, Record<string, Counted>> = {
  approvals: {
    human: [t('no person approves'), t('1 person approves'), t('{0} people approve')],
    agent: [t('no agent approves'), t('1 agent approves'), t('{0} agents approve')],
    total: [t('nobody approves'), t('1 approves'), t('{0} approve')],
  },
  rejections: {
    human: [t('no person rejects'), t('1 person rejects'), t('{0} people reject')],
    agent: [t('no agent rejects'), t('1 agent rejects'), t('{0} agents reject')],
    total: [t('nobody rejects'), t('1 rejects'), t('{0} reject')],
  },
  abstentions: {
    human: [t('no person abstains'), t('1 person abstains'), t('{0} people abstain')],
    agent: [t('no agent abstains'), t('1 agent abstains'), t('{0} agents abstain')],
    total: [t('nobody abstains'), t('1 abstains'), t('{0} abstain')],
  },
}

function partInWords(part: string): string | null {
  const [, votes, who, sign, figure] = PART.exec(part.trim()) ?? []
  if (!votes || !who || !figure) return null
  const count = Number(figure)
  const [none, one, many] = counted[votes]![who]!
  if (sign === '==') return count === 0 ? none : null
  return count === 1 ? one : t(many, [count])
}

/** Returns a text such as "2 people approve and 1 agent approves"; null if counts cannot express the rule. */
function ruleInWords(cel: string): string | null {
  const parts = cel.split('&&').map(partInWords)
  return parts.every((part) => part !== null) ? parts.join(t(' and ')) : null
}

/** Describes the condition of a gate as a sentence. */
export function quorumInWords(policy: Record<string, unknown>): string {
  const quorum = policy.quorum ?? 'any'
  if (quorum === 'any') return 'One approval is enough.'
  if (quorum === 'all') return 'Every approver must approve.'
  if (isObject(quorum) && typeof quorum.n_of === 'number') return `Requires ${quorum.n_of} approvals.`
  if (isObject(quorum) && typeof quorum.$cel === 'string')
    return `Approved when ${ruleInWords(quorum.$cel) ?? quorum.$cel}.`
  return ''
}
