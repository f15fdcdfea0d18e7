import type { Completion, CompletionSource } from '@codemirror/autocomplete'
import { t } from '#web/words/language.ts'

// The JSON Schema keywords that this service supports, for completion of a key or of the value of "type".

const keywords: [word: string, says: string][] = [
  ['type', t('string, number, integer, boolean, object, array or null')],
  ['properties', t('the fields of an object')],
  ['required', t('names of the required fields')],
  ['items', t('the schema of each item of a list')],
  ['enum', t('the allowed values')],
  ['const', t('the only allowed value')],
  ['default', t('the default value in a form')],
  ['title', t('the label in a form')],
  ['description', t('the help text below the field in a form')],
  ['format', t('date, date-time, email, uri, uuid …')],
  ['minLength', t('characters at least')],
  ['maxLength', t('characters at most')],
  ['pattern', t('a regular expression')],
  ['minimum', t('at least')],
  ['maximum', t('at most')],
  ['multipleOf', t('a multiple of')],
  ['minItems', t('items at least')],
  ['maxItems', t('items at most')],
  ['uniqueItems', t('whether all items must be different')],
  ['additionalProperties', t('whether other fields are allowed')],
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
