import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { expect, test } from 'vitest'
import { FUNCTION_HELP } from '#model/cel-help-table'
import { completeData, placeOf, wordAt } from './cel-completion.ts'
import { faultFor } from './fault-place.ts'

const sources = [
  { reference: 'nodes.make.output', title: 'Make', hint: 'Set values', schema: object(['text']), sample: undefined },
  { reference: 'nodes.get-it.output', title: 'Get', hint: 'HTTP', schema: undefined, sample: { body: { id: 7 } } },
  { reference: 'input', title: 'Input', hint: 'of the run', schema: object(['name', 'list']), sample: undefined },
] as never

function object(names: string[]) {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }
}

const offered = (text: string, explicit = false) => {
  const state = EditorState.create({ doc: text })
  const result = completeData(sources, FUNCTION_HELP)(new CompletionContext(state, text.length, explicit))
  return (result as { options: { label: string; type?: string }[] } | null)?.options ?? null
}
const data = (text: string) =>
  offered(text)
    ?.filter(({ type }) => type !== 'function')
    .map(({ label }) => label)

test.each([
  ['in', ['nodes', 'input']],
  ['"a" + input.', ['name', 'list']],
  ['nodes.', ['make', 'get-it']],
  ['nodes.make.', ['output']],
  ['nodes.make.output.te', ['text']],
  ['nodes["get-it"].output.body.', ['id']],
  ['something.', []],
])('after %s the completions are %j', (text, labels) => {
  expect(data(text)).toEqual(labels)
})

test('functions are offered with their signature, and methods after a dot', () => {
  expect(offered('si')?.some(({ label }) => label === 'size')).toBe(true)
  expect(offered('input.name.con')?.some(({ label }) => label === 'contains')).toBe(true)
  expect(offered('1 + ')).toBeNull()
  expect(offered('1 + ', true)?.length).toBeGreaterThan(5)
})

test('finds the data and the word under the pointer', () => {
  expect(placeOf(sources, 'nodes.get-it.output.body.id')?.sample).toBe(7)
  expect(placeOf(sources, 'nodes.none.output')).toBeUndefined()
  expect(wordAt('1 + input.name.size()', 11)).toEqual({ from: 4, to: 14, text: 'input.name' })
})

test.each([
  ['1 + other', 'unknown name "other" (at character 5); known are input', [4, 9]],
  ['nodes.sett.output', 'there is no node "sett"; did you mean "set"?', [6, 10]],
  ['input.name + ', 'an operand is missing (at character 14)', [12, 13]],
  ['', 'is empty', [0, 0]],
  ['abc', 'is too long', [0, 3]],
])('in %j the problem %j is at %j', (text, message, [from, to]) => {
  expect(faultFor(text, message)).toMatchObject({ from, to })
})
