import { expect, test } from 'vitest'
import { kinds } from '../document/testing.ts'
import { foundServices, rankByTitle, searchKinds } from './search.ts'

const found = (text: string) => searchKinds([...kinds.values()], text).map(({ type }) => type)

test('a kind is found by its title, its type and its keywords, best first', () => {
  expect(found('ht')[0]).toBe('http.request')
  expect(found('rest')).toEqual(['http.request'])
  expect(found('send mail')).toEqual(['mail.send'])
  expect(found('each')[0]).toBe('map')
  expect(found('nothing like it')).toEqual([])
  expect(found('')).toHaveLength(kinds.size)
})

test('of ten thousand actions the best forty are returned, and a second search reuses the index', () => {
  const verbs = ['Create', 'Update', 'Delete', 'Find']
  const [any] = kinds.values()
  const many = Array.from({ length: 10_000 }, (_, number) => ({
    ...any!,
    type: `service.call:s${number % 500}.a${number}`,
    title: `${verbs[number % 4]} thing ${number}`,
    description: 'An action',
    keywords: [`Service${number % 500}`],
  }))
  expect(foundServices(many, 'c')).toEqual([])
  expect(foundServices(many, 'create')).toHaveLength(40)
  expect(searchKinds(many, 'create')).toHaveLength(2_500)
  expect(foundServices(many, 'find 4243').map(({ title }) => title)).toEqual(['Find thing 4243'])
  expect(searchKinds(many, 'service7 update')).toEqual(
    many.filter(({ keywords, title }) => keywords[0]!.startsWith('Service7') && title.startsWith('Update')),
  )
})

test('of the nodes that a search finds, those with a title that fits come first', () => {
  const rankOf = rankByTitle('Run a wor')
  expect(['Run a workflow', 'Wait for a workflow to run', 'Run an agent'].map(rankOf)).toEqual([0, 1, 2])
  expect(rankByTitle(' ')('Anything')).toBe(0)
})
