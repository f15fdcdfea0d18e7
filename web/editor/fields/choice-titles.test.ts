import { expect, test } from 'vitest'
import { choiceTitle } from './choice-titles.ts'

test('a choice of a node has a title instead of its value in a definition', () => {
  expect(choiceTitle(['user', 'team', 'role', 'agent'], 'user')).toBe('Person')
  expect(choiceTitle(['fail', 'default', 'escalate'], 'default')).toBe('Use the default answer')
})

test.each([
  ['a question', ['take', 'offer'], ['Take it', 'Offer it']],
  ['For each', ['fail', 'collect'], ['Fail', 'Collect the error']],
  ['an awaited event', ['fail', 'continue'], ['Fail', 'Continue without data']],
  [
    'writing a dataset',
    ['replace', 'append', 'upsert'],
    ['Replace all records', 'Append the records', 'Update by key (upsert)'],
  ],
])('all choices of %s have titles', (_what, choices, titles) => {
  expect(choices.map((choice) => choiceTitle(choices, choice))).toEqual(titles)
})

test('a choice with other values has no title: a service uses the same words with other meanings', () => {
  expect(choiceTitle(['user', 'organization'], 'user')).toBeUndefined()
  expect(choiceTitle(['GET', 'POST'], 'GET')).toBeUndefined()
  expect(choiceTitle([1, 2], 1)).toBeUndefined()
})
