import type { Json, JsonObject } from '#model/definition'
import { type Effort, spend } from './effort.ts'
import type { Requirement } from './index.ts'
import { type Unit, unitOf } from './numbers.ts'
import { contentStems, nameWords, stemOf } from './text.ts'

// Describes a requirement for the readers: by its schema first, and by its name if the schema does not say enough.

export type Kind =
  | 'date'
  | 'time'
  | 'date-time'
  | 'number'
  | 'money'
  | 'email'
  | 'phone'
  | 'url'
  | 'choice'
  | 'boolean'
  | 'list'
  | 'string'
  | 'other'

/** The names of an option, and the words in them that no other option has. */
export type Option = { value: Json; names: { text: string; stems: string[] }[]; telling: string[] }

export type Want = {
  requirement: Requirement
  kind: Kind
  schema: JsonObject
  /** The words of the name and of the title, as stems. */
  label: string[]
  title: string[]
  /** The content words of name, title and description. */
  about: Set<string>
  options: Option[]
  /** The length of the schema as JSON text. The cost of checking a value grows with it. */
  size: number
  unit: Unit | undefined
  /** True if money is `{amount, currency}` instead of a number. */
  moneyObject: boolean
  role: 'start' | 'end' | undefined
  past: boolean
  item: Want | undefined
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const MAX_NAME_LENGTH = 200
const KEPT_FOR_READING = 6000
const MAX_TEXT_LENGTH = 500

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const typeOf = (schema: JsonObject): string => {
  const type = schema.type
  if (typeof type === 'string') return type
  // For types such as ["string", "null"].
  return Array.isArray(type) ? textOf(type.find((each) => each !== 'null')) : ''
}

const sizes: Record<string, string> = { xs: 'extra small', s: 'small', m: 'medium', l: 'large', xl: 'extra large' }

const namedOptions = (schema: JsonObject): { value: Json; names: string[] }[] => {
  if (Array.isArray(schema.enum))
    return schema.enum
      .filter((value) => value !== null && typeof value !== 'object')
      .map((value) => ({ value, names: [String(value)] }))
  const branches = [schema.oneOf, schema.anyOf].find(Array.isArray) ?? []
  const constants = branches.filter((branch) => isObject(branch) && branch.const !== undefined) as JsonObject[]
  if (constants.length !== branches.length) return []
  return constants.map((branch) => ({
    value: branch.const as Json,
    names: [String(branch.const), textOf(branch.title)].filter(Boolean),
  }))
}

/**
 * Checks whether a message could contain an option. Page-long options are skipped, and if there are very many options,
 * only the first are searched for.
 */
const isSpoken = (names: string[], effort: Effort): boolean =>
  names.every((name) => name.length <= MAX_NAME_LENGTH) && spend(effort, 2 * names.length, KEPT_FOR_READING)

const optionsOf = (schema: JsonObject, effort: Effort): Option[] => {
  const spoken = namedOptions(schema).filter(({ names }) => isSpoken(names, effort))
  const options = spoken.map(({ value, names }) => {
    const size = sizes[names[0]?.toLowerCase() ?? '']
    const all = size ? [...names, size, size.replace('extra ', 'x-')] : names
    return { value, names: all.map((text) => ({ text, stems: nameWords(text).map(stemOf) })) }
  })
  const uses = new Map<string, number>()
  for (const { names } of options)
    for (const stem of new Set(names.flatMap(({ stems }) => stems))) uses.set(stem, (uses.get(stem) ?? 0) + 1)
  return options.map((option) => {
    const several = option.names.some(({ stems }) => stems.length > 1)
    const own = option.names.flatMap(({ stems }) => stems).filter((stem) => stem.length > 2 && uses.get(stem) === 1)
    return { ...option, telling: several ? own : [] }
  })
}

const formats: Record<string, Kind> = {
  date: 'date',
  time: 'time',
  'date-time': 'date-time',
  email: 'email',
  'idn-email': 'email',
  uri: 'url',
  url: 'url',
  iri: 'url',
  'uri-reference': 'url',
  phone: 'phone',
  tel: 'phone',
}

const byName: [Kind, RegExp][] = [
  ['email', /\be ?mail\b/],
  ['phone', /\b(?:phone|telephone|mobile|cell|whatsapp)\b|\bcontact number\b/],
  ['url', /\b(?:url|website|link|homepage|web ?site)\b/],
  ['date', /\b(?:date|birthday|deadline|due|day|check ?in|check ?out|arrival|departure|dob)\b/],
  ['time', /\btime\b/],
  ['money', /\b(?:price|budget|cost|salary|fee|total amount)\b/],
  [
    'number',
    /\b(?:number of|how many|count|quantity|qty|age|guests|people|persons|attendees|adults|children|nights|participants|seats|tickets|headcount|percentage)\b/,
  ],
]

const moneyWords = new Set(
  [
    'price',
    'budget',
    'cost',
    'amount',
    'salary',
    'fee',
    'payment',
    'refund',
    'total',
    'money',
    'donation',
    'spend',
    'expense',
    'value',
    'fare',
    'rent',
    'deposit',
  ].map(stemOf),
)

const kindOf = (name: string, schema: JsonObject, options: Option[], about: Set<string>): Kind => {
  const type = typeOf(schema)
  if (type === 'array') return 'list'
  if (options.length > 0 && type !== 'boolean') return 'choice'
  if (type === 'boolean') return 'boolean'
  if (type === 'number' || type === 'integer')
    return [...moneyWords].some((word) => about.has(word)) ? 'money' : 'number'
  if (type === 'object') {
    const properties = isObject(schema.properties) ? schema.properties : {}
    return 'amount' in properties && 'currency' in properties ? 'money' : 'other'
  }
  const format = formats[textOf(schema.format)]
  if (format) return format
  if (type === 'string' && (schema.pattern !== undefined || schema.format !== undefined)) return 'string'
  if (type === '' && /^(?:is|has|wants?|needs?|include|includes)\b/.test(name)) return 'boolean'
  const guess = byName.find(([, pattern]) => pattern.test(name))?.[0] ?? 'string'
  // A requested text remains a text: of the guessed kinds, only those that are written as text are used.
  if (type === 'string' && (guess === 'money' || guess === 'number')) return 'string'
  if (/\b(?:order|invoice|ticket|account|reference|customer|serial|tracking) (?:number|no|id|code)\b/.test(name))
    return 'string'
  return guess
}

const starts =
  /\b(?:start|starts|begin|from|check ?in|arrival|arrive|arriving|depart|departure|outbound|pick ?up|since|opening|min|minimum|first day)\b/
const ends =
  /^to\b|\b(?:end|ends|until|till|check ?out|return|returning|leave|leaving|inbound|drop ?off|finish|closing|max|maximum|last day|expiry|expires)\b/
const pasts =
  /\b(?:birth|born|birthday|dob|purchase|purchased|bought|incident|occurred|happened|issued|hired|joined|paid|ordered|since|received|accident|visited)\b/

const unitIn = (words: string[]): Unit | undefined => {
  const long = words.filter((word) => word.length > 1 || ['s', 'h', 'm', 'g'].includes(word))
  return long.map(unitOf).findLast(Boolean)
}

export const wantOf = (requirement: Requirement, effort: Effort): Want => {
  const schema = requirement.schema ?? {}
  const options = optionsOf(schema, effort)
  const title = textOf(schema.title).slice(0, MAX_NAME_LENGTH)
  const descriptions = [requirement.description ?? '', textOf(schema.description)]
  const description = descriptions.map((text) => text.slice(0, MAX_TEXT_LENGTH)).join(' ')
  const name = requirement.name.slice(0, MAX_NAME_LENGTH)
  const words = nameWords(name)
  const about = new Set([...contentStems(name), ...contentStems(title), ...contentStems(description)])
  const kind = kindOf(words.join(' '), schema, options, about)
  const spoken = `${words.join(' ')} ${nameWords(title).join(' ')} ${nameWords(description).join(' ')}`
  const named = words.join(' ')
  const first = starts.test(named) || (!ends.test(named) && starts.test(spoken) && !ends.test(spoken))
  return {
    requirement,
    kind,
    schema,
    label: words.map(stemOf),
    title: nameWords(title).map(stemOf),
    about,
    options,
    size: JSON.stringify(schema).length,
    unit: kind === 'number' ? (unitIn(words) ?? unitIn(nameWords(`${title} ${description}`))) : undefined,
    moneyObject: typeOf(schema) === 'object',
    role:
      first && !ends.test(named)
        ? 'start'
        : ends.test(named) || (ends.test(spoken) && !starts.test(spoken))
          ? 'end'
          : undefined,
    past: pasts.test(spoken),
    item:
      kind === 'list'
        ? wantOf({ ...requirement, schema: isObject(schema.items) ? schema.items : {} }, effort)
        : undefined,
  }
}
