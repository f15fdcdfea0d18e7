import { describe, expect, test } from 'vitest'
import type { Initiator } from '#engine/ports'
import type { Policy } from '#model/approval'
import type { JsonObject } from '#model/definition'
import { toWire } from '#platform/ids'
import { reasonToExclude } from './excluded.ts'
import { outcomeInWords } from './outcome-words.ts'
import { given, policyText, readPolicy, toRows } from './policy.ts'
import type { Gate } from './store.ts'
import { decideGate, gateIsSatisfiable, isStuckByExclusion, votingStateOf } from './tally.ts'
import type { AgentRow, CandidateRow, VoteRow } from './voting-store.ts'

// The rules of docs/approvals.md, applied to rows as the database returns them.

const approvers = [{ kind: 'role' as const, id: 'member' }]
const policyOf = (more: JsonObject = {}): Policy => readPolicy({ approvers, ...more } as unknown as JsonObject)
const gateOf = (policy: JsonObject = {}, status: Gate['status'] = 'open'): Gate =>
  ({ policy: policyOf(policy), status, initiators: null, started_by: null }) as Gate
const person = (user_id: string, excluded = false): CandidateRow => ({
  request_id: 'r',
  user_id,
  name: `Name of ${user_id}`,
  role: 'member',
  excluded,
})
const agent = (id: string, agent_name: string | null = null): AgentRow => ({
  request_id: 'r',
  agent: id,
  agent_name,
  instructions: null,
  model: null,
})
const vote = (voter_id: string, decision: VoteRow['decision'], more: Partial<VoteRow> = {}): VoteRow =>
  ({ voter_kind: 'human', voter_id, voter_role: 'member', confidence: null, decision, ...more }) as VoteRow

describe('the outstanding voters', () => {
  const left = (votes: VoteRow[], status: Gate['status'] = 'open') =>
    votingStateOf(gateOf({}, status), votes, [person('ann'), person('bob', true)], [agent('r2'), agent('d2', 'Dee')])
      .outstanding
  const ann = { kind: 'human', id: 'ann', name: 'Name of ann' }
  const r2 = { kind: 'agent', id: 'r2', name: 'r2' }
  const d2 = { kind: 'agent', id: 'd2', name: 'Dee' }
  test.each<[string, VoteRow[], object[]]>([
    ['are all people and agents of the policy, except initiators of the execution', [], [ann, r2, d2]],
    ['do not include people who have voted', [vote('ann', 'abstain')], [r2, d2]],
    ['are not agents that have voted', [vote('r2', 'approve', { voter_kind: 'agent' })], [ann, d2]],
    [
      'include a person although an agent with the same id has voted',
      [vote('ann', 'approve', { voter_kind: 'agent' })],
      [ann, r2, d2],
    ],
  ])('%s', (_what, votes, expected) => {
    expect(left(votes)).toEqual(expected)
  })

  test.each<Gate['status']>(['approved', 'rejected', 'expired', 'cancelled'])('are none after %s', (status) => {
    expect(left([], status)).toEqual([])
  })

  test('are separate from the excluded people', () => {
    const { voters, excluded } = votingStateOf(gateOf(), [], [person('ann'), person('bob', true)], [])
    expect([voters.map(({ user_id }) => user_id), excluded.map(({ user_id }) => user_id)]).toEqual([['ann'], ['bob']])
  })
})

describe('a gate is decided by the recorded votes', () => {
  test.each<[string, JsonObject, VoteRow[], string]>([
    ['without votes it stays open', {}, [], 'open'],
    ['the approval of one person approves it', {}, [vote('ann', 'approve')], 'approved'],
    ['the approval of an agent leaves it open', {}, [vote('r2', 'approve', { voter_kind: 'agent' })], 'open'],
    [
      'a rejection by a role with a veto rejects it',
      { veto: ['owner'] },
      [vote('ann', 'reject', { voter_role: 'owner' })],
      'rejected',
    ],
    [
      'an abstention by a role with a veto leaves it open',
      { veto: ['owner'] },
      [vote('ann', 'abstain', { voter_role: 'owner' })],
      'open',
    ],
    ['one of two required approvals leaves it open', { quorum: { n_of: 2 } }, [vote('ann', 'approve')], 'open'],
    [
      'an expression can read who voted and with which confidence',
      { quorum: { $cel: 'votes.exists(v, v.id == "ann" && v.confidence > 0.5)' } },
      [vote('ann', 'approve', { confidence: 0.6 })],
      'approved',
    ],
  ])('%s', (_what, policy, votes, expected) => {
    expect(decideGate(votingStateOf(gateOf(policy), votes, [person('ann'), person('cid')], [agent('r2')]))).toBe(
      expected,
    )
  })
})

