import { z } from 'zod'
import { messageText, saysSomething, sentFiles, storableText } from '#areas/conversations/message-text'
import { languageTag, timeZone } from '#areas/requirements/schema'
import { Features } from '#areas/templates/schema'
import { id, jsonObject, reference, timestamp } from '#platform/http/schema'
import { SPEECH_TEXT_LIMIT } from '#providers/speech/index'

const WidgetMessage = z
  .object({
    message_id: id('msg'),
    role: z.enum(['assistant', 'visitor', 'system']),
    author: z.string().optional().describe('The colleague who wrote it in place of the assistant'),
    text: z.string().describe('Plain text; never markup'),
    citations: z
      .array(
        z.object({
          n: z.int().describe('The number in the text, such as [1]'),
          title: z.string().describe('The name of the document'),
          url: z.string().nullable().describe('The page of the passage'),
          heading: z.array(z.string()).describe('The headings above the passage, outermost first'),
          quote: z.string().optional().describe('The first 300 characters of the passage'),
        }),
      )
      .optional()
      .describe('The documents that the answer is taken from'),
    created_at: timestamp(),
  })
  .meta({ id: 'WidgetMessage' })

const WidgetForm = z
  .object({
    form_id: id('form'),
    title: z.string(),
    schema: z.unknown().describe('JSON Schema of an object'),
    values: jsonObject(),
  })
  .meta({ id: 'WidgetForm' })

export const TemplateConfig = z
  .object({
    template_id: id('tmpl'),
    name: z.string(),
    greeting: z.string(),
    theme: jsonObject(),
    features: Features,
    voice: z.string().nullable(),
    suggestions: z.array(z.string()),
    takes_files: z.boolean().describe('Whether an offered workflow accepts files'),
    visitor_token: z.string(),
  })
  .meta({ id: 'WidgetConfig' })

export const WorkflowConfig = z
  .object({
    workflow_id: id('wf'),
    name: z.string(),
    description: z.string().nullable(),
    greeting: z.string(),
    theme: jsonObject(),
    features: Features,
    voice: z.string().nullable(),
    suggestions: z.array(z.string()),
    takes_files: z.boolean().describe('Whether an offered workflow accepts files'),
    visitor_token: z.string(),
  })
  .meta({ id: 'WorkflowWidgetConfig' })

const locale = languageTag.optional().describe('The language of the visitor, such as de-CH')

export const ofLocale = z.object({ locale })

const page = z.strictObject({
  url: z.string().max(2000).describe('Its address'),
  title: z.string().max(300).optional().describe('Its title'),
})

export const Chat = z
  .strictObject({
    thread_id: z.string().max(200).optional().describe('Absent: a new conversation'),
    message: storableText.default('').describe('May be empty only if files are sent'),
    files: sentFiles.optional(),
    time_zone: timeZone.optional(),
    page: page.optional().describe('The page that the visitor is on; workflows and the assistant can read it'),
    locale,
  })
  .refine(saysSomething, { path: ['message'], message: 'must not be empty' })

export const Memory = z
  .object({ summary: z.string().nullable().describe('What the assistant remembers of earlier conversations') })
  .meta({ id: 'AssistantMemory' })

export const ChatAnswer = z
  .object({
    thread_id: id('thr'),
    messages: z.array(WidgetMessage).describe('What the assistant answers'),
    form: WidgetForm.optional(),
    execution_id: id('exe').optional(),
    visitor_token: z
      .string()
      .optional()
      .describe('Present if the request had none: send it as X-Visitor-Token from now on'),
  })
  .meta({ id: 'ChatAnswer' })

export const Action = z.strictObject({
  action: z.enum(['submit', 'cancel']),
  form_id: reference('form'),
  values: jsonObject().optional(),
})
export const ActionAnswer = ChatAnswer.omit({ visitor_token: true }).meta({ id: 'FormActionAnswer' })

export const History = z
  .object({
    items: z.array(WidgetMessage),
    next_cursor: z.string().nullable(),
    colleague: z.string().nullable().describe('Who talks with the visitor now, in place of the assistant'),
    form: WidgetForm.optional(),
  })
  .meta({ id: 'WidgetHistory' })

export const Speak = z.strictObject({
  text: z.string().min(1).max(SPEECH_TEXT_LIMIT),
  voice: z.string().max(100).optional(),
  format: z.literal('mp3').optional(),
})
export const Heard = z
  .object({ text: z.string(), language: z.string(), duration_s: z.number() })
  .meta({ id: 'WidgetTranscript' })

export const Gather = z.strictObject({
  conversation_id: z.string().max(200).optional(),
  message: messageText.optional(),
  files: sentFiles.optional(),
  time_zone: timeZone.optional(),
  locale,
})
export const Gathered = z
  .object({
    conversation_id: id('conv'),
    reply: z.string(),
    values: jsonObject(),
    missing: z.array(z.string()),
    complete: z.boolean().describe('All inputs were given, and the execution has been started'),
    execution_id: id('exe').optional(),
    visitor_token: z.string().optional(),
  })
  .meta({ id: 'Gathered' })
