import { describe, expect, test } from 'vitest'
import { decide } from './approval.ts'
import { readQuorum } from './quorum.ts'

describe('the tree of a quorum shows what it counts', () => {
  test.each([
    ['approvals.agent >= 1', true, false],
    ['approvals["agent"] >= 1 && rejections.total == 0', true, false],
    ['votes.filter(v, v.kind == "agent" && v.decision == "approve").size() >= 2', true, true],
    ['votes.exists(v, "agent" == v["kind"])', true, true],
    ['approvals.total >= 1', false, false],
    // The word alone has no effect: in a text, another field, rejections, or a name that a macro binds.
    ['approvals.total >= 1 && "agent" != ""', false, false],
    ['approvals.total >= 1 && rejections.agent == 0', false, false],
    ['approvals.total >= 1 && outstanding.agent == 0', false, false],
    ['votes.exists(v, v.id == "agent")', false, true],
    ['[{"agent": 1}].exists(approvals, approvals.agent == 1)', false, false],
    ['"votes" == "votes" && approvals.human > 0', false, false],
    ['[1].exists(votes, votes == 1)', false, false],
    ['this is no expression', false, false],
  ])('%s', (cel, countsAgents, readsVotes) => {
    expect(readQuorum(cel)).toEqual({ countsAgents, readsVotes })
  })

  test('and the same text is parsed only once', () => {
    expect(readQuorum('approvals.agent >= 7')).toBe(readQuorum('approvals.agent >= 7'))
  })

  test('agents alone do not open a gate whose expression only mentions them', () => {
    const votes = [{ kind: 'agent', id: 'r2', decision: 'approve' }] as const
    const outcome = (cel: string) => decide({ quorum: { $cel: cel }, veto: [] }, votes, [{ kind: 'human', id: 'ann' }])
    expect(outcome('approvals.total >= 1 && rejections.agent == 0')).toBe('open')
    expect(outcome('approvals.total >= 1 && "agent" != ""')).toBe('open')
    expect(outcome('approvals.agent >= 1')).toBe('approved')
  })
})
