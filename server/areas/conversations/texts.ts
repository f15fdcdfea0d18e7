import { type FileValue, isFileValue } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import type { Requirement } from '#providers/extraction/index'
import { nameWords } from '#providers/extraction/text'
import { filesWanted } from './files.ts'

// What the assistant says without a language model. It is plain text: a client must not interpret markup in it.

const LONGEST = 4000
const MAX_OPTIONS = 12

/** Results of workflows may contain characters that cannot be stored. */
const clip = (text: string, longest = LONGEST): string =>
  (text.length <= longest ? text : `${text.slice(0, longest - 1)}…`).replaceAll('\0', '').toWellFormed()

export const GREETING = 'Hello! How can I help you?'
const NOTHING_TO_OFFER = 'There is nothing I can start for you at the moment.'
export const CANCELLED = 'All right, I have stopped there.'
export const GONE = 'That is no longer available, so I have stopped there.'
export const NOT_STARTED = 'All right, I have not started it. Say "start" when you want me to.'
export const FORM_CHANGED = 'What is needed has changed meanwhile. Please look at the form again.'
export const SET_ASIDE = 'All right, the question stays open. Say "answer" to come back to it.'
export const NOT_NOW = 'That cannot be started at the moment. Please try again later.'
export const COLLEAGUE = 'Waiting for a colleague to answer a question.'
export const ANSWERED = 'Thank you. I have passed your answer on.'
export const ANSWERED_ELSEWHERE = 'Thank you, but that question has already been answered or has closed.'
export const NOT_UNDERSTOOD = 'Sorry, I did not understand that.'
export const COMPLETE = 'This has already been started.'
export const A_COLLEAGUE = 'A colleague'

const labelOf = ({ name, schema }: Pick<Requirement, 'name' | 'schema'>): string => {
  const title = schema && own(schema, 'title')
  return typeof title === 'string' && title !== '' ? title : nameWords(name).join(' ') || name
}

const listed = (items: string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`

const typesOf = (schema: JsonObject): Json[] => [own(schema, 'type') ?? null].flat()

/** The kind of answer that is expected, where it is not any text. */
function hintOf(schema: Json): string {
  if (!isObject(schema)) return ''
  const files = filesWanted(schema)
  if (files !== null) return files === 'one' ? 'Please send a file.' : 'Please send one or more files.'
  const options = own(schema, 'enum')
  if (Array.isArray(options) && options.length > 0) {
    const shown = options
      .slice(0, MAX_OPTIONS)
      .map((option) => (typeof option === 'string' ? option : JSON.stringify(option)))
    return `Choose ${listed(options.length > MAX_OPTIONS ? [...shown, '…'] : shown)}.`
  }
  if (typesOf(schema).includes('boolean')) return 'Yes or no?'
  switch (own(schema, 'format')) {
    case 'date':
      return 'A date, please, such as 31 January.'
    case 'date-time':
      return 'A date and a time, please.'
    case 'email':
      return 'An e-mail address, please.'
  }
  if (typesOf(schema).some((type) => type === 'number' || type === 'integer')) return 'A number, please.'
  return ''
}

/** "Your name" is a question by itself; "amount" needs words before it. */
const withArticle = (label: string): string => {
  const written = /^[A-Z][a-z]/.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label
  return /^(your|the|a|an|my)\b/i.test(written) ? written : `the ${written}`
}

/** Labels such as "How many people will come?" need no words before them. */
const isQuestion = (label: string): boolean =>
  /\?\s*$|^(?:what|which|who|whose|when|where|why|how|is|are|do|does|did|can|may|will|should|shall)\s/i.test(label)

export function askFor(requirement: Requirement): string {
  const label = labelOf(requirement)
  const description = requirement.description?.trim() ?? ''
  const asks = description.endsWith('?')
    ? description
    : `${isQuestion(label) ? label.replace(/[?\s]*$/, '') : `What is ${withArticle(label)}`}?${description === '' ? '' : ` (${clip(description, 300)})`}`
  return [asks, hintOf(requirement.schema ?? {})].filter(Boolean).join(' ')
}

export const questionText = (question: string, schema: Json): string =>
  [clip(question), hintOf(schema)].filter(Boolean).join(' ')

export const needed = (title: string, requirements: Requirement[]): string => {
  const [first] = requirements
  if (!first) return ''
  if (requirements.length === 1) return `For "${title}" I need one more thing. ${askFor(first)}`
  return `For "${title}" I need: ${requirements.map(labelOf).join(', ')}. ${askFor(first)}`
}

export const didNotFit = (issues: { path: string; message: string }[]): string =>
  `That does not fit yet: ${issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.slice(1).replaceAll('/', ' ') || 'the input'} ${message}`)
    .join('; ')}.`

export function menu(offers: { name: string; description: string | null }[], lead = 'I can help with:'): string {
  if (offers.length === 0) return NOTHING_TO_OFFER
  const lines = offers.map(
    ({ name, description }, at) => `${at + 1}. ${name}${description ? `: ${clip(description, 160)}` : ''}`,
  )
  return clip([lead, ...lines, 'Reply with a number or a name.'].join('\n'))
}

export const received = (files: FileValue[]): string =>
  `I have received ${clip(files.map(({ $file }) => $file.name).join(', '), 300)}.`

export const startedText = (title: string): string => `I have started "${title}".`
export const stillRunning = (title: string): string => `"${title}" is still running. I will tell you when it is done.`
export const waitingForApproval = (title: string): string => `Waiting for approval: ${clip(title, 300)}`

const messageKeys = ['message', 'text', 'answer', 'reply', 'result']

export function resultText(results: Json): string {
  if (results === null || results === '') return 'Done.'
  if (typeof results === 'string') return clip(results)
  if (!isObject(results))
    return clip(Array.isArray(results) ? results.map(shown).join('\n') || 'Done.' : shown(results))
  const entries = Object.entries(results)
  const [only] = entries
  if (only && entries.length === 1 && messageKeys.includes(only[0]) && typeof only[1] === 'string') return clip(only[1])
  return clip(entries.map(([key, value]) => `${key}: ${shown(value)}`).join('\n')) || 'Done.'
}

const shown = (value: Json): string =>
  typeof value === 'string' ? value : isFileValue(value) ? value.$file.name : JSON.stringify(value)

export function endText(end: {
  title: string
  status: string
  results: Json
  large?: boolean
  error: { message: string } | null
}): string {
  switch (end.status) {
    case 'succeeded':
      return end.large ? `"${end.title}" is done. The result is too large to show here.` : resultText(end.results)
    case 'cancelled':
      return `"${end.title}" was cancelled.`
    case 'timed_out':
      return `"${end.title}" took too long and was stopped.`
    default:
      return `"${end.title}" could not be completed${end.error ? `: ${clip(end.error.message, 300)}` : '.'}`
  }
}

/** A submitted form as text in the history. */
export const submittedText = (values: JsonObject, requirements: Requirement[]): string => {
  const labels = new Map(requirements.map((requirement) => [requirement.name, labelOf(requirement)]))
  return clip(
    Object.entries(values)
      .map(([name, value]) => `${labels.get(name) ?? name}: ${shown(value)}`)
      .join('\n') || 'Submitted.',
  )
}
