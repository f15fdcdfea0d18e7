import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { readAudio } from '#areas/conversations/audio'
import type { Author, Conversations, Message, Origin, Turn } from '#areas/conversations/types'
import { orgBaseUrl } from '#areas/identity/links'
import { usageOfThread } from '#areas/insights/usage'
import { type Allowances, countListening } from '#areas/payments/allowances'
import type { FileValue } from '#engine/files'
import { isObject } from '#model/json'
import type { FindAccessLevel } from '#platform/access/check'
import type { Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import { parseJson } from '#platform/http/body'
import { type Context, scopeOf } from '#platform/http/context'
import { parse } from '#platform/http/input'
import type { ListInput } from '#platform/http/list'
import type { Exchange } from '#platform/http/route'
import { toWire } from '#platform/ids'
import type { Clips } from './clips.ts'
import type { Reader } from './outside.ts'
import type { Playback } from './playback.ts'
import {
  type FormAction,
  NewClipMessage,
  NewMessage,
  type NewThread,
  type SpeechRequest,
  type Thread,
  type ThreadQuery,
  type ThreadWithUsage,
} from './schema.ts'
import { isForm, readForm, type ThreadSpeech } from './speech.ts'
import * as store from './store.ts'

type ById = { thread_id: string }
type Said = {
  text: string | undefined
  time_zone: string | undefined
  locale: string | undefined
  files?: string[] | undefined
  audio: Buffer | undefined
}

/** Throws `unknown_reference` for a file that the person has not uploaded. */
export type FilesGiven = (tx: Tx, workspaceId: string, ids: string[], giver: { userId: string }) => Promise<FileValue[]>

const readerOf = (ctx: Context): Reader => ({ user_id: ctx.person.user_id, role: ctx.workspace.role })

/** Colleagues who are not in a thread cannot know that it exists. */
export const accessLevelInThread: FindAccessLevel = async (ctx, threadId) => {
  if (ctx.maybeWorkspace === null) return undefined
  return (await store.findThread(ctx.tx, ctx.workspace.workspace_id, readerOf(ctx), threadId))?.role
}

type ThreadDeps = {
  conversations: Conversations
  speech: ThreadSpeech
  allowances: Allowances
  clips: Clips
  playback: Playback
  filesGiven: FilesGiven
}

export function makeThreads(deps: ThreadDeps) {
  const { conversations, speech, clips, playback, allowances, filesGiven } = deps

  const getThread = async (ctx: Context, { thread_id }: ById): Promise<Thread> => {
    const thread = await store.findThread(ctx.tx, ctx.workspace.workspace_id, readerOf(ctx), thread_id)
    if (!thread) throw problem('not_found')
    return thread
  }

  return {
    getThread,

    async getThreadWithUsage(ctx: Context, { thread_id }: ById): Promise<ThreadWithUsage> {
      const thread = await getThread(ctx, { thread_id })
      return { ...thread, usage: await usageOfThread(ctx.tx, ctx.workspace.workspace_id, thread_id) }
    },

    async listThreads(ctx: Context, { with: whom, ...asked }: ThreadQuery) {
      const { workspace_id } = ctx.workspace
      return whom === 'outside'
        ? store.listOutside(ctx.tx, workspace_id, readerOf(ctx), asked)
        : store.listThreads(ctx.tx, workspace_id, ctx.person.user_id, asked)
    },

    async createThread(ctx: Context, input: z.output<typeof NewThread>): Promise<Thread> {
      const { workspace_id } = ctx.workspace
      const templateId = input.template_id ?? null
      if (templateId !== null && !(await store.templateExists(ctx.tx, workspace_id, templateId)))
        throw unknownReference('/template_id')
      const { thread_id } = await conversations.openThread(ctx.tx, {
        workspaceId: workspace_id,
        kind: 'thread',
        title: input.title,
        templateId,
        createdBy: ctx.person.user_id,
        ...(input.locale !== undefined && { visit: { locale: input.locale } }),
      })
      await store.addMember(ctx.tx, workspace_id, thread_id, ctx.person.user_id, 'owner')
      return getThread(ctx, { thread_id })
    },

    async listMessages(ctx: Context, { thread_id, ...asked }: ById & ListInput) {
      const { workspace_id } = ctx.workspace
      const { items, next_cursor } = await conversations.searchMessages(ctx.tx, workspace_id, thread_id, asked)
      const form = await conversations.openForm(ctx.tx, workspace_id, thread_id)
      return { items: items.map(shown), next_cursor, form: form && formOf(form) }
    },

    /** Accepts JSON, or a form with a clip. A clip without text is transcribed, so that others can read it. */
    async postMessage(ctx: Context, { thread_id, body }: ById & { body: Buffer }, { request, stream }: Exchange) {
      const said = await readSaid(ctx, request, body)
      const { audio } = said
      if (await isOutside(deps, ctx, thread_id)) return speakUp(deps, ctx, thread_id, said, body)
      const files = await ctx.db.tenant(scopeOf(ctx), (tx) =>
        filesGiven(tx, ctx.workspace.workspace_id, said.files ?? [], { userId: ctx.person.user_id }),
      )
      const audioId = audio && (await clips.keep(ctx, thread_id, audio))
      try {
        const text = said.text || (audio ? await transcribe(deps, ctx, audio) : '')
        const turn = await conversations.takeMessage({
          ...incoming(ctx, thread_id, body),
          text,
          ...(files.length > 0 && { files }),
          ...(audioId !== undefined && { audioId }),
          ...(said.time_zone !== undefined && { timeZone: said.time_zone }),
          ...(said.locale !== undefined && { visit: { locale: said.locale } }),
          ...(stream && { stream }),
        })
        if (audioId !== undefined) await clips.attach(ctx, audioId, turn.message.message_id)
        return posted(turn)
      } catch (error) {
        if (audioId !== undefined) await clips.drop(ctx, audioId)
        throw error
      }
    },

    async takeOver(ctx: Context, { thread_id }: ById): Promise<Thread> {
      refuseUnreachable(await getThread(ctx, { thread_id }))
      await conversations.takeOver(ctx.tx, { ...placeOf(ctx, thread_id), person: ctx.person })
      return getThread(ctx, { thread_id })
    },

    async handBack(ctx: Context, { thread_id }: ById): Promise<Thread> {
      await conversations.handBack(ctx.tx, placeOf(ctx, thread_id))
      return getThread(ctx, { thread_id })
    },

    async actOnForm(ctx: Context, { thread_id, ...action }: ById & z.output<typeof FormAction>) {
      if (await isOutside(deps, ctx, thread_id))
        throw problem('forbidden', 'The form is for the person outside; hand the conversation back to let them use it.')
      const turn = await conversations.takeAction({
        ...incoming(ctx, thread_id, Buffer.from(JSON.stringify(action))),
        action: action.action,
        formId: action.form_id,
        ...(action.values !== undefined && { values: action.values as never }),
      })
      return posted(turn)
    },

    async getAudio(ctx: Context, { thread_id, audio_id }: ById & { audio_id: string }) {
      const { workspace_id } = ctx.workspace
      const clip = await store.findClip(ctx.tx, workspace_id, audio_id)
      // A clip of another thread is not found, like a random id.
      if (clip?.thread_id !== thread_id) throw problem('not_found')
      const { path, expires_at } = playback.sign({ workspaceId: workspace_id, audioId: audio_id })
      return { url: (await orgBaseUrl(ctx, ctx.tx)) + path, expires_at }
    },

    async speak(ctx: Context, input: ById & z.output<typeof SpeechRequest>, { reply }: Exchange): Promise<void> {
      const { text, voice, format } = input
      await allowances.spend(ctx.workspace.workspace_id, 'speech_characters_per_minute', text.length)
      const spoken = await speech.speak({
        text,
        format,
        workspaceId: ctx.workspace.workspace_id,
        signal: ctx.stepAside(),
        ...(voice !== undefined && { voice }),
      })
      reply
        .headers({
          'content-type': spoken.contentType,
          'cache-control': 'no-store',
          'content-disposition': 'attachment',
        })
        .send(spoken.bytes)
    },

    async transcribe(ctx: Context, { body }: ById & { body: Buffer }, { request }: Exchange) {
      const bytes = await readAudio(body, request.headers['content-type'])
      return listen(deps, ctx, bytes)
    },
  }
}

export type Threads = ReturnType<typeof makeThreads>

function isOutside({ conversations }: ThreadDeps, ctx: Context, threadId: string): Promise<boolean> {
  return ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const thread = await conversations.findThread(tx, ctx.workspace.workspace_id, threadId)
    return thread !== undefined && thread.kind !== 'thread'
  })
}

