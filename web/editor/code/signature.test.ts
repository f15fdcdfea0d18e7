import { expect, test } from 'vitest'
import { FUNCTION_HELP } from '#model/cel-help-table'
import { callAt } from './call-at.ts'
import { jsonataSignature } from './program-completion.ts'
import { celSignature, type SignatureSource, signatureOf } from './signature.ts'

/** The bar marks the cursor. */
const at = (marked: string): [text: string, at: number] => [marked.replace('|', ''), marked.indexOf('|')]

test.each([
  ['size(|)', 'size', 0],
  ['input.name.substring(1, |)', 'input.name.substring', 1],
  ['f(g(1, 2), |', 'f', 1],
  ['f(g(1, |', 'g', 1],
  ['f([1, 2, {"a": 3, "b": |', 'f', 0],
  ['f("a, (b", |', 'f', 1],
  ['f("a, (b|', 'f', 0],
  ["f('it\\'s, ', |", 'f', 1],
  ['(a + b).orElse(|', '.orElse', 0],
  ['math.greatest(1, (2 + |', 'math.greatest', 1],
  ['$replace(name, /[(,]/, |', '$replace', 2],
  ['f(a / b, c / d, |', 'f', 2],
  ['// f(\ng(|', 'g', 0],
])('in %s the call is %s, argument %i', (marked, name, argument) => {
  expect(callAt(...at(marked))).toMatchObject({ name, argument })
})

test.each(['|size(1)', 'size(1)|', 'size(1) + |', '(1 + |', '[f(1), |', '"f(|'])('%s is outside of calls', (marked) => {
  expect(callAt(...at(marked))).toBeUndefined()
})

test('the argument at the cursor is marked', () => {
  expect(signatureOf('text.substring(start, end?)', 1)).toEqual({
    before: 'text.substring(start, ',
    active: 'end?',
    after: ')',
  })
  expect(signatureOf('text.substring(start, end?)', 2).active).toBe('')
  expect(signatureOf('math.greatest(a, b, …)', 5).active).toBe('…')
  expect(signatureOf('list.sort()', 0)).toEqual({ before: 'list.sort()', active: '', after: '' })
})

const said = (source: SignatureSource, marked: string) => source(...at(marked))
test('CEL and JSONata functions are found by name, methods by the name after the dot', () => {
  const cel = celSignature(FUNCTION_HELP)
  expect(said(cel, 'input.name.contains(|')).toMatchObject({ active: 'part', does: 'Whether the text contains a part' })
  expect(said(cel, 'cel.bind(x, |')).toMatchObject({ active: 'value' })
  expect(said(cel, 'contains(|')).toBeNull()
  expect(said(cel, 'nothing(|')).toBeNull()
  expect(said(jsonataSignature, '$join(lines.name, |')).toMatchObject({ before: '$join(array, ', active: 'separator' })
  expect(said(jsonataSignature, '$map(lines, function($line) { $line.price * |')).toMatchObject({ active: 'function' })
})
