import { expect, test } from 'vitest'
import { withoutData } from './sample-result.tsx'

const source = (reference: string, sample?: number) =>
  ({ reference, title: reference, hint: '', schema: undefined, sample }) as never

test.each([
  ['nodes.a.output.x', 'nodes.a.output'],
  ['nodes["a"].output.x', 'nodes.a.output'],
  ['nodes.ab.output', undefined],
  ['input.x + item.y', 'item'],
  ['input.items', undefined],
  ['execution.started_by', undefined],
])('%s has no data for %s', (text, expected) => {
  const sources = [source('nodes.a.output'), source('item'), source('input', 1), source('execution')]
  expect(withoutData(sources, text)?.reference).toBe(expected)
})