async function speakUp(
  { conversations }: ThreadDeps,
  ctx: Context,
  threadId: string,
  { text, audio, files }: Said,
  body: Buffer,
) {
  if (files) throw invalid([{ path: '/files', message: 'cannot be sent outside; send the address of a file' }])
  if (audio || !text)
    throw invalid([{ path: '/audio', message: 'cannot be heard outside; write what you want to say' }])
  const message = await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const thread = await store.findThread(tx, ctx.workspace.workspace_id, readerOf(ctx), threadId)
    if (!thread) throw problem('not_found')
    refuseUnreachable(thread)
    return conversations.speakUp(tx, { ...incoming(ctx, threadId, body), person: ctx.person, text })
  })
  return { ...shown(message), answers: [], form: null }
}

function listen({ allowances, speech }: ThreadDeps, ctx: Context, bytes: Buffer) {
  const { workspace_id } = ctx.workspace
  const clip = { bytes, workspaceId: workspace_id, signal: ctx.stepAside() }
  return countListening(allowances, workspace_id, {
    inspect: () => speech.inspect(clip),
    listen: () => speech.listen(clip),
  })
}

/** Transcribes a clip. Silence gives an empty text. */
async function transcribe(deps: ThreadDeps, ctx: Context, bytes: Buffer): Promise<string> {
  try {
    return (await listen(deps, ctx, bytes)).text
  } catch (error) {
    if ((error as { code?: string }).code === 'audio_silent') return ''
    throw error
  }
}

