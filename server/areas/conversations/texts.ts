import { type FileValue, isFileValue } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import { toStorableText } from '#model/storable'
import type { Requirement } from '#providers/extraction/index'
import { nameWords } from '#providers/extraction/text'
import { filesWanted } from './files.ts'
import type { Phrases } from './languages/index.ts'

// The texts of an assistant without a language model, built from the phrases of a language.

const LONGEST = 4000
const MAX_OPTIONS = 12

/** Shortens a text, and removes characters that cannot be stored: results of workflows may contain them. */
const clip = (text: string, longest = LONGEST): string =>
  text.length <= longest ? toStorableText(text) : `${toStorableText(text, longest - 1)}…`

const labelOf = ({ name, schema }: Pick<Requirement, 'name' | 'schema'>): string => {
  const title = schema && own(schema, 'title')
  return typeof title === 'string' && title !== '' ? title : nameWords(name).join(' ') || name
}

const listed = ({ or }: Phrases, items: string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${or} ${items.at(-1)}`

const typesOf = (schema: JsonObject): Json[] => [own(schema, 'type') ?? null].flat()

/** Returns a hint about the expected kind of answer. Empty if any text is accepted. */
function hintOf(say: Phrases, schema: Json): string {
  if (!isObject(schema)) return ''
  const files = filesWanted(schema)
  if (files !== null) return files === 'one' ? say.aFile : say.files
  const options = own(schema, 'enum')
  if (Array.isArray(options) && options.length > 0) {
    const shown = options
      .slice(0, MAX_OPTIONS)
      .map((option) => (typeof option === 'string' ? option : JSON.stringify(option)))
    return say.choose(listed(say, options.length > MAX_OPTIONS ? [...shown, '…'] : shown))
  }
  if (typesOf(schema).includes('boolean')) return say.yesOrNo
  switch (own(schema, 'format')) {
    case 'date':
      return say.aDate
    case 'date-time':
      return say.aDateAndTime
    case 'email':
      return say.anEmailAddress
  }
  if (typesOf(schema).some((type) => type === 'number' || type === 'integer')) return say.aNumber
  return ''
}

/** Returns the question for an input. Labels such as "How many people will come?" are already questions. */
export function askFor(say: Phrases, requirement: Requirement): string {
  const label = labelOf(requirement)
  const description = requirement.description?.trim() ?? ''
  const asked = say.asks.test(label) ? `${label.replace(/[?\s]*$/, '')}?` : say.ask(label)
  const asks = description.endsWith('?')
    ? description
    : `${asked}${description === '' ? '' : ` (${clip(description, 300)})`}`
  return [asks, hintOf(say, requirement.schema ?? {})].filter(Boolean).join(' ')
}

export const questionText = (say: Phrases, question: string, schema: Json): string =>
  [clip(question), hintOf(say, schema)].filter(Boolean).join(' ')

export const needed = (say: Phrases, title: string, requirements: Requirement[]): string => {
  const [first] = requirements
  if (!first) return ''
  if (requirements.length === 1) return say.needOne(title, askFor(say, first))
  return say.needSeveral(title, requirements.map(labelOf).join(', '), askFor(say, first))
}

export const didNotFit = (say: Phrases, issues: { path: string; message: string }[]): string =>
  say.doesNotFit(
    issues
      .slice(0, 3)
      .map(({ path, message }) => `${path.slice(1).replaceAll('/', ' ') || say.theInput} ${message}`)
      .join('; '),
  )

export function menu(
  say: Phrases,
  offers: { name: string; description: string | null }[],
  lead = say.canHelpWith,
): string {
  if (offers.length === 0) return say.nothingToOffer
  const lines = offers.map(
    ({ name, description }, at) => `${at + 1}. ${name}${description ? `: ${clip(description, 160)}` : ''}`,
  )
  return clip([lead, ...lines, say.replyWith].join('\n'))
}

export const received = (say: Phrases, files: FileValue[]): string =>
  say.received(clip(files.map(({ $file }) => $file.name).join(', '), 300))

export const waitsForApproval = (say: Phrases, title: string): string => say.waitsForApproval(clip(title, 300))

const messageKeys = ['message', 'text', 'answer', 'reply', 'result']

export function resultText({ done }: Phrases, results: Json): string {
  if (results === null || results === '') return done
  if (typeof results === 'string') return clip(results)
  if (!isObject(results)) return clip(Array.isArray(results) ? results.map(shown).join('\n') || done : shown(results))
  const entries = Object.entries(results)
  const [only] = entries
  if (only && entries.length === 1 && messageKeys.includes(only[0]) && typeof only[1] === 'string') return clip(only[1])
  return clip(entries.map(([key, value]) => `${key}: ${shown(value)}`).join('\n')) || done
}

const shown = (value: Json): string =>
  typeof value === 'string' ? value : isFileValue(value) ? value.$file.name : JSON.stringify(value)

export function endText(
  say: Phrases,
  end: {
    title: string
    status: string
    results: Json
    large?: boolean
    error: { message: string } | null
  },
): string {
  switch (end.status) {
    case 'succeeded':
      return end.large ? say.tooLarge(end.title) : resultText(say, end.results)
    case 'cancelled':
      return say.wasCancelled(end.title)
    case 'timed_out':
      return say.timedOut(end.title)
    default:
      return say.failed(end.title, end.error && clip(end.error.message, 300))
  }
}

/** A submitted form as text in the history. */
export const submittedText = (say: Phrases, values: JsonObject, requirements: Requirement[]): string => {
  const labels = new Map(requirements.map((requirement) => [requirement.name, labelOf(requirement)]))
  return clip(
    Object.entries(values)
      .map(([name, value]) => `${labels.get(name) ?? name}: ${shown(value)}`)
      .join('\n') || say.submitted,
  )
}