describe('whether a gate can still open', () => {
  test.each<[string, JsonObject, VoteRow[], CandidateRow[], boolean, boolean]>([
    ['has a voter', {}, [], [person('ann')], true, false],
    ['has no voter', {}, [], [], false, false],
    ['has only a voter who is an initiator of the execution', {}, [], [person('ann', true)], false, true],
    ['has an initiator and another voter', {}, [], [person('ann', true), person('bob')], true, false],
    [
      'needs the votes of both the initiator and the other voter',
      { quorum: { n_of: 2 } },
      [],
      [person('ann', true), person('bob')],
      false,
      true,
    ],
    [
      'needs more votes than there are people',
      { quorum: { n_of: 3 } },
      [],
      [person('ann', true), person('bob')],
      false,
      false,
    ],
    [
      'was vetoed, even if others could still vote',
      { veto: ['owner'] },
      [vote('bob', 'reject', { voter_role: 'owner' })],
      [person('ann', true)],
      false,
      false,
    ],
  ])('is computed for a gate that %s', (_what, policy, votes, people, satisfiable, stuck) => {
    const standing = votingStateOf(gateOf(policy), votes, people, [])
    expect([gateIsSatisfiable(standing), isStuckByExclusion(standing)]).toEqual([satisfiable, stuck])
  })
})

describe('the reason to exclude a person', () => {
  const link = (kind: Initiator['kind'], user_id: string | null): Initiator => ({ kind, id: 'x', user_id }) as Initiator
  const gate = (initiators: Initiator[] | null, started_by: string | null = null, allow_self = false) => ({
    initiators,
    started_by,
    policy: policyOf({ allow_self }),
  })
  test.each<[string, ReturnType<typeof gate>, string | null]>([
    ['the execution has no initiators', gate([]), null],
    ['another person started the execution', gate([link('person', 'bob')]), null],
    ['the person started the execution', gate([link('person', 'ann')]), 'started the execution'],
    [
      'the person created the webhook token',
      gate([link('webhook_token', 'ann')]),
      'created the webhook token that started it',
    ],
    [
      'the person created the schedule',
      gate([link('schedule', 'ann'), link('person', 'bob')]),
      'created the schedule that started it',
    ],
    [
      'the person is an initiator in two ways',
      gate([link('retry', 'ann'), link('person', 'ann'), link('person', 'ann')]),
      'retried the execution and also started the execution',
    ],
    ['the policy allows initiators to vote', gate([link('person', 'ann')], 'ann', true), null],
    ['an older release recorded only that the person started it', gate(null, 'ann'), 'started the execution'],
    ['an older release recorded only that another person started it', gate(null, 'bob'), null],
    [
      'the initiators already include the person who started it',
      gate([link('retry', 'ann')], 'ann'),
      'retried the execution',
    ],
    ['no initiator is a person', gate([link('schedule', null)]), null],
  ])('if %s', (_what, given, expected) => {
    expect(reasonToExclude(given, 'ann')).toBe(expected)
  })
})

