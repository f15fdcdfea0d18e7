import type { GateOrQuestion } from '#areas/approvals/gate-or-question'
import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import { toStorableText } from '#model/storable'
import type { MailWords } from '#platform/mail-language'
import { shownOf } from './mail-text.ts'

// The message about a gate, a question or a notice in a channel. Tenants wrote everything in it except the addresses,
// so vendors are sent plain text. No text is cut through a surrogate pair, because vendors refuse such a message.

/**
 * The maximum length of the payload. With title and address, the message stays under the smallest limit of the vendors.
 */
const MAX_SHOWN = 1200
const MAX_TITLE = 300
const MAX_BODY = 300
const MAX_OPTIONS = 5
const MAX_OPTION = 60

export type ChannelText = { text: string; choices: { label: string; response: Json }[] }

/** Returns the buttons of a question: one per option if there are few short texts, or yes and no for a boolean. */
function optionsOf(schema: Json, { say }: MailWords): { label: string; response: Json }[] {
  if (!isObject(schema)) return []
  const { enum: options, type } = schema
  if (Array.isArray(options)) {
    const fits =
      options.length <= MAX_OPTIONS &&
      options.every((one) => typeof one === 'string' && one !== '' && one.length <= MAX_OPTION)
    return fits ? (options as string[]).map((one) => ({ label: one, response: one })) : []
  }
  if (type !== 'boolean') return []
  return [
    { label: say('Yes'), response: true },
    { label: say('No'), response: false },
  ]
}

/** Returns the buttons. There are none unless the message shows everything, since no person should decide on a part. */
function choicesOf(matter: GateOrQuestion, isWhole: boolean, words: MailWords): ChannelText['choices'] {
  if (!isWhole) return []
  if (matter.kind === 'clarification') return optionsOf(matter.schema, words)
  return [
    { label: words.say('Approve'), response: 'approve' },
    { label: words.say('Reject'), response: 'reject' },
  ]
}

export function channelTextOf(parts: {
  title: string
  body: string | null
  workspace: string
  matter: GateOrQuestion | undefined
  /** False if the workspace requires a second factor: a button proves only one factor. */
  mayPress: boolean
  consoleUrl: string
  /** The language of the person. */
  words: MailWords
}): ChannelText {
  const { matter, words } = parts
  const { say, notice } = words
  const shown = matter ? shownOf(matter, MAX_SHOWN) : { text: '', isWhole: true }
  // The title of a gate is shown nowhere else.
  const isWhole = shown.isWhole && (matter?.kind !== 'approval' || notice(parts.title).length <= MAX_TITLE)
  const choices = matter && parts.mayPress ? choicesOf(matter, isWhole, words) : []
  const hash = matter?.kind === 'approval' ? say('Content: sha256 {0}', [matter.sha256]) : ''
  const lines = [
    toStorableText(notice(parts.title), MAX_TITLE),
    parts.body === null ? '' : toStorableText(notice(parts.body), MAX_BODY),
    shown.text,
    hash,
    matter && choices.length === 0 ? say('Answer in the console: {0}', [parts.consoleUrl]) : parts.consoleUrl,
    say('Workspace: {0}', [toStorableText(parts.workspace, 100)]),
  ]
  return { text: lines.filter((line) => line !== '').join('\n\n'), choices }
}

/** Returns the text that replaces the buttons after the gate or question is closed or this person has answered. */
export const settledText = (title: string, outcome: string, { notice }: MailWords): string =>
  `${toStorableText(notice(title), MAX_TITLE)}\n\n${toStorableText(notice(outcome), MAX_BODY)}`
