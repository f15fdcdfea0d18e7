import type { Completion, CompletionSource } from '@codemirror/autocomplete'
import { t } from '#web/words/language.ts'

// The JSON Schema keywords that this service supports, for completion of a key or of the value of "type".

const keywords: [word: string, says: string][] = [
  ['type', t('string, number, integer, boolean, object, array or null')],
  ['properties', t('the fields of an object')],
  ['required', t('names of fields that must be there')],
  ['items', t('the schema of each item of a list')],
  ['enum', t('the only values there are')],
  ['const', t('the only value there is')],
  ['default', t('what a form begins with')],
  ['title', t('how a form calls it')],
  ['description', t('what a form says below it')],
  ['format', t('date, date-time, email, uri, uuid …')],
  ['minLength', t('characters at least')],
  ['maxLength', t('characters at most')],
  ['pattern', t('a regular expression')],
  ['minimum', t('at least')],
  ['maximum', t('at most')],
  ['multipleOf', t('a multiple of')],
  ['minItems', t('items at least')],
  ['maxItems', t('items at most')],
  ['uniqueItems', t('whether all items differ')],
  ['additionalProperties', t('whether there may be other fields')],
  ['oneOf', t('exactly one of these schemas')],
  ['anyOf', t('at least one of these schemas')],
  ['allOf', t('all of these schemas')],
]
const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

const option = (label: string, detail = ''): Completion => ({ label: `"${label}"`, detail, apply: `"${label}"` })

export const completeSchema: CompletionSource = (context) => {
  const word = context.matchBefore(/"?[\w$]*/)
  if (!word || (word.text === '' && !context.explicit)) return null
  const before = context.state.sliceDoc(Math.max(0, word.from - 40), word.from)
  const options = /"type"\s*:\s*(?:\[[^\]]*)?$/.test(before)
    ? types.map((type) => option(type))
    : keywords.map(([name, says]) => option(name, says))
  const closing = context.state.sliceDoc(context.pos, context.pos + 1) === '"' ? 1 : 0
  return { from: word.from, to: context.pos + closing, options, filter: true }
}
