import { expect, test } from 'vitest'
import { withRecent } from './recent.ts'

const page = (id: string, title = id) => ({ to: `/workflows/wf_01kf3v6h2he3wtpk1f${id}`, title })

test('recent pages are newest first, without duplicates and lists, at most eight', () => {
  const two = withRecent(withRecent([], page('a')), page('b'))
  expect(two.map(({ title }) => title)).toEqual(['b', 'a'])
  expect(withRecent(two, page('a', 'renamed')).map(({ title }) => title)).toEqual(['renamed', 'b'])
  expect(withRecent(two, { to: '/workflows', title: 'Workflows' })).toEqual(two)
  const many = Array.from({ length: 12 }, (_, index) => page(String(index)))
  expect(many.reduce(withRecent, [] as ReturnType<typeof page>[])).toHaveLength(8)
})
