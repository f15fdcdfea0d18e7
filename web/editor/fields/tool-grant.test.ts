import { expect, test } from 'vitest'
import { approvalSchema, argumentOf, argumentsIn, choiceOf, grantOf, withArgument, writtenGrant } from './tool-grant.ts'

test('a tool is written in its shortest form', () => {
  expect(grantOf('notify')).toEqual({ type: 'notify' })
  expect(writtenGrant({ type: 'notify' })).toBe('notify')
  expect(writtenGrant({ type: 'notify', arguments: { fixed: {}, allowed: {} } })).toBe('notify')
  expect(writtenGrant({ type: 'notify', approval: {} })).toEqual({ type: 'notify', approval: {} })
  expect(writtenGrant({ workflow_id: 'wf_1', arguments: { fixed: { a: 1 }, allowed: {} } })).toEqual({
    workflow_id: 'wf_1',
    arguments: { fixed: { a: 1 } },
  })
})

test('an argument is chosen by the agent, by its author, or from a list', () => {
  const fixed = withArgument({ type: 'notify' }, 'title', 'fixed', 'Hello')
  expect([choiceOf(fixed, 'title'), argumentOf(fixed, 'title')]).toEqual(['fixed', 'Hello'])
  const allowed = withArgument(fixed, 'title', 'allowed', ['A', 'B'])
  expect([choiceOf(allowed, 'title'), argumentOf(allowed, 'title')]).toEqual(['allowed', ['A', 'B']])
  expect(allowed.arguments).toEqual({ fixed: {}, allowed: { title: ['A', 'B'] } })
  const free = withArgument(allowed, 'title', 'agent')
  expect([choiceOf(free, 'title'), writtenGrant(free)]).toEqual(['agent', 'notify'])
})

test('the arguments of a tool and the form of its approval come from schemas', () => {
  expect(argumentsIn({ properties: { a: { type: 'string' }, odd: true } })).toEqual([['a', { type: 'string' }]])
  expect(argumentsIn(undefined)).toEqual([])
  const approval = { type: 'object' }
  expect(approvalSchema({ items: { anyOf: [{ type: 'string' }, { properties: { approval } }] } })).toBe(approval)
  expect(approvalSchema({})).toBeUndefined()
})
