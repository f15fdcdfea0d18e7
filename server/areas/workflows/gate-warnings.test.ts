import { describe, expect, test } from 'vitest'
import type { Definition, JsonObject } from '#model/definition'
import { warnOfUnopenableGates } from './gate-warnings.ts'

const ada = { kind: 'user', id: 'usr_ada' }
const bob = { kind: 'user', id: 'usr_bob' }
const team = { kind: 'team', id: 'team_1' }
const agent = { kind: 'agent', id: 'checker' }
const gate = (policy: JsonObject): Definition => ({
  nodes: [
    { id: 'set', type: 'set' },
    { id: 'gate', type: 'approval', args: { title: 't', policy } },
  ],
  edges: [],
})

describe('warnings about gates that cannot be opened', () => {
  test.each<[string, JsonObject, string[], number]>([
    ['the only approver is the only starter', { approvers: [ada] }, ['usr_ada'], 1],
    ['the other approver is an agent', { approvers: [ada, agent] }, ['usr_ada'], 1],
    ['the only approver and starter is listed twice', { approvers: [ada, ada] }, ['usr_ada', 'usr_ada'], 1],
    ['the only approver may approve their own executions', { approvers: [ada], allow_self: true }, ['usr_ada'], 0],
    ['another person can start the workflow', { approvers: [ada] }, ['usr_ada', 'usr_bob'], 0],
    ['another person can approve as well', { approvers: [ada, bob] }, ['usr_ada'], 0],
    ['the only approver is another person', { approvers: [bob] }, ['usr_ada'], 0],
    ['a team may contain other approvers', { approvers: [ada, team] }, ['usr_ada'], 0],
    ['all approvers are agents', { approvers: [agent] }, ['usr_ada'], 0],
  ])('are correct in the case: %s', (_what, policy, starters, warnings) => {
    expect(warnOfUnopenableGates(gate(policy), starters)).toHaveLength(warnings)
  })

  test('contain the path of the gate, also in the body of a map', () => {
    const inner = gate({ approvers: [ada] })
    const each: Definition = { nodes: [{ id: 'm', type: 'map', args: { items: [], body: inner as never } }], edges: [] }
    expect(warnOfUnopenableGates(inner, ['usr_ada'])[0]?.path).toBe('/definition/nodes/1/args/policy/approvers')
    expect(warnOfUnopenableGates(each, ['usr_ada'])[0]?.path).toBe(
      '/definition/nodes/0/args/body/nodes/1/args/policy/approvers',
    )
  })
})
