import { expect, test } from 'vitest'
import { choiceTitle } from './choice-titles.ts'

test('a choice of a node has a title instead of its value in a definition', () => {
  expect(choiceTitle(['user', 'team', 'role', 'agent'], 'user')).toBe('Person')
  expect(choiceTitle(['fail', 'default', 'escalate'], 'default')).toBe('Use the default answer')
})

test('a choice with other values has no title: a service uses the same words with other meanings', () => {
  expect(choiceTitle(['user', 'organization'], 'user')).toBeUndefined()
  expect(choiceTitle(['GET', 'POST'], 'GET')).toBeUndefined()
  expect(choiceTitle([1, 2], 1)).toBeUndefined()
})
