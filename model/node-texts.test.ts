import { expect, test } from 'vitest'
import { changeTexts } from './node-texts.ts'

test('changes every text of a kind, including argument names, and nothing else', () => {
  const kind = {
    type: 'one',
    title: 'one',
    description: 'two',
    args_schema: {
      type: 'object',
      properties: {
        title: { type: 'string', title: 'three', default: 'kept' },
        max_items: { anyOf: [{ type: 'array', items: { type: 'string', description: 'four' } }] },
      },
      required: ['title'],
    },
  }
  expect(changeTexts(kind, (text) => text.toUpperCase())).toEqual({
    type: 'one',
    title: 'ONE',
    description: 'TWO',
    args_schema: {
      type: 'object',
      properties: {
        title: { type: 'string', title: 'THREE', default: 'kept' },
        max_items: { title: 'MAX ITEMS', anyOf: [{ type: 'array', items: { type: 'string', description: 'FOUR' } }] },
      },
      required: ['title'],
    },
  })
})
