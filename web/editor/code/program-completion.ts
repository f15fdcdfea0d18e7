import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Branch, branchesOf, type Source } from '../document/upstream.ts'
import { shortJson } from '../fields/short-json.ts'
import { callAt } from './call-at.ts'
import { placeOf } from './cel-completion.ts'
import { type SignatureSource, signatureOf } from './signature.ts'

// Completions at the cursor in code and in JSONata: fields of the node's input, functions of the language.

type Place = Pick<Branch, 'schema' | 'sample'>

/** Returns what is known about the value of the argument `input` of a node. */
export function inputPlace(input: Json | undefined, sources: readonly Source[]): Place | undefined {
  if (isObject(input) && typeof input.$ref === 'string') return placeOf(sources, input.$ref)
  if (isObject(input) && typeof input.$cel === 'string') return placeOf(sources, input.$cel)
  if (!isObject(input)) return input === undefined ? undefined : { schema: undefined, sample: input }
  const places = Object.entries(input).map(([key, value]) => [key, inputPlace(value, sources)] as const)
  const properties: JsonObject = {}
  const sample: JsonObject = {}
  for (const [key, place] of places) {
    properties[key] = place?.schema ?? {}
    if (place?.sample !== undefined) sample[key] = place.sample
  }
  return { schema: { type: 'object', properties }, sample: Object.keys(sample).length > 0 ? sample : undefined }
}

const isList = ({ schema, sample }: Place): boolean => Array.isArray(sample) || schema?.type === 'array'

/** Returns the first item of a list, or the value itself. */
const itemOf = (place: Place): Place => (isList(place) ? (branchesOf(place)[0] ?? place) : place)

const fieldsOf = (place: Place): Completion[] =>
  branchesOf(place)
    .filter(({ key }) => typeof key === 'string' && /^[A-Za-z_$][\w$]*$/.test(key))
    .map(({ key, schema, sample }) => ({
      label: String(key),
      type: 'property',
      detail: sample !== undefined ? shortJson(sample, 30) : typeof schema?.type === 'string' ? schema.type : '',
      boost: 60,
    }))

function follow(from: Place | undefined, keys: readonly string[], flatten: boolean): Place | undefined {
  let place = from
  for (const key of keys) {
    if (place && flatten) place = itemOf(place)
    place = place && branchesOf(place).find((branch) => String(branch.key) === key)
  }
  return place && flatten ? itemOf(place) : place
}

const methods = (words: string): Completion[] =>
  words.split(/\s+/).map((label) => ({ label, type: 'method', apply: `${label}(` }))

const MEMBERS: Readonly<Record<string, Completion[]>> = {
  Math: methods('abs ceil floor max min pow random round sign sqrt trunc'),
  JSON: methods('parse stringify'),
  Object: methods('assign entries fromEntries groupBy hasOwn keys values'),
  Array: methods('from isArray of'),
  Number: methods('isFinite isInteger isNaN parseFloat parseInt'),
  Date: methods('now parse UTC'),
  Promise: methods('all allSettled race resolve'),
  crypto: methods('randomUUID'),
}
const LIST = methods(
  'at concat every filter find findIndex flat flatMap forEach includes indexOf join map reduce slice some toReversed toSorted',
)
const TEXT = methods(
  'at endsWith includes indexOf match padEnd padStart replace replaceAll slice split startsWith toLowerCase toUpperCase trim',
)
const GLOBALS: Completion[] = [
  { label: 'input', type: 'variable', detail: 'what the node is given', boost: 90 },
  { label: 'log', type: 'function', detail: 'log(value): a line in the log of the run', apply: 'log(' },
  ...'return const let if else for of await async function throw new typeof try catch'
    .split(' ')
    .map((label) => ({ label, type: 'keyword' })),
  ...[...Object.keys(MEMBERS), 'Map', 'Set', 'RegExp', 'URL', 'TextEncoder', 'parseInt', 'parseFloat'].map((label) => ({
    label,
    type: 'class',
  })),
]

const CODE_PATH = /[A-Za-z_$][\w$]*(?:\?\.|\.|\[\d+\]|[\w$])*$/

