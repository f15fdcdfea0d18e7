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

// The table of docs/approvals.md. A vote is written as voter, decision, role: `h+` a person approves, `a-` an agent rejects,
// `h0 owner` an owner abstains. `left` are those who have not voted.
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
    // any: one approval of a person.
    ['any', [], '', 'hh', 'open'],
    ['any', [], 'h+', 'hh', 'approved'],
    ['any', [], 'h-', 'h', 'open'],
    ['any', [], 'h-, h+', '', 'approved'],
    ['any', [], 'h0', 'h', 'open'],
    ['any', [], 'h-, h-', '', 'rejected'],
    ['any', [], 'h0', '', 'rejected'],
    ['any', [], 'a+', 'h', 'open'],
    ['any', [], 'a+', 'a', 'rejected'],
    // all: everybody has voted and nobody rejected.
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
    // veto: the rejection of a role rejects alone; its abstention and its approval are votes like others.
    ['any', ['owner'], 'h- owner', 'hh', 'rejected'],
    ['any', ['owner'], 'h- member', 'hh', 'open'],
    ['any', ['owner'], 'h-', 'hh', 'open'],
    ['any', ['owner'], 'h0 owner', 'hh', 'open'],
    ['any', ['owner'], 'h+ owner', 'hh', 'approved'],
    ['any', ['owner', 'viewer'], 'h- viewer, h+', '', 'rejected'],
    ['any', ['owner'], 'h- viewer, h+ owner', '', 'approved'],
    [{ $cel: 'approvals.human >= 1' }, ['owner'], 'h+, h- owner', 'h', 'rejected'],
    // An expression over counts: open as long as the votes left could make it true.
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
    // An expression over single votes cannot be foreseen: it is open until the last vote.
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

  test('shows the confidence of an agent to an expression', () => {
    const votes: Ballot[] = [{ kind: 'agent', id: 'a', decision: 'approve', confidence: 0.9 }]
    const by = (cel: string) => decide({ quorum: { $cel: cel }, veto: [] }, votes, [])
    expect(by('votes.exists(v, v.kind == "agent" && v.confidence > 0.8)')).toBe('approved')
    expect(by('votes.exists(v, v.kind == "agent" && v.confidence > 0.95)')).toBe('rejected')
  })

  test.each([
    ['rejected', 8, 'rejected'],
    // Ways the votes of 17 people can fall: 1,140, more than are looked through.
    ['open, with more voters than can be looked through', 17, 'open'],
  ])('that no vote can open is %s', (_what, people, decision) => {
    const quorum = { $cel: 'approvals.human >= 100' }
    expect(decide({ quorum, veto: [] }, votesOf('h+'), votersOf('h'.repeat(people)))).toBe(decision)
  })

  test.each([
    ['hhhhhhhhhhhhhhhh', 'rejected'],
    // 969 ways with 16 people; with an agent beside them four times as many.
    ['hhhhhhhhhhhhhhhha', 'open'],
    ['aaaaaaaaaaaaaaaah', 'open'],
  ])('counts the ways of people and agents together: %s is %s', (left, decision) => {
    expect(decide({ quorum: { $cel: 'approvals.total >= 100' }, veto: [] }, votesOf('h+'), votersOf(left))).toBe(
      decision,
    )
  })

  test('that can still be opened is satisfiable', () => {
    const two = { quorum: { n_of: 2 }, veto: ['owner'] }
    expect(isSatisfiable(two, votesOf('h+'), votersOf('h'))).toBe(true)
    expect(isSatisfiable(two, votesOf('h-'), votersOf('h'))).toBe(false)
    expect(isSatisfiable(two, votesOf('h- owner'), votersOf('hhh'))).toBe(false)
    // It is open already: nobody is left who could bring it open.
    expect(isSatisfiable({ quorum: 'any', veto: [] }, votesOf('h+'), [])).toBe(false)
  })
})

describe('a quorum is refused when it can be evaluated over no votes at all', () => {
  test.each([
    ['approvals.human >= 2', null],
    ['votes[1].decision == "approve"', null],
    ['votes[0].kind == "human" && votes[4].kind == "agent"', null],
    ['votes.all(v, v.confidence <= 1.0 && v.role != "")', null],
    ['size(votes) == 0 || votes[0].id != ""', null],
    // It is tried over two people and an agent on every side, and over votes of both; else the last index would fail it.
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

  test('one that holds only without votes is not refused', () => {
    expect(quorumProblem('approvals.total == 0 || approvals.wrong')).toBeNull()
  })
})
