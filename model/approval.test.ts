import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Ballot, decide, isSatisfiable, type Policy, type Quorum, quorumProblem, type Voter } from './approval.ts'

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

/** Casts votes one by one: the gate closes at the first decision and accepts no more votes. */
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
  test('the same complete set of votes approves or does not approve in any order', () => {
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

  test('a gate is rejected before the last vote only if no further vote could change the result', () => {
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

  test('approvals of agents alone never open a gate with a preset quorum', () => {
    const agents = voters
      .filter(({ kind }) => kind === 'agent')
      .map((voter): Ballot => ({ ...voter, decision: 'approve' }))
    for (const quorum of ['any', 'all', { n_of: 2 }] as const) {
      expect(decide({ quorum, veto: [] }, agents, [])).toBe('rejected')
      expect(decide({ quorum, veto: [] }, agents, [{ kind: 'human', id: 'ann' }])).toBe('open')
    }
  })

  test('agents alone open a gate only if its author counts agents by name, and an abstention opens no gate', () => {
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

  test('an expression that cannot be evaluated over the votes so far counts as false and throws no error', () => {
    const ann: Ballot = { kind: 'human', id: 'ann', decision: 'approve' }
    const both = { quorum: { $cel: 'votes[1].decision == "approve"' }, veto: [] }
    expect(decide(both, [ann], [{ kind: 'human', id: 'bob' }])).toBe('open')
    expect(decide(both, [ann], [])).toBe('rejected')
    expect(decide(both, [ann, { ...ann, id: 'bob' }], [])).toBe('approved')
    expect(decide({ quorum: { $cel: 'approvals.human' }, veto: [] }, [ann], [])).toBe('rejected')
  })

  test('a costly expression is evaluated within one budget for all possible outcomes of the outstanding votes', () => {
    const list = JSON.stringify(Array.from({ length: 60 }, (_, n) => n))
    const costly = `${list}.all(x, ${list}.all(y, x + y < 1000)) && approvals.human >= 100`
    const left = Array.from({ length: 9 }, (_, n): Voter => ({ kind: 'human', id: `p${n}` }))
    expect(decide({ quorum: { $cel: costly }, veto: [] }, [{ ...left[0]!, decision: 'approve' }], left)).toBe('open')
  })

  test('a gate cannot be satisfied if no voter is left', () => {
    expect(isSatisfiable({ quorum: 'any', veto: [] }, [], [])).toBe(false)
    expect(isSatisfiable({ quorum: 'any', veto: [] }, [], [{ kind: 'human', id: 'ann' }])).toBe(true)
    expect(isSatisfiable({ quorum: 'any', veto: [] }, [], [{ kind: 'agent', id: 'r2' }])).toBe(false)
  })
})

// The table of docs/approvals.md. A vote is written as voter, decision, role: `h+` a person approves, `a-` an agent
// rejects, `h0 owner` an owner abstains. `left` lists the voters who have not voted.
const DECISIONS = { '+': 'approve', '-': 'reject', '0': 'abstain' } as const
const KINDS = { h: 'human', a: 'agent' } as const
const votersOf = (text: string): Voter[] =>
  [...text].map((kind, n) => ({ kind: KINDS[kind as 'h' | 'a'], id: `l${n}` }))
const votesOf = (text: string): Ballot[] =>
  text
    .split(',')
    .filter((word) => word !== '')
    .map((word, n) => {
      const [vote, role] = word.trim().split(' ') as [string, string?]
      const [kind, decision] = [vote[0] as 'h' | 'a', vote[1] as '+' | '-' | '0']
      return { kind: KINDS[kind], id: `v${n}`, decision: DECISIONS[decision], ...(role && { role }) }
    })

describe('a gate', () => {
  const rows: [quorum: Quorum, veto: string[], votes: string, left: string, decision: string][] = [
    // any: one approval by a person.
    ['any', [], '', 'hh', 'open'],
    ['any', [], 'h+', 'hh', 'approved'],
    ['any', [], 'h-', 'h', 'open'],
    ['any', [], 'h-, h+', '', 'approved'],
    ['any', [], 'h0', 'h', 'open'],
    ['any', [], 'h-, h-', '', 'rejected'],
    ['any', [], 'h0', '', 'rejected'],
    ['any', [], 'a+', 'h', 'open'],
    ['any', [], 'a+', 'a', 'rejected'],
    // all: every voter has voted and no voter rejected.
    ['all', [], 'h+', 'h', 'open'],
    ['all', [], 'h+, h+', '', 'approved'],
    ['all', [], 'h+, h+', 'a', 'open'],
    ['all', [], 'h+, h0', '', 'approved'],
    ['all', [], 'h+, h-', '', 'rejected'],
    ['all', [], 'h+, h-', 'h', 'rejected'],
    ['all', [], 'h+, a-', 'h', 'rejected'],
    ['all', [], 'h0, h0', '', 'rejected'],
    // n_of: n approvals, at least one of them by a person.
    [{ n_of: 1 }, [], 'h+', '', 'approved'],
    [{ n_of: 2 }, [], 'h+', 'h', 'open'],
    [{ n_of: 2 }, [], 'h+, h+', 'h', 'approved'],
    [{ n_of: 2 }, [], 'h+, h+', '', 'approved'],
    [{ n_of: 2 }, [], 'h+, a+', '', 'approved'],
    [{ n_of: 2 }, [], 'a+, a+', 'h', 'open'],
    [{ n_of: 2 }, [], 'a+, a+', '', 'rejected'],
    [{ n_of: 2 }, [], 'h+, h-', 'h', 'open'],
    [{ n_of: 2 }, [], 'h+, h-', '', 'rejected'],
    [{ n_of: 3 }, [], 'h+, h-', 'h', 'rejected'],
    [{ n_of: 3 }, [], 'h+', 'hh', 'open'],
    // veto: a rejection by this role is enough to reject; its abstentions and approvals count like other votes.
    ['any', ['owner'], 'h- owner', 'hh', 'rejected'],
    ['any', ['owner'], 'h- member', 'hh', 'open'],
    ['any', ['owner'], 'h-', 'hh', 'open'],
    ['any', ['owner'], 'h0 owner', 'hh', 'open'],
    ['any', ['owner'], 'h+ owner', 'hh', 'approved'],
    ['any', ['owner', 'viewer'], 'h- viewer, h+', '', 'rejected'],
    ['any', ['owner'], 'h- viewer, h+ owner', '', 'approved'],
    [{ $cel: 'approvals.human >= 1' }, ['owner'], 'h+, h- owner', 'h', 'rejected'],
    // An expression over counts: the gate stays open while the outstanding votes could make the expression true.
    [{ $cel: 'approvals.human >= 2 && rejections.total == 0' }, [], 'h+', 'h', 'open'],
    [{ $cel: 'approvals.human >= 2 && rejections.total == 0' }, [], 'h+, h+', '', 'approved'],
    [{ $cel: 'approvals.human >= 2 && rejections.total == 0' }, [], 'h+, h-', 'hh', 'rejected'],
    [{ $cel: 'approvals.human >= 2' }, [], 'h+', '', 'rejected'],
    [{ $cel: 'approvals.human >= 3' }, [], 'h+', 'h', 'rejected'],
    [{ $cel: 'approvals.human >= 3' }, [], 'h+', 'hh', 'open'],
    [{ $cel: 'approvals.agent >= 2' }, [], 'a+', 'ah', 'open'],
    [{ $cel: 'approvals.agent >= 2' }, [], 'a+', 'hh', 'rejected'],
    [{ $cel: 'approvals.agent == 1 && approvals.human == 1' }, [], 'a+, h+', '', 'approved'],
    [{ $cel: 'approvals.total == 3' }, [], 'a+, h+', 'h', 'open'],
    [{ $cel: 'approvals.total == 3' }, [], 'a+, h+, h+', '', 'approved'],
    [{ $cel: 'approvals.human >= 1 && rejections.human >= 1' }, [], 'h+', 'h', 'open'],
    [{ $cel: 'approvals.human >= 1 && rejections.human >= 2' }, [], 'h+', 'h', 'rejected'],
    [{ $cel: 'approvals.human >= 1 && rejections.agent >= 1' }, [], 'h+', 'a', 'open'],
    [{ $cel: 'approvals.human >= 1 && rejections.total >= 2' }, [], 'h+', 'ha', 'open'],
    [{ $cel: 'approvals.human >= 1 && rejections.total >= 3' }, [], 'h+', 'ha', 'rejected'],
    [{ $cel: 'approvals.human >= 1 && abstentions.human >= 1' }, [], 'h+', 'h', 'open'],
    [{ $cel: 'approvals.human >= 1 && abstentions.human >= 1' }, [], 'h+, h0', 'h', 'approved'],
    [{ $cel: 'approvals.human >= 1 && abstentions.agent >= 1' }, [], 'h+, a0', '', 'approved'],
    [{ $cel: 'approvals.human >= 1 && abstentions.total >= 2' }, [], 'h+, a0', 'h', 'open'],
    [{ $cel: 'approvals.human >= 1 && abstentions.total >= 3' }, [], 'h+, a0', 'h', 'rejected'],
    [{ $cel: 'approvals.human >= 1 && outstanding.total == 0' }, [], 'h+', 'a', 'open'],
    [{ $cel: 'approvals.human >= 1 && outstanding.total == 0' }, [], 'h+, a0', '', 'approved'],
    [{ $cel: 'approvals.human >= 1 && outstanding.agent == 0' }, [], 'h+', 'h', 'approved'],
    [{ $cel: 'approvals.human >= 1 && outstanding.human == 0' }, [], 'h+', 'a', 'approved'],
    [{ $cel: 'approvals.human >= 2 && outstanding.human == 1' }, [], 'h+', 'hh', 'open'],
    [{ $cel: 'approvals.human >= 2 && outstanding.agent == 1' }, [], 'h+', 'ha', 'open'],
    [{ $cel: 'approvals.human >= 2 && outstanding.total == 2' }, [], 'h+', 'ha', 'rejected'],
    [{ $cel: 'approvals.human >= 2 && outstanding.total == 1' }, [], 'h+', 'ha', 'open'],
    [{ $cel: 'approvals.human >= 1 && abstentions.agent == 1 && outstanding.agent == 0' }, [], 'h+', 'a', 'open'],
    [{ $cel: 'approvals.human >= 1 && abstentions.human == 1 && outstanding.human == 0' }, [], 'h+', 'h', 'open'],
    [{ $cel: 'approvals.human >= 1 && rejections.agent == 1 && outstanding.agent == 0' }, [], 'h+', 'a', 'open'],
    // The result of an expression over single votes cannot be predicted: the gate is open until the last vote.
    [{ $cel: 'votes.size() > 9' }, [], 'h+', 'h', 'open'],
    [{ $cel: 'votes.size() > 9' }, [], 'h+', '', 'rejected'],
    [{ $cel: 'votes[0].role == "owner"' }, [], 'h+ owner', '', 'approved'],
    [{ $cel: 'votes[0].role == null && votes[0].confidence == null' }, [], 'h+', '', 'approved'],
    [
      { $cel: 'votes[0].kind == "human" && votes[0].id == "v0" && votes[0].decision == "approve"' },
      [],
      'h+',
      '',
      'approved',
    ],
  ]
  test.each(rows)(
    'with quorum %j and veto %j, votes "%s" and "%s" left is %5$s',
    (quorum, veto, votes, left, decision) => {
      expect(decide({ quorum, veto }, votesOf(votes), votersOf(left))).toBe(decision)
    },
  )

  test('lets an expression read the confidence of an agent', () => {
    const votes: Ballot[] = [{ kind: 'agent', id: 'a', decision: 'approve', confidence: 0.9 }]
    const by = (cel: string) => decide({ quorum: { $cel: cel }, veto: [] }, votes, [])
    expect(by('votes.exists(v, v.kind == "agent" && v.confidence > 0.8)')).toBe('approved')
    expect(by('votes.exists(v, v.kind == "agent" && v.confidence > 0.95)')).toBe('rejected')
  })

  test.each([
    ['rejected', 8, 'rejected'],
    // The votes of 17 people have 1,140 possible outcomes, more than the limit.
    ['open, if there are too many voters to check all outcomes', 17, 'open'],
  ])('that no vote can open is %s', (_what, people, decision) => {
    const quorum = { $cel: 'approvals.human >= 100' }
    expect(decide({ quorum, veto: [] }, votesOf('h+'), votersOf('h'.repeat(people)))).toBe(decision)
  })

  test.each([
    ['hhhhhhhhhhhhhhhh', 'rejected'],
    // 16 people have 969 possible outcomes; one more agent makes that four times as many.
    ['hhhhhhhhhhhhhhhha', 'open'],
    ['aaaaaaaaaaaaaaaah', 'open'],
  ])('multiplies the outcomes of people and agents: %s is %s', (left, decision) => {
    expect(decide({ quorum: { $cel: 'approvals.total >= 100' }, veto: [] }, votesOf('h+'), votersOf(left))).toBe(
      decision,
    )
  })

  test('is satisfiable if it can still be opened', () => {
    const two = { quorum: { n_of: 2 }, veto: ['owner'] }
    expect(isSatisfiable(two, votesOf('h+'), votersOf('h'))).toBe(true)
    expect(isSatisfiable(two, votesOf('h-'), votersOf('h'))).toBe(false)
    expect(isSatisfiable(two, votesOf('h- owner'), votersOf('hhh'))).toBe(false)
    // The gate is already approved: no voter is left who could open it.
    expect(isSatisfiable({ quorum: 'any', veto: [] }, votesOf('h+'), [])).toBe(false)
  })
})

describe('a quorum is refused if its evaluation fails over every sample of votes', () => {
  test.each([
    ['approvals.human >= 2', null],
    ['votes[1].decision == "approve"', null],
    ['votes[0].kind == "human" && votes[4].kind == "agent"', null],
    ['votes.all(v, v.confidence <= 1.0 && v.role != "")', null],
    ['size(votes) == 0 || votes[0].id != ""', null],
    // The sample has two people and one agent for each decision, and votes of both kinds. Any other sample would reach
    // the last index and fail.
    ['approvals.human == 2 && rejections.agent == 1 && outstanding.total == 3 ? true : votes[9].id == ""', null],
    ['votes[0].kind == "human" && votes[4].kind == "agent" ? true : votes[9].id == ""', null],
    ['votes[0].confidence == 0.5 && votes[3].role == "member" ? true : votes[9].id == ""', null],
    ['approvals.robots >= 1', expect.stringContaining('robots')],
    ['approvals.human', expect.any(String)],
    ['votes[9].decision == "approve"', expect.any(String)],
    ['votes[9].decision == "approve" || nothing', expect.any(String)],
  ])('%s: %s', (cel, problem) => {
    expect(quorumProblem(cel)).toEqual(problem)
  })

  test('accepts a quorum that can be evaluated only without votes', () => {
    expect(quorumProblem('approvals.total == 0 || approvals.wrong')).toBeNull()
  })
})