async function readSaid(ctx: Context, request: FastifyRequest, body: Buffer): Promise<Said> {
  const { config } = ctx
  const contentType = request.headers['content-type']
  if (isForm(contentType)) {
    const { fields, audio } = await readForm(body, contentType!)
    const schema = audio === undefined ? NewMessage : NewClipMessage
    const { text, time_zone, locale } = parse(schema, fields) as { text?: string; time_zone?: string; locale?: string }
    return { text, time_zone, locale, audio }
  }
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(contentType ?? 'application/json'))
    throw problem('unsupported_media_type', 'Send JSON, or multipart/form-data with the clip as "audio".')
  if (body.length > config.HEDDLE_MAX_JSON_BYTES)
    throw problem('too_large', 'Send less, or raise the limit in the settings.')
  const given = parseJson(body, config.HEDDLE_MAX_JSON_DEPTH)
  if (!isObject(given)) throw invalid([{ path: '', message: 'must be a JSON object' }])
  const { text, files, time_zone, locale } = parse(NewMessage, given) as z.output<typeof NewMessage>
  return { text, files, time_zone, locale, audio: undefined }
}

/** Refuses messages to a person who can no longer read them. */
function refuseUnreachable({ kind, template_id, channel }: Thread): void {
  if ((kind === 'embed' && template_id === null) || (kind === 'channel' && channel === null))
    throw problem('conflict', 'The person cannot be reached any more: the template or channel was deleted.')
}

const placeOf = (ctx: Context, threadId: string) => ({ workspaceId: ctx.workspace.workspace_id, threadId })

/** Builds the message. A request repeated with its idempotency key after a crash finds the message it already wrote. */
function incoming(ctx: Context, threadId: string, body: Buffer) {
  const { user_id, name } = ctx.person
  const author: Author = { kind: 'person', userId: user_id, name }
  const origin: Origin = { kind: 'user', id: toWire('usr', user_id) }
  const key = ctx.idempotencyKey
  return {
    workspaceId: ctx.workspace.workspace_id,
    threadId,
    author,
    origin,
    signal: ctx.stepAside(),
    ...(key !== null && {
      requestKey: createHash('sha256').update(`${threadId}\n${user_id}\n${key}\n`).update(body).digest(),
    }),
  }
}

const shown = ({ author_id, author_name, ...message }: Message) => ({
  message_id: message.message_id,
  role: message.role,
  author: author_id === null && author_name === null ? null : { user_id: author_id, name: author_name },
  text: message.text,
  audio_id: message.audio_id,
  execution_id: message.execution_id,
  ...(message.citations && message.citations.length > 0 && { citations: message.citations }),
  created_at: message.created_at,
})

const formOf = ({ form_id, title, schema, values }: NonNullable<Turn['form']>) => ({ form_id, title, schema, values })

const posted = ({ message, messages, form }: Turn) => ({
  ...shown(message),
  answers: messages.map(shown),
  form: form && formOf(form),
})
