import { z } from 'zod'
import { minutesOf } from '#areas/conversations/hours'
import { isTimeZone } from '#areas/requirements/schema'
import { anyId, anyOf, defineList, flag } from '#platform/http/list'
import { id, jsonTimestamp, name, reference, timestamp } from '#platform/http/schema'

const kinds = ['embed', 'channel', 'gather'] as const
const states = ['open', 'closed'] as const
const MAX_NOTE = 4_000
const MAX_CANNED = 4_000
const MAX_SPANS = 4
const MAX_CLOSED_DAYS = 200

const person = z.object({ user_id: id('usr'), name: z.string() })

export const Conversation = z
  .object({
    thread_id: id('thr').describe('Its messages are those of the chat thread with this id'),
    kind: z.enum(kinds).describe('embed, gather: with a visitor of a widget; channel: with a person in a channel'),
    title: z.string(),
    channel: z.string().nullable().describe('The vendor, if it is a conversation of a channel'),
    template_id: id('tmpl').nullable(),
    role: z.enum(['member', 'viewer']).describe('viewer: colleagues cannot take over, as in the widget of a workflow'),
    state: z.enum(states).describe('A new message of the person outside reopens a closed conversation'),
    assignee: person.nullable().describe('The colleague who takes care of it'),
    taken_over_by: person.nullable().describe('The colleague who talks with the person outside'),
    handover_at: timestamp()
      .nullable()
      .describe('When the person outside asked for a human; null after a colleague has joined'),
    handover_reason: z.string().nullable().describe('Why, in the words of the assistant'),
    waiting_since: timestamp()
      .nullable()
      .describe('Since when the person outside waits for a colleague; null if no answer is needed'),
    unread_count: z.int().describe('Messages of the person outside that the caller has not read'),
    last_message: z
      .object({
        message_id: id('msg'),
        role: z.enum(['user', 'assistant', 'visitor', 'system']),
        author_name: z.string().nullable().describe('Who wrote it, if that is known'),
        text: z.string().describe('Up to 300 characters'),
        created_at: jsonTimestamp(),
      })
      .nullable()
      .describe('The last words'),
    visit: z
      .object({
        page: z.object({ url: z.string(), title: z.string().optional() }).optional().describe('The page they are on'),
        locale: z.string().optional().describe('Their language'),
        time_zone: z.string().optional().describe('Their time zone'),
      })
      .nullable()
      .describe('Page, language and time zone of the visitor, from their last message'),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Conversation' })
export type Conversation = z.input<typeof Conversation>

export const ConversationPatch = z
  .strictObject({
    state: z
      .enum(states)
      .optional()
      .describe('closed: no answer is needed; a conversation that was taken over is handed back'),
    assignee_id: reference('usr').nullable().optional().describe('A person who may read it; null: not assigned'),
  })
  .meta({ id: 'ConversationPatch' })
export type ConversationPatch = z.output<typeof ConversationPatch>

export const ReadMark = z.strictObject({
  message_id: reference('msg').optional().describe('The last message that was read; the default is all messages'),
})

export const conversationList = defineList({
  id: 'thread_id',
  search: ['title'],
  sort: { created_at: 'id', updated_at: 'time', waiting_since: 'time' },
  present: ['updated_at'],
  order: '-updated_at',
  filters: {
    kind: anyOf(kinds),
    state: anyOf(states),
    template_id: anyId('tmpl', 'Only conversations with this template'),
    assignee_id: anyId('usr', 'Only those of this colleague, or one of several, separated by commas'),
    assigned: flag('Only assigned conversations, or only unassigned ones'),
    waiting: flag('Only conversations in which a person outside waits for a colleague, or only the others'),
    unread: flag('Only those with messages that the caller has not read, or only the others'),
  },
})
export const ConversationQuery = conversationList.query.extend({
  q: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .describe('Only those whose title or messages contain this text, ignoring case'),
})

const noteText = () => z.string().trim().min(1).max(MAX_NOTE).describe('The text of the message, as plain text')
export const Note = z
  .object({
    note_id: id('note'),
    thread_id: id('thr'),
    author_id: id('usr').nullable().describe('Null if the account of the person was deleted'),
    text: noteText(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'ConversationNote' })
export type Note = z.input<typeof Note>
export const NoteInput = z.strictObject({ text: noteText() }).meta({ id: 'ConversationNoteInput' })

export const noteList = defineList({
  id: 'note_id',
  search: ['text'],
  sort: { created_at: 'id', updated_at: 'time' },
  order: 'created_at',
})

const cannedText = () => z.string().trim().min(1).max(MAX_CANNED).describe('What is sent, as plain text')
export const CannedAnswer = z
  .object({
    answer_id: id('can'),
    name: z.string().describe('What colleagues find it by'),
    text: cannedText(),
    created_by: id('usr').nullable().describe('May change it, besides the owners of the workspace'),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'CannedAnswer' })
export type CannedAnswer = z.input<typeof CannedAnswer>
export const NewCannedAnswer = z.strictObject({ name: name(100), text: cannedText() }).meta({ id: 'NewCannedAnswer' })
export const CannedAnswerPatch = z
  .strictObject({ name: name(100).optional(), text: cannedText().optional() })
  .meta({ id: 'CannedAnswerPatch' })

export const cannedList = defineList({
  id: 'answer_id',
  search: ['name', 'text'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: 'name',
})

const clock = (last: string) =>
  z
    .string()
    .regex(
      last === '24:00' ? /^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/ : /^(?:[01]\d|2[0-3]):[0-5]\d$/,
      'must be a time such as 09:30',
    )
const span = z
  .strictObject({
    from: clock('23:59').meta({ examples: ['09:00'] }),
    to: clock('24:00').meta({ examples: ['17:30'] }),
  })
  .refine(({ from, to }) => minutesOf(from) < minutesOf(to), { path: ['to'], message: 'must be after from' })
const spans = (day: string) =>
  z
    .array(span)
    .max(MAX_SPANS)
    .refine(
      (given) =>
        given
          .toSorted((a, b) => minutesOf(a.from) - minutesOf(b.from))
          .every(({ from }, at, all) => at === 0 || minutesOf(from) >= minutesOf(all[at - 1]!.to)),
      'overlap',
    )
    .optional()
    .describe(`The times of a ${day}`)
const date = z
  .string()
  .refine(
    (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
    'must be a day such as 2026-12-25',
  )
  .meta({ examples: ['2026-12-25'] })

const Hours = z
  .strictObject({
    time_zone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'is not a time zone; give a name such as Europe/Berlin')
      .describe('The zone of the times, such as Europe/Berlin'),
    days: z
      .strictObject({
        mon: spans('Monday'),
        tue: spans('Tuesday'),
        wed: spans('Wednesday'),
        thu: spans('Thursday'),
        fri: spans('Friday'),
        sat: spans('Saturday'),
        sun: spans('Sunday'),
      })
      .describe('The times of each weekday; a day that is absent is closed'),
    closed_on: z.array(date).max(MAX_CLOSED_DAYS).optional().describe('Days without opening hours'),
  })
  .describe(
    'When people answer. Outside these hours, a visitor who asks for a person learns when a colleague will answer',
  )

export const OpeningHours = z
  .object({
    hours: Hours.nullable().describe('Null: the opening hours of the workspace, or none'),
    updated_at: timestamp().nullable(),
  })
  .meta({ id: 'OpeningHours' })
export type OpeningHours = z.input<typeof OpeningHours>
export const OpeningHoursInput = z
  .strictObject({ hours: Hours.nullable().describe('Null removes them') })
  .meta({ id: 'OpeningHoursInput' })
export type OpeningHoursInput = z.output<typeof OpeningHoursInput>
