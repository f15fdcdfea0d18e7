import { CompletionContext, type CompletionSource } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { expect, test } from 'vitest'
import type { Source } from '../document/upstream.ts'
import { completeCode, completeJsonata, inputPlace } from './program-completion.ts'

const sources: Source[] = [
  {
    reference: 'input',
    title: 'Input',
    hint: '',
    schema: {
      type: 'object',
      properties: {
        customer: { type: 'object', properties: { name: { type: 'string' }, city: { type: 'string' } } },
        lines: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
      },
    },
    sample: undefined,
  },
]
const offered = async (complete: CompletionSource, text: string): Promise<string[]> => {
  const context = new CompletionContext(EditorState.create({ doc: text }), text.length, true)
  return ((await complete(context))?.options ?? []).map(({ label }) => label)
}

const given = inputPlace({ $ref: 'input' }, sources)
const made = inputPlace({ who: { $ref: 'input.customer' }, rows: { $ref: 'input.lines' } }, sources)

test.each([
  ['return input.', given, ['customer', 'lines']],
  ['const n = input?.customer?.', given, ['name', 'city']],
  ['input.who.', made, ['name', 'city']],
  ['input.rows[0].', made, ['price']],
  ['input.rows.', made, ['length', 'map', 'filter']],
  ['Math.', given, ['round']],
  ['const total = 1; tot', given, ['total', 'input', 'log']],
])('in code, the completions after %s are %j', async (text, place, wanted) => {
  expect(await offered(completeCode(place), text)).toEqual(expect.arrayContaining(wanted))
})

test.each([
  ['', given, ['customer', 'lines', '$sum']],
  ['$.customer.', given, ['name', 'city']],
  ['$sum(lines.', given, ['price']],
  ['lines[price > 3].', given, ['price']],
  ['who.na', made, ['name']],
])('in JSONata, the completions after %s are %j', async (text, place, wanted) => {
  expect(await offered(completeJsonata(place), text)).toEqual(expect.arrayContaining(wanted))
})
