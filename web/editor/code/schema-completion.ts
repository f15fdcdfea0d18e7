import type { Completion, CompletionSource } from '@codemirror/autocomplete'

// The words of JSON Schema that this service interprets, where a key or the value of "type" is being typed.

const keywords: [word: string, says: string][] = [
  ['type', 'string, number, integer, boolean, object, array or null'],
  ['properties', 'the fields of an object'],
  ['required', 'names of fields that must be there'],
  ['items', 'the schema of each item of a list'],
  ['enum', 'the only values there are'],
  ['const', 'the only value there is'],
  ['default', 'what a form begins with'],
  ['title', 'how a form calls it'],
  ['description', 'what a form says below it'],
  ['format', 'date, date-time, email, uri, uuid …'],
  ['minLength', 'characters at least'],
  ['maxLength', 'characters at most'],
  ['pattern', 'a regular expression'],
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['multipleOf', 'a multiple of'],
  ['minItems', 'items at least'],
  ['maxItems', 'items at most'],
  ['uniqueItems', 'whether all items differ'],
  ['additionalProperties', 'whether there may be other fields'],
  ['oneOf', 'exactly one of these schemas'],
  ['anyOf', 'at least one of these schemas'],
  ['allOf', 'all of these schemas'],
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
