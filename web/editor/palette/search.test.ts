import { expect, test } from 'vitest'
import { kinds } from '../document/testing.ts'
import { searchKinds } from './search.ts'

const found = (text: string) => searchKinds([...kinds.values()], text).map(({ type }) => type)

test('a kind is found by its title, its type and its keywords, best first', () => {
  expect(found('ht')[0]).toBe('http.request')
  expect(found('rest')).toEqual(['http.request'])
  expect(found('send mail')).toEqual(['mail.send'])
  expect(found('each')[0]).toBe('map')
  expect(found('nothing like it')).toEqual([])
  expect(found('')).toHaveLength(kinds.size)
})
