import { expect, test } from 'vitest'
import { mentionedIn, putName, typedName } from './mentions.ts'

const people = [
  { user_id: '1', name: 'Ada' },
  { user_id: '2', name: 'Ada King' },
  { user_id: '3', name: 'Grace' },
]

test.each([
  ['nobody here', []],
  ['@Ada, look', ['1']],
  ['@ada king and @Grace', ['2', '3']],
  ['@Grace @grace', ['3']],
  ['mail a@b.example', []],
])('%s mentions %j', (text, ids) => {
  expect(mentionedIn(text, people)).toEqual(ids)
})

test.each([
  ['Hello @Gr', 9, 'Gr'],
  ['@', 1, ''],
  ['a@b', 3, null],
  ['no name', 7, null],
  ['@Ada\nnext', 9, null],
])('in %j at %i the name being typed is %j', (text, caret, typed) => {
  expect(typedName(text, caret)).toBe(typed)
})

test('a chosen name replaces the typed letters', () => {
  expect(putName('Ask @Gr please', 7, 'Grace')).toEqual({ text: 'Ask @Grace  please', caret: 11 })
})
