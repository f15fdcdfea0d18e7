import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Ballot, decide, isSatisfiable, type Policy, type Voter } from './approval.ts'

const voters: Voter[] = [
  { kind: 'human', id: 'ann' },
  { kind: 'human', id: 'bob' },
  { kind: 'human', id: 'cid' },
  { kind: 'agent', id: 'r2' },
  { kind: 'agent', id: 'd2' },
]
const policies: Pick<Policy, 'quorum' | 'veto'>[] = [
  { quorum: 'any', veto: [] },
  { quorum: 'all', veto: [] },
  { quorum: { n_of: 2 }, veto: [] },
  { quorum: { n_of: 4 }, veto: ['owner'] },
  { quorum: { $cel: 'approvals.human >= 2 && approvals.agent >= 1 && rejections.total == 0' }, veto: [] },
  { quorum: { $cel: 'approvals.total > rejections.total && outstanding.total == 0' }, veto: ['owner'] },
]
const ballot = (voter: Voter): fc.Arbitrary<Ballot> =>
  fc
    .record({
      decision: fc.constantFrom('approve', 'reject', 'abstain'),
      role: fc.constantFrom('owner', 'member', null),
    })
    .map((rest) => ({ ...voter, ...rest })) as fc.Arbitrary<Ballot>

/** Votes as they arrive: the gate closes at the first decision and takes no more. */
function outcome(policy: Pick<Policy, 'quorum' | 'veto'>, votes: Ballot[]): string {
  for (let cast = 0; cast <= votes.length; cast++) {
    const seen = votes.slice(0, cast)
    const left = voters.filter(({ id }) => !seen.some((vote) => vote.id === id))
    const decision = decide(policy, seen, left)
    if (decision !== 'open') return decision
  }
  return 'open'
}

describe('the decision of a gate', () => {
  test('the order of the votes never changes whether the same votes, all cast, approve', () => {
    const arbitrary = fc.tuple(
      fc.constantFrom(...policies),
      fc.tuple(...voters.map(ballot)),
      fc.shuffledSubarray(
        voters.map((_, n) => n),
        { minLength: voters.length },
      ),
    )
    fc.assert(
      fc.property(arbitrary, ([policy, votes, order]) => {
        const shuffled = order.map((n) => votes[n]!)
        expect(decide(policy, shuffled, [])).toBe(decide(policy, votes, []))
      }),
      { numRuns: 10_000 },
    )
  })

  test('a rejection before the last vote is one that no further vote could have turned', () => {
    const arbitrary = fc.tuple(fc.constantFrom(...policies), fc.tuple(...voters.map(ballot)))
    fc.assert(
      fc.property(arbitrary, ([policy, votes]) => {
        const first = outcome(policy, votes)
        if (first !== 'rejected') return
        for (let cast = 0; cast <= votes.length; cast++) {
          const left = voters.slice(cast)
          if (decide(policy, votes.slice(0, cast), left) !== 'rejected') continue
          const best = [...votes.slice(0, cast), ...left.map((voter): Ballot => ({ ...voter, decision: 'approve' }))]
          expect(decide(policy, best, [])).toBe('rejected')
          return
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('agents alone never open a preset', () => {
    const agents = voters
      .filter(({ kind }) => kind === 'agent')
      .map((voter): Ballot => ({ ...voter, decision: 'approve' }))
    for (const quorum of ['any', 'all', { n_of: 2 }] as const) {
      expect(decide({ quorum, veto: [] }, agents, [])).toBe('rejected')
      expect(decide({ quorum, veto: [] }, agents, [{ kind: 'human', id: 'ann' }])).toBe('open')
    }
  })

  test('agents alone open a gate only where its author counts agents by name, and an abstention opens none', () => {
    const agents = voters.filter(({ kind }) => kind === 'agent')
    const ann: Voter = { kind: 'human', id: 'ann' }
    const say = (decision: Ballot['decision']) => agents.map((voter): Ballot => ({ ...voter, decision }))
    const by = (cel: string, votes: Ballot[], left: Voter[] = [ann]) =>
      decide({ quorum: { $cel: cel }, veto: [] }, votes, left)
    expect(by('approvals.total >= 2', say('approve'))).toBe('open')
    expect(by('approvals.total >= 2', say('approve'), [])).toBe('rejected')
    expect(by('rejections.total == 0', say('abstain'))).toBe('open')
    expect(by('approvals.total >= 2', [...say('approve'), { ...ann, decision: 'approve' }], [])).toBe('approved')
    expect(by('approvals.agent >= 2', say('approve'))).toBe('approved')
    expect(by('votes.exists(v, v.kind == "agent" && v.decision == "approve")', say('approve'))).toBe('approved')
    expect(by('rejections.agent == 0', say('abstain'))).toBe('open')
  })

  test('an expression that cannot be evaluated over the votes so far does not hold, and fails nobody', () => {
    const ann: Ballot = { kind: 'human', id: 'ann', decision: 'approve' }
    const both = { quorum: { $cel: 'votes[1].decision == "approve"' }, veto: [] }
    expect(decide(both, [ann], [{ kind: 'human', id: 'bob' }])).toBe('open')
    expect(decide(both, [ann], [])).toBe('rejected')
    expect(decide(both, [ann, { ...ann, id: 'bob' }], [])).toBe('approved')
    expect(decide({ quorum: { $cel: 'approvals.human' }, veto: [] }, [ann], [])).toBe('rejected')
  })

  test('a costly expression is tried within one budget, however many ways the votes can still fall', () => {
    const list = JSON.stringify(Array.from({ length: 60 }, (_, n) => n))
    const costly = `${list}.all(x, ${list}.all(y, x + y < 1000)) && approvals.human >= 100`
    const left = Array.from({ length: 9 }, (_, n): Voter => ({ kind: 'human', id: `p${n}` }))
    expect(decide({ quorum: { $cel: costly }, veto: [] }, [{ ...left[0]!, decision: 'approve' }], left)).toBe('open')
  })

  test('a gate without anybody left to vote cannot be satisfied', () => {
    expect(isSatisfiable({ quorum: 'any', veto: [] }, [], [])).toBe(false)
    expect(isSatisfiable({ quorum: 'any', veto: [] }, [], [{ kind: 'human', id: 'ann' }])).toBe(true)
    expect(isSatisfiable({ quorum: 'any', veto: [] }, [], [{ kind: 'agent', id: 'r2' }])).toBe(false)
  })
})
