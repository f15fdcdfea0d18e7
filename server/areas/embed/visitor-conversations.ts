import { createHash } from 'node:crypto'
import type { TakeFilesIn } from '#areas/conversations/conversation-actions'
import { takesFiles } from '#areas/conversations/files'
import type { ConversationService } from '#areas/conversations/service'
import type { OpenQuestion, Visit } from '#areas/conversations/state'
import type { Thread, Within } from '#areas/conversations/types'
import type { ShownResults } from '#areas/conversations/updates'
import type { SimpleExecution } from '#areas/executions/schema'
import { sendStoredJson } from '#areas/executions/send-json'
import { idempotencyOf } from '#areas/executions/start'
import type { Views } from '#areas/executions/view'
import { requirementsOf } from '#areas/requirements/extract'
import type { FileValue } from '#engine/files'
import type { Engine, ExecutionView } from '#engine/ports'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, type Credential, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { discardRest } from '#platform/http/upload'
import { newId, toWire } from '#platform/ids'
import type { Visitors } from './visitors.ts'

// The code that both kinds of widgets share: it identifies visitors and restricts them to their own data.

export type EmbedCredential = Extract<Credential, { kind: 'embed' }>

type NewConversation = ({ kind: 'embed'; templateId: string } | { kind: 'gather'; workflowId: string }) & {
  visit?: Visit
}

/** The transaction of the request, if it has one. */
const withinOf = (ctx: Context): { within?: Within } => (ctx.maybeTx === null ? {} : { within: ctx })

export const VISITOR = { kind: 'visitor' as const }

export const credentialOf = (ctx: Context): EmbedCredential => {
  if (ctx.credential.kind !== 'embed') throw problem('unauthenticated')
  return ctx.credential
}

export const ownerOf = ({ template_id, workflow_id }: EmbedCredential): string => (template_id ?? workflow_id)!

function requireVisitor(ctx: Context): string {
  const { visitor_id } = credentialOf(ctx)
  if (visitor_id === null)
    throw problem('visitor_token_required', 'Read the config again, and send its visitor_token as X-Visitor-Token.')
  return visitor_id
}

export const originOf = (ctx: Context) => ({ kind: 'embed' as const, id: toWire('emb', credentialOf(ctx).id) })

/** Returns the key by which the stored turn of a repeated request is found, if the client sent an idempotency key. */
export function requestKeyOf(ctx: Context, { request }: Exchange): { requestKey?: Buffer } {
  const key = idempotencyOf(ctx, request.rawBody)
  if (!key) return {}
  const hash = createHash('sha256').update(key.credentialHash).update(key.keyHash).update(key.bodySha256)
  return { requestKey: hash.update(request.url).digest() }
}

/** Files that visitors send. */
export type SentFiles = {
  take: TakeFilesIn
  given(tx: Tx, workspaceId: string, ids: string[], giver: { userId: null; senderId: string }): Promise<FileValue[]>
  upload(ctx: Context, input: { name?: string | undefined; visitorId: string }, exchange: Exchange): Promise<FileValue>
}

export const takesAnyFiles = (offers: { inputs: Json | null }[]): boolean =>
  offers.some(({ inputs }) => takesFiles(requirementsOf(inputs ?? true)))

/** Stores a file of a visitor. Refused if none of the offered workflows accepts files. */
export async function uploadOf(
  files: SentFiles,
  ctx: Context,
  { name, offers }: { name?: string | undefined; offers: { inputs: Json | null }[] },
  exchange: Exchange,
): Promise<FileValue> {
  const visitorId = requireVisitor(ctx)
  if (!takesAnyFiles(offers)) {
    discardRest(exchange)
    throw problem('forbidden', 'No workflow that is offered here accepts files.')
  }
  return files.upload(ctx, { name, visitorId }, exchange)
}

/** Returns the files that a message names. The visitor must have uploaded them. */
async function filesOf(files: SentFiles, ctx: Context, ids: string[] = []): Promise<{ files?: FileValue[] }> {
  if (ids.length === 0) return {}
  const giver = { userId: null, senderId: requireVisitor(ctx) }
  const find = (tx: Tx): Promise<FileValue[]> => files.given(tx, ctx.workspace.workspace_id, ids, giver)
  return { files: await (ctx.maybeTx === null ? ctx.db.tenant(scopeOf(ctx), find) : find(ctx.tx)) }
}

type Sent = { text: string; fileIds: string[] | undefined; time_zone: string | undefined; visit?: Visit }

/** Builds a visitor's message, with the files that the visitor has uploaded before. */
export async function messageOf(
  files: SentFiles,
  ctx: Context,
  { text, fileIds, time_zone, visit }: Sent,
  exchange: Exchange,
) {
  return {
    author: VISITOR,
    origin: originOf(ctx),
    text,
    ...(await filesOf(files, ctx, fileIds)),
    ...requestKeyOf(ctx, exchange),
    ...(time_zone !== undefined && { timeZone: time_zone }),
    ...(visit && { visit }),
    signal: ctx.stepAside(),
  }
}

