import { type Budget, conditionBudget, valuesBudget } from './cel-runtime.ts'
import type { Json, JsonObject } from './definition.ts'
import { ExpressionFailure } from './expression-failure.ts'
import { evaluateConditionOver } from './expressions.ts'
import { readQuorum } from './quorum.ts'

// The decision of a gate: a pure function of its policy, the votes and the outstanding voters. The order in which votes
// arrive never matters.

export type Approver = {
  kind: 'user' | 'team' | 'role' | 'agent'
  id: string
  name?: string
  instructions?: string
  model?: string
  /** For an agent: the credential of its language model. */
  credential_id?: string
}
export type Quorum = 'any' | 'all' | { n_of: number } | { $cel: string }
export type OnDue = 'reject' | 'approve' | 'escalate'

export type Policy = {
  approvers: Approver[]
  quorum: Quorum
  /** Workspace roles whose single rejection rejects the gate. */
  veto: string[]
  allow_self: boolean
  due_in_s: number | null
  on_due: OnDue
  escalate_to: Approver[]
}

export type Decision = 'approve' | 'reject' | 'abstain'
export type Ballot = {
  kind: 'human' | 'agent'
  id: string
  decision: Decision
  role?: string | null
  confidence?: number | null
}
export type Voter = { kind: 'human' | 'agent'; id: string }

type Count = { human: number; agent: number; total: number }
type Tally = { approvals: Count; rejections: Count; abstentions: Count; outstanding: Count }

const count = (voters: readonly { kind: 'human' | 'agent' }[]): Count => {
  const human = voters.filter(({ kind }) => kind === 'human').length
  return { human, agent: voters.length - human, total: voters.length }
}

const tallyOf = (votes: readonly Ballot[], outstanding: readonly Voter[]): Tally => ({
  approvals: count(votes.filter(({ decision }) => decision === 'approve')),
  rejections: count(votes.filter(({ decision }) => decision === 'reject')),
  abstentions: count(votes.filter(({ decision }) => decision === 'abstain')),
  outstanding: count(outstanding),
})

/** The maximum number of possible outcomes to evaluate (10 ms). Above it, the gate waits for the last voter. */
const MAX_COMPLETIONS = 1000

/**
 * Returns `approved`, `rejected`, or `open` if the votes do not decide yet. At least one human must approve: agents
 * alone never open a gate, unless its author counts the approvals of agents in CEL (`approvals.agent`); then at least
 * one voter must approve. A quorum that can no longer be reached is rejected at once.
 */
export function decide(
  policy: Pick<Policy, 'quorum' | 'veto'>,
  votes: readonly Ballot[],
  outstanding: readonly Voter[],
): 'approved' | 'rejected' | 'open' {
  if (votes.some((vote) => vote.decision === 'reject' && vote.role != null && policy.veto.includes(vote.role)))
    return 'rejected'
  const tally = tallyOf(votes, outstanding)
  const { quorum } = policy
  if (typeof quorum === 'object' && '$cel' in quorum) return decideByExpression(quorum.$cel, votes, tally)
  if (isReached(quorum, tally)) return 'approved'
  return canBeReached(quorum, tally) ? 'open' : 'rejected'
}

function isReached(quorum: Exclude<Quorum, { $cel: string }>, { approvals, rejections, outstanding }: Tally): boolean {
  if (approvals.human < 1) return false
  if (quorum === 'any') return true
  if (quorum === 'all') return rejections.total === 0 && outstanding.total === 0
  return approvals.total >= quorum.n_of
}

function canBeReached(
  quorum: Exclude<Quorum, { $cel: string }>,
  { approvals, rejections, outstanding }: Tally,
): boolean {
  if (approvals.human + outstanding.human < 1) return false
  if (quorum === 'any') return true
  if (quorum === 'all') return rejections.total === 0
  return approvals.total + outstanding.total >= quorum.n_of
}

