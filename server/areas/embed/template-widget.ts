import type { z } from 'zod'
import { phrasesIn } from '#areas/conversations/languages/index'
import type { ConversationService } from '#areas/conversations/service'
import type { Message, Turn } from '#areas/conversations/types'
import type { FileValue } from '#engine/files'
import type { JsonObject } from '#model/definition'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { decodeCursor, toPage } from '#platform/http/page'
import type { Exchange } from '#platform/http/route'
import type { ListQuery } from '#platform/http/schema'
import { fromWire, newId, UNKNOWN_ID } from '#platform/ids'
import type { Action, Chat, ChatAnswer, ofLocale } from './schema.ts'
import { type AudioParts, makeTemplateAudio } from './template-audio.ts'
import {
  credentialOf,
  messageOf,
  originOf,
  ownerOf,
  requestKeyOf,
  type SentFiles,
  takesAnyFiles,
  uploadOf,
  VISITOR,
  type VisitorConversations,
} from './visitor-conversations.ts'
import type { Visitors } from './visitors.ts'

// The widget of a chat template, embedded in another site.

type OfTemplate = { template_id: string }
type OfThread = OfTemplate & { thread_id: string }
const MAX_SUGGESTIONS = 6

export function makeTemplateWidget(
  options: {
    conversations: ConversationService
    visitorConversations: VisitorConversations
    visitors: Visitors
    files: SentFiles
  } & AudioParts,
) {
  const { conversations, templates, visitorConversations, visitors, files } = options
  const { offered, speak, transcribe } = makeTemplateAudio(options)

  return {
    answersAtOnce: conversations.answersAtOnce,

    async getTemplateConfig(ctx: Context, { template_id, locale }: OfTemplate & z.output<typeof ofLocale>) {
      const { workspace_id } = ctx.workspace
      const template = await templates.findTemplate(ctx.tx, workspace_id, template_id)
      if (!template) throw problem('not_found')
      const offers = await conversations.offersOfTemplate(ctx.tx, workspace_id, template_id)
      const credential = credentialOf(ctx)
      return {
        template_id,
        name: template.name,
        greeting: template.greeting ?? phrasesIn(locale ?? template.locale ?? undefined).greeting,
        theme: template.theme,
        features: offered(template.features),
        voice: template.voice,
        suggestions: offers.slice(0, MAX_SUGGESTIONS).map(({ name }) => name),
        takes_files: takesAnyFiles(offers),
        // A known visitor keeps the same id and gets a token for another day.
        visitor_token: visitors.mint(ownerOf(credential), credential.visitor_id ?? newId()),
      }
    },

    async upload(
      ctx: Context,
      { template_id, name }: OfTemplate & { name?: string | undefined },
      exchange: Exchange,
    ): Promise<FileValue> {
      const offers = await ctx.db.tenant(scopeOf(ctx), (tx) =>
        conversations.offersOfTemplate(tx, ctx.workspace.workspace_id, template_id),
      )
      return uploadOf(files, ctx, { name, offers }, exchange)
    },

    async chat(
      ctx: Context,
      { template_id, thread_id, message, files: fileIds, time_zone, page, locale }: OfTemplate & z.output<typeof Chat>,
      exchange: Exchange,
    ): Promise<z.input<typeof ChatAnswer>> {
      const visit = { ...(page && { page }), ...(locale !== undefined && { locale }) }
      const said = {
        ...(await messageOf(files, ctx, { text: message, fileIds, time_zone, visit }, exchange)),
        ...(exchange.stream && { stream: exchange.stream }),
      }
      if (thread_id !== undefined)
        return answerOf(
          await conversations.takeMessage({
            ...said,
            ...visitorConversations.named(ctx, fromWire('thr', thread_id) ?? UNKNOWN_ID),
          }),
        )
      const turn = await conversations.takeFirst({
        ...said,
        ...visitorConversations.begin(ctx, { kind: 'embed', templateId: template_id }),
      })
      return { ...answerOf(turn), ...visitorConversations.mintedFor(ctx, turn.thread) }
    },

    async act(
      ctx: Context,
      { thread_id, action, form_id, values }: OfThread & z.output<typeof Action>,
      exchange: Exchange,
    ): Promise<z.input<typeof ChatAnswer>> {
      const turn = await conversations.takeAction({
        ...visitorConversations.named(ctx, thread_id),
        author: VISITOR,
        origin: originOf(ctx),
        action,
        formId: form_id,
        ...requestKeyOf(ctx, exchange),
        ...(values !== undefined && { values: values as JsonObject }),
      })
      return answerOf(turn)
    },

    async history(
      ctx: Context,
      { thread_id, cursor, limit, after }: OfThread & ListQuery & { after?: string | undefined },
    ) {
      await visitorConversations.ownThread(ctx, thread_id)
      const { workspace_id } = ctx.workspace
      const known =
        after === undefined ? 0 : await conversations.seqOf(ctx.tx, workspace_id, thread_id, fromWire('msg', after))
      const key = decodeCursor(cursor, 1)
      const from = Math.max(known, typeof key?.[0] === 'number' ? key[0] : 0)
      const [rows, form, house] = await Promise.all([
        conversations.listMessages(ctx.tx, workspace_id, thread_id, { after: from, limit: limit + 1 }),
        conversations.openForm(ctx.tx, workspace_id, thread_id),
        conversations.findColleague(ctx.tx, workspace_id, thread_id),
      ])
      const naming = { names: house?.names === true, somebody: phrasesIn(house?.locale ?? undefined).aColleague }
      const { items, next_cursor } = toPage(rows, limit, ({ seq }) => [seq])
      return {
        items: items.map((message) => viewOf(message, naming)),
        next_cursor,
        colleague: house?.name ? colleagueOf(house.name, naming) : null,
        ...(form && { form }),
      }
    },

    async memory(ctx: Context, { template_id }: OfTemplate) {
      const summary = await conversations.readMemory(ctx.tx, visitorConversations.subject(ctx, template_id))
      return { summary }
    },

    async forget(ctx: Context, { template_id }: OfTemplate): Promise<void> {
      await conversations.forgetMemory(ctx.tx, visitorConversations.subject(ctx, template_id))
    },

    speak,
    transcribe,
  }
}

export type TemplateWidget = ReturnType<typeof makeTemplateWidget>

/** Whether visitors see the names of colleagues, and the name for a colleague without a name. */
type Naming = { names: boolean; somebody: string }

const colleagueOf = (name: string | null, { names, somebody }: Naming): string => (names ? name : null) ?? somebody

/** A colleague's message has the role of the assistant and the name of an author. */
const viewOf = ({ message_id, role, author_name, text, citations, created_at }: Message, naming: Naming) => ({
  message_id,
  role: role === 'user' ? ('assistant' as const) : role,
  ...(role === 'user' && { author: colleagueOf(author_name, naming) }),
  text,
  ...(citations &&
    citations.length > 0 && {
      citations: citations.map(({ n, title, url, heading, quote }) => ({
        n,
        title,
        url,
        heading,
        ...(quote !== undefined && { quote }),
      })),
    }),
  created_at,
})

/** A turn never contains a message of a colleague. */
const ANSWERING: Naming = { names: false, somebody: phrasesIn(undefined).aColleague }

const answerOf = (turn: Turn) => ({
  thread_id: turn.thread.thread_id,
  messages: turn.messages.map((message) => viewOf(message, ANSWERING)),
  ...(turn.form && { form: turn.form }),
  ...(turn.execution_id !== null && { execution_id: turn.execution_id }),
})