export function makeVisitorConversations(options: {
  conversations: ConversationService
  visitors: Visitors
  engine(): Pick<Engine, 'readExecution'>
  views(): Views
  resultsWithUrls: ShownResults
}) {
  const { conversations, visitors } = options

  const isTheirs = (ctx: Context, thread: Thread | undefined, visitorId: string): thread is Thread => {
    const credential = credentialOf(ctx)
    if (!thread || thread.visitor_id !== visitorId) return false
    return credential.template_id !== null
      ? thread.kind === 'embed' && thread.template_id === credential.template_id
      : thread.kind === 'gather' && thread.workflow_id === credential.workflow_id
  }

  async function ownThread(ctx: Context, threadId: string): Promise<Thread> {
    const visitorId = requireVisitor(ctx)
    const thread = await conversations.findThread(ctx.tx, ctx.workspace.workspace_id, threadId)
    if (!isTheirs(ctx, thread, visitorId)) throw problem('not_found')
    return thread
  }

  async function ownExecution(
    ctx: Context,
    executionId: string,
  ): Promise<{ thread: Thread; question: OpenQuestion | null; told: boolean }> {
    const visitorId = requireVisitor(ctx)
    const found = await ctx.db.tenant(scopeOf(ctx), (tx) =>
      conversations.findOwnExecution(tx, ctx.workspace.workspace_id, executionId),
    )
    if (!found || !isTheirs(ctx, found.thread, visitorId)) throw problem('not_found')
    return found
  }

  async function readView(ctx: Context, executionId: string): Promise<ExecutionView> {
    const view = await options.engine().readExecution(ctx.workspace.workspace_id, executionId)
    if (!view) throw problem('not_found')
    return view
  }

  return {
    ownThread,

    /** The visitor, as identified in the memory of an assistant. */
    subject: (ctx: Context, templateId: string) => ({
      workspace_id: ctx.workspace.workspace_id,
      template_id: templateId,
      kind: 'embed' as const,
      visitor_id: requireVisitor(ctx),
      config_id: null,
      external_id: null,
    }),

    /**
     * A thread that the visitor names. Its owner is checked when the thread is locked; another visitor's thread is not
     * found.
     */
    named(ctx: Context, threadId: string) {
      const visitorId = requireVisitor(ctx)
      return {
        workspaceId: ctx.workspace.workspace_id,
        threadId,
        ...withinOf(ctx),
        isTheirs: (thread: Thread): boolean => isTheirs(ctx, thread, visitorId),
      }
    },

    /**
     * A conversation that starts with a message. If the response to an earlier delivery of the message was lost, this
     * is the conversation and the visitor that the earlier delivery created.
     */
    begin(ctx: Context, of: NewConversation) {
      const credential = credentialOf(ctx)
      const { workspace_id: workspaceId } = ctx.workspace
      const visitorId = credential.visitor_id ?? newId()
      return {
        workspaceId,
        ...withinOf(ctx),
        open: { ...of, workspaceId, visitorId },
        isTheirs: (thread: Thread): boolean =>
          isTheirs(ctx, thread, credential.visitor_id ?? thread.visitor_id ?? visitorId),
      }
    },

    /** Returns a token for a visitor who had none. */
    mintedFor(ctx: Context, { visitor_id }: Pick<Thread, 'visitor_id'>): { visitor_token?: string } {
      const credential = credentialOf(ctx)
      if (credential.visitor_id !== null || visitor_id === null) return {}
      return { visitor_token: visitors.mint(ownerOf(credential), visitor_id) }
    },

    /** `under`: the base path of executions, for the address of results that are too large for the response. */
    async status(ctx: Context, { execution_id }: { execution_id: string }, under: string): Promise<SimpleExecution> {
      const { question, told } = await ownExecution(ctx, execution_id)
      const view = await readView(ctx, execution_id)
      if (!told) await conversations.settle(view)
      const simple = await options.views().simple(view, `${under}/${toWire('exe', execution_id)}/results`)
      const run = { workspaceId: ctx.workspace.workspace_id, executionId: execution_id }
      const results =
        simple.results === null || simple.results === undefined
          ? simple.results
          : await ctx.db.tenant(scopeOf(ctx), (tx) => options.resultsWithUrls(tx, run, simple.results as Json))
      return {
        ...simple,
        results,
        // Only a question that the visitor may answer. Questions for colleagues are hidden from visitors.
        question: question && {
          clarification_id: toWire('clr', question.clarification_id),
          question: question.question,
          schema: question.schema,
        },
      }
    },

    async results(ctx: Context, { execution_id }: { execution_id: string }, exchange: Exchange): Promise<void> {
      await ownExecution(ctx, execution_id)
      await sendStoredJson(exchange, await options.views().results(await readView(ctx, execution_id)))
    },

    mayRespond: (ctx: Context, { execution_id }: { execution_id: string }): Promise<unknown> =>
      ownExecution(ctx, execution_id),

    async respond(
      ctx: Context,
      input: { execution_id: string; response: unknown; clarification_id?: string | undefined },
    ): Promise<{ execution_id: string; clarification_id: string; status: 'answered' }> {
      const { thread } = await ownExecution(ctx, input.execution_id)
      const { clarification_id } = await conversations.respond({
        workspaceId: ctx.workspace.workspace_id,
        threadId: thread.thread_id,
        author: VISITOR,
        origin: originOf(ctx),
        executionId: input.execution_id,
        clarificationId: input.clarification_id,
        response: input.response as Json,
      })
      return { execution_id: input.execution_id, clarification_id, status: 'answered' }
    },
  }
}

export type VisitorConversations = ReturnType<typeof makeVisitorConversations>