describe('a policy', () => {
  const USUAL = {
    approvers,
    quorum: 'any',
    veto: [],
    allow_self: false,
    due_in_s: null,
    on_due: 'reject',
    escalate_to: [],
  }
  const owners = { kind: 'role', id: 'owner' }
  const cfo = { kind: 'role', id: 'cfo' }
  test.each<[JsonObject, object]>([
    [{}, {}],
    [{ quorum: { n_of: 2 } }, { quorum: { n_of: 2 } }],
    [{ veto: ['owner'] }, { veto: ['owner'] }],
    [{ allow_self: true }, { allow_self: true }],
    [{ allow_self: 'yes' }, {}],
    [{ due_in_s: 5 }, { due_in_s: 5 }],
    [{ due_in_s: '5' }, {}],
    [{ on_due: 'approve' }, { on_due: 'approve' }],
    [{ on_due: 'escalate' }, { on_due: 'escalate', escalate_to: [owners] }],
    [
      { on_due: 'escalate', escalate_to: cfo },
      { on_due: 'escalate', escalate_to: [cfo] },
    ],
    [
      { on_due: 'escalate', escalate_to: [cfo, owners] },
      { on_due: 'escalate', escalate_to: [cfo, owners] },
    ],
  ])('with %j besides its approvers has the default fields except %j', (more, expected) => {
    expect(policyOf(more)).toEqual({ ...USUAL, ...expected })
  })

  test.each<[JsonObject | undefined]>([[undefined], [{}], [{ approvers: [] }]])(
    'without approvers fails the node: %j',
    (given) => {
      expect(() => readPolicy(given)).toThrow(
        expect.objectContaining({ code: 'gate_without_approvers', retryable: false }),
      )
    },
  )

  test('treats an argument that is null as absent', () => {
    expect(given({ a: null, b: false, c: 0 })).toEqual({ b: false, c: 0 })
  })

  test('has its approvers turned into rows; an invalid id matches no person', () => {
    const id = '0190a000-0000-7000-8000-000000000001'
    const none = { ref_id: null, role: null, agent: null, agent_name: null, instructions: null, model: null }
    expect(
      toRows([
        { kind: 'user', id: toWire('usr', id) },
        { kind: 'user', id: 'somebody' },
        { kind: 'team', id: toWire('team', id) },
        { kind: 'team', id: 'some team' },
        { kind: 'role', id: 'owner' },
        { kind: 'agent', id: 'r2' },
        { kind: 'agent', id: 'd2', name: 'Dee', instructions: 'Be strict.', model: 'large' },
      ]),
    ).toEqual([
      { ...none, kind: 'user', ref_id: id },
      { ...none, kind: 'user' },
      { ...none, kind: 'team', ref_id: id },
      { ...none, kind: 'team' },
      { ...none, kind: 'role', role: 'owner' },
      { ...none, kind: 'agent', agent: 'r2', agent_name: 'r2' },
      { ...none, kind: 'agent', agent: 'd2', agent_name: 'Dee', instructions: 'Be strict.', model: 'large' },
    ])
  })

  test.each<[JsonObject, string[]]>([
    [{}, ['It opens when one person approves.', 'Nobody who led to the execution votes.']],
    [
      { quorum: 'all', allow_self: true, veto: ['owner'] },
      [
        'It opens when everybody has voted, nobody rejected and at least one person approved.',
        'A rejection by anybody with the role owner rejects it.',
      ],
    ],
    [
      { quorum: { n_of: 3 }, allow_self: true, veto: ['owner', 'cfo'] },
      [
        'It opens when there are 3 approvals, at least one of them by a person.',
        'A rejection by anybody with the role owner or cfo rejects it.',
      ],
    ],
    [
      { quorum: { $cel: 'approvals.human > 1' }, allow_self: true, due_in_s: 9, on_due: 'approve' },
      [
        'It opens when this holds over the votes: approvals.human > 1.',
        'If it is not decided within 9 seconds, it counts as approved.',
      ],
    ],
  ])('with %j is described as a text', (policy, lines) => {
    expect(policyText(policyOf(policy))).toBe(lines.join('\n'))
  })
})

test.each([
  [1, 'Approved by A'],
  [2, 'Approved by A and B'],
  [3, 'Approved by A, B and C'],
  [4, 'Approved by A, B, C and D'],
  [5, 'Approved by A, B, C and 2 others'],
])('the outcome of a gate that %i people approved is described as %j', (count, text) => {
  const votes = [...'ABCDE'].slice(0, count).map((voter_name) => ({
    voter_kind: 'human' as const,
    voter_name,
    decision: 'approve' as const,
  }))
  expect(outcomeInWords({ status: 'approved', outcome: 'approved' }, votes)).toBe(text)
})
