import { z } from 'zod'
import { saysSomething, sentFiles, storableText } from '#areas/conversations/message-text'
import { languageTag, timeZone } from '#areas/requirements/schema'
import { anyId, anyOf, defineList } from '#platform/http/list'
import { email, id, jsonObject, name, page, reference, timestamp } from '#platform/http/schema'
import { SPEECH_TEXT_LIMIT } from '#providers/speech/index'

const kinds = ['thread', 'embed', 'channel', 'gather'] as const
const roles = ['owner', 'member', 'viewer'] as const
const role = z.enum(roles)
export type ThreadRole = z.output<typeof role>

export const Thread = z
  .object({
    thread_id: id('thr'),
    kind: z
      .enum(kinds)
      .describe(
        'thread: between people; embed, gather: with a visitor of a widget; channel: with a person in a channel',
      ),
    title: z.string(),
    /** The vendor, for a conversation in a channel. */
    channel: z.string().nullable(),
    template_id: id('tmpl').nullable(),
    /** The role of the caller. */
    role,
    taken_over_by: z
      .object({ user_id: id('usr'), name: z.string() })
      .nullable()
      .describe('The colleague who talks with the person outside; the assistant is silent'),
    handover_at: timestamp()
      .nullable()
      .describe(
        'When the visitor or sender asked for a person, or the assistant was not sure; null after a colleague took over',
      ),
    handover_reason: z.string().nullable().describe('Why, in the words of the assistant'),
    created_by: id('usr').nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'ChatThread' })
export type Thread = z.input<typeof Thread>

export const ThreadWithUsage = Thread.extend({
  usage: z
    .object({
      input_tokens: z.number(),
      output_tokens: z.number(),
      cost: z
        .number()
        .nullable()
        .describe('In US dollars, for the calls whose cost is known; null if no cost is known'),
      calls: z.number().int(),
      unpriced_calls: z.number().int().describe('Calls whose cost is not known'),
    })
    .describe('What language models counted for the conversation itself. Runs that it started have their own'),
}).meta({ id: 'ChatThreadWithUsage' })
export type ThreadWithUsage = z.input<typeof ThreadWithUsage>

const locale = languageTag.optional().describe('The language of the person, such as de-CH')

export const NewThread = z.strictObject({
  title: name(),
  template_id: reference('tmpl').nullable().optional(),
  locale,
})

export const threadList = defineList({
  id: 'thread_id',
  search: ['title'],
  sort: { created_at: 'id', updated_at: 'time', title: 'text' },
  present: ['updated_at'],
  order: '-created_at',
  filters: { kind: anyOf(kinds), template_id: anyId('tmpl', 'Only conversations with this template') },
})

export const threadMemberList = defineList({
  id: 'user_id',
  search: ['name', 'email'],
  sort: { user_id: 'id', created_at: 'time', name: 'text' },
  order: 'user_id',
  filters: { role: anyOf(roles) },
})

export const ThreadQuery = threadList.query.extend({
  with: z
    .enum(['colleagues', 'outside'])
    .default('colleagues')
    .describe('outside: conversations with visitors and channels that the caller may read'),
})
export type ThreadQuery = z.output<typeof ThreadQuery>

export const ThreadMember = z
  .object({ user_id: id('usr'), name: z.string(), email: z.string(), role, created_at: timestamp() })
  .meta({ id: 'ThreadMember' })
export type ThreadMember = z.input<typeof ThreadMember>

export const MemberPatch = z.strictObject({ role })
export const NewInvitation = z.strictObject({ email: email(), role: role.default('member') })

export const Invitation = z
  .object({
    invitation_id: id('ivt'),
    email: z.string(),
    role: z.string(),
    state: z.enum(['added', 'invited']),
    link: z.string().optional(),
    expires_at: timestamp().optional(),
  })
  .meta({ id: 'ThreadInvitation' })

const Form = z.object({ form_id: id('form'), title: z.string(), schema: z.unknown(), values: jsonObject() })

const ThreadMessage = z
  .object({
    message_id: id('msg'),
    role: z.enum(['user', 'assistant', 'visitor', 'system']),
    author: z.object({ user_id: id('usr').nullable(), name: z.string().nullable() }).nullable(),
    text: z.string(),
    audio_id: id('aud').nullable(),
    execution_id: id('exe').nullable(),
    citations: z
      .array(
        z.object({
          n: z.int().describe('The number in the text, such as [1]'),
          knowledge_id: id('kb'),
          document_id: id('doc'),
          title: z.string().describe('The name of the document'),
          url: z.string().nullable().describe('The page of the passage'),
          heading: z.array(z.string()).describe('The headings above the passage, outermost first'),
          from: z.int().describe('First character of the passage in the text of its document'),
          to: z.int().describe('The character after its last'),
          quote: z.string().optional().describe('The first 300 characters of the passage'),
        }),
      )
      .optional()
      .describe('The passages that the answer is taken from'),
    created_at: timestamp(),
  })
  .meta({ id: 'ThreadMessage' })

/** A message, and the immediate answers of the assistant. */
export const PostedMessage = ThreadMessage.extend({ answers: z.array(ThreadMessage), form: Form.nullable() }).meta({
  id: 'PostedThreadMessage',
})

/** Messages, oldest first. `form` is the form that is currently open. */
export const ThreadMessages = page(ThreadMessage).extend({ form: Form.nullable() }).meta({ id: 'ThreadMessages' })

export const NewMessage = z
  .strictObject({
    text: storableText.trim().describe('May be empty only if files are sent'),
    files: sentFiles.optional(),
    time_zone: timeZone.optional(),
    locale,
  })
  .refine(({ text, files }) => saysSomething({ message: text, files }), {
    path: ['text'],
    message: 'must not be empty',
  })
export const NewClipMessage = z.strictObject({
  text: storableText.trim().optional(),
  time_zone: timeZone.optional(),
  locale,
})

export const FormAction = z.strictObject({
  action: z.enum(['submit', 'cancel']),
  form_id: reference('form'),
  values: jsonObject().optional(),
})

export const Playback = z.object({ url: z.string(), expires_at: timestamp() }).meta({ id: 'Playback' })

export const SpeechRequest = z.strictObject({
  text: z.string().min(1).max(SPEECH_TEXT_LIMIT),
  voice: z.string().max(100).optional(),
  format: z.enum(['mp3', 'wav']).default('mp3'),
})

export const Transcript = z
  .object({ text: z.string(), language: z.string(), duration_s: z.number() })
  .meta({ id: 'Transcript' })
