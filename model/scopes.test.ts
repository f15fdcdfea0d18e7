import { expect, test } from 'vitest'
import { allScopes, areasOfScopes, grants, scopeVerbs, uncoveredScopes } from './scopes.ts'

test.each([
  ['workflows:read', [true, false, false, false]],
  ['workflows:run', [false, true, false, false]],
  ['workflows:write', [true, false, true, false]],
  ['workflows:admin', [true, true, true, true]],
  ['*:read', [true, false, false, false]],
  ['*:admin', [true, true, true, true]],
  ['datasets:admin', [false, false, false, false]],
])('%s lets a key read, run, write, administer workflows: %j', (scope, expected) => {
  expect(scopeVerbs.map((verb) => grants([scope], `workflows:${verb}`))).toEqual(expected)
})

test('a scope for one area does not cover all areas', () => {
  expect(grants(['workflows:read'], '*:read')).toBe(false)
  expect(grants(['*:write'], '*:read')).toBe(true)
  expect(
    grants(
      areasOfScopes.map((area) => `${area}:read`),
      '*:read',
    ),
  ).toBe(false)
})

test('a text that is not a scope grants nothing', () => {
  for (const text of ['', '*', 'workflows', ':read', 'workflows:own', '*:*', 'workflows:read:run'])
    expect(allScopes.filter((wanted) => grants([text], wanted))).toEqual([])
})

test('beyond returns the scopes that the other list does not cover', () => {
  expect(
    uncoveredScopes(['workflows:write', '*:run'], ['workflows:read', 'datasets:run', 'datasets:read', '*:admin']),
  ).toEqual(['datasets:read', '*:admin'])
})