export function completeCode(input: Place | undefined): CompletionSource {
  return (context: CompletionContext): CompletionResult | null => {
    const path = CODE_PATH.exec(context.state.sliceDoc(0, context.pos))?.[0] ?? ''
    if (path === '' && !context.explicit) return null
    const dot = path.lastIndexOf('.')
    const from = context.pos - (path.length - dot - 1)
    const validFor = /^[\w$]*$/
    if (dot === -1) return { from, options: [...GLOBALS, ...declared(context)], validFor }
    const [root = '', ...keys] = path
      .slice(0, dot)
      .replaceAll('?', '')
      .split(/[.[\]]+/)
      .filter((part) => part !== '')
    if (MEMBERS[root] && keys.length === 0) return { from, options: MEMBERS[root], validFor }
    const place = root === 'input' ? follow(input, keys, false) : undefined
    if (!place) return { from, options: [...LIST, ...TEXT].filter(isFirst), validFor }
    if (isList(place)) return { from, options: [{ label: 'length', type: 'property' }, ...LIST], validFor }
    const isText = typeof place.sample === 'string' || place.schema?.type === 'string'
    return { from, options: isText ? [{ label: 'length', type: 'property' }, ...TEXT] : fieldsOf(place), validFor }
  }
}

const isFirst = ({ label }: Completion, at: number, all: Completion[]): boolean =>
  all.findIndex((other) => other.label === label) === at

/** Returns the names that the code itself declares. */
function declared(context: CompletionContext): Completion[] {
  const names = context.state.doc.toString().matchAll(/\b(?:const|let|var|function|class)\s+([A-Za-z_$][\w$]*)/g)
  return [...new Set([...names].map(([, name]) => name!))].map((label) => ({ label, type: 'variable', boost: 70 }))
}

/** Functions of JSONata by the type of their input: name, then arguments. */
const JSONATA: readonly (readonly [name: string, call: string])[] = [
  ...['sum', 'max', 'min', 'average', 'count', 'reverse', 'shuffle', 'distinct'].map(
    (name) => [name, 'array'] as const,
  ),
  ['append', 'array, array'],
  ['sort', 'array, function'],
  ['zip', 'array, …'],
  ['map', 'array, function'],
  ['filter', 'array, function'],
  ['single', 'array, function'],
  ['reduce', 'array, function, init'],
  ['sift', 'object, function'],
  ['each', 'object, function'],
  ['keys', 'object'],
  ['lookup', 'object, key'],
  ['merge', 'array of objects'],
  ['spread', 'object'],
  ['type', 'value'],
  ['exists', 'value'],
  ['not', 'value'],
  ['boolean', 'value'],
  ['string', 'value'],
  ['number', 'value'],
  ['length', 'text'],
  ['uppercase', 'text'],
  ['lowercase', 'text'],
  ['trim', 'text'],
  ['substring', 'text, start, length'],
  ['substringBefore', 'text, characters'],
  ['substringAfter', 'text, characters'],
  ['contains', 'text, pattern'],
  ['split', 'text, separator, limit'],
  ['join', 'array, separator'],
  ['match', 'text, pattern, limit'],
  ['replace', 'text, pattern, replacement'],
  ['pad', 'text, width, character'],
  ['round', 'number, precision'],
  ['floor', 'number'],
  ['ceil', 'number'],
  ['abs', 'number'],
  ['power', 'base, exponent'],
  ['sqrt', 'number'],
  ['formatNumber', 'number, picture'],
  ['formatBase', 'number, radix'],
  ['base64encode', 'text'],
  ['base64decode', 'text'],
  ['encodeUrlComponent', 'text'],
  ['toMillis', 'timestamp, picture'],
  ['fromMillis', 'number, picture'],
  ['error', 'message'],
  ['assert', 'condition, message'],
]
const jsonataFunctions: Completion[] = JSONATA.map(([name, call]) => ({
  label: `$${name}`,
  type: 'function',
  detail: `(${call})`,
  apply: `$${name}(`,
}))

const jsonataCalls = new Map(JSONATA.map(([name, call]) => [`$${name}`, `$${name}(${call})`]))

export const jsonataSignature: SignatureSource = (text, at) => {
  const call = callAt(text, at)
  const found = call && jsonataCalls.get(call.name.replace(/^.*\./, ''))
  return found ? { from: call.from, ...signatureOf(found, call.argument), does: '' } : null
}

const JSONATA_PATH = /\$?[A-Za-z_]?[\w$]*(?:\.[\w$]*|\[[^\]]*\])*$/

export function completeJsonata(input: Place | undefined): CompletionSource {
  return (context: CompletionContext): CompletionResult | null => {
    const path = JSONATA_PATH.exec(context.state.sliceDoc(0, context.pos))?.[0] ?? ''
    if (path === '' && !context.explicit) return null
    const dot = path.lastIndexOf('.')
    const from = context.pos - (path.length - dot - 1)
    const keys =
      dot === -1
        ? []
        : path
            .slice(0, dot)
            .replaceAll(/\[[^\]]*\]/g, '')
            .split('.')
    const named = keys.filter((key) => key !== '$' && key !== '$$')
    const place = input && follow(input, named, true)
    const fields = place ? fieldsOf(place) : []
    return { from, options: [...fields, ...jsonataFunctions], validFor: /^\$?[\w$]*$/ }
  }
}