function decideByExpression(cel: string, votes: readonly Ballot[], tally: Tally): 'approved' | 'rejected' | 'open' {
  const listed: Json = votes.map(({ kind, id, decision, role, confidence }) => ({
    kind,
    id,
    decision,
    role: role ?? null,
    confidence: confidence ?? null,
  }))
  // `approvals.total >= 2` and `rejections.total == 0` do not name agents, so votes of agents alone, including
  // abstentions, do not open the gate.
  const { countsAgents, readsVotes } = readQuorum(cel)
  const holds = (counts: Tally, budget: Budget): boolean =>
    (countsAgents ? counts.approvals.total : counts.approvals.human) > 0 &&
    evaluateConditionOver(cel, { ...(counts as unknown as JsonObject), votes: listed }, budget)
  if (
    failsAs(
      () => false,
      () => holds(tally, conditionBudget()),
    )
  )
    return 'approved'
  if (tally.outstanding.total === 0) return 'rejected'
  // The result of an expression over single votes cannot be predicted: how each voter will vote is not known.
  if (readsVotes) return 'open'
  const completions = completionsOf(tally)
  if (completions === undefined) return 'open'
  // All completions share one budget, so that a costly expression blocks the process once, not once per completion.
  const budget = valuesBudget()
  return completions.some((counts) =>
    failsAs(
      () => budget.steps < 0,
      () => holds(counts, budget),
    ),
  )
    ? 'open'
    : 'rejected'
}

/** Returns the error of a quorum that cannot be evaluated over any sample of votes; null if it can be evaluated. */
export function quorumProblem(cel: string): string | null {
  const some: Count = { human: 2, agent: 1, total: 3 }
  const votes: Json = ['approve', 'reject', 'abstain', 'approve', 'approve'].map((decision, n) => ({
    kind: n === 4 ? 'agent' : 'human',
    id: `v${n}`,
    decision,
    role: 'member',
    confidence: 0.5,
  }))
  let wrong: string | null = null
  for (const [counts, cast] of [
    [some, votes],
    [count([]), []],
  ] as const) {
    try {
      const tally: Tally = { approvals: counts, rejections: counts, abstentions: counts, outstanding: counts }
      evaluateConditionOver(cel, { ...(tally as unknown as JsonObject), votes: cast as Json })
      return null
    } catch (error) {
      if (!(error instanceof ExpressionFailure)) throw error
      wrong ??= error.message
    }
  }
  return wrong
}

/**
 * Returns the result of `otherwise` if an expression cannot be evaluated: the failure must not prevent the recording of
 * a vote.
 */
function failsAs(otherwise: () => boolean, work: () => boolean): boolean {
  try {
    return work()
  } catch (error) {
    if (error instanceof ExpressionFailure) return otherwise()
    throw error
  }
}

/** Returns every possible outcome of the outstanding votes; undefined if there are more than `MAX_COMPLETIONS`. */
function completionsOf(tally: Tally): Tally[] | undefined {
  const splits = (total: number): [approve: number, reject: number, abstain: number, open: number][] => {
    const found: [number, number, number, number][] = []
    // Approvals first: they satisfy most policies, so the first evaluation is often enough.
    for (let approve = total; approve >= 0; approve--)
      for (let reject = 0; approve + reject <= total; reject++)
        for (let abstain = 0; approve + reject + abstain <= total; abstain++)
          found.push([approve, reject, abstain, total - approve - reject - abstain])
    return found
  }
  const size = (total: number): number => ((total + 1) * (total + 2) * (total + 3)) / 6
  if (size(tally.outstanding.human) * size(tally.outstanding.agent) > MAX_COMPLETIONS) return undefined
  const add = (to: Count, human: number, agent: number): Count => ({
    human: to.human + human,
    agent: to.agent + agent,
    total: to.total + human + agent,
  })
  return splits(tally.outstanding.human).flatMap((human) =>
    splits(tally.outstanding.agent).map((agent) => ({
      approvals: add(tally.approvals, human[0], agent[0]),
      rejections: add(tally.rejections, human[1], agent[1]),
      abstentions: add(tally.abstentions, human[2], agent[2]),
      outstanding: { human: human[3], agent: agent[3], total: human[3] + agent[3] },
    })),
  )
}

/** Checks whether the voters who have not voted yet could open the gate. */
export const isSatisfiable = (
  policy: Pick<Policy, 'quorum' | 'veto'>,
  votes: readonly Ballot[],
  outstanding: readonly Voter[],
): boolean => outstanding.length > 0 && decide(policy, votes, outstanding) !== 'rejected'
