import { makeExtract } from '#areas/requirements/extract'
import type { Engine } from '#engine/ports'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import { absentModel } from '#providers/llm/configured'
import type { LanguageModel } from '#providers/llm/index'
import { type CarryOutDependencies, type Deed, makeCarryOut } from './carry-out.ts'
import { makeNews } from './news.ts'
import { makePick } from './pick.ts'
import { emptyState, type OpenQuestion } from './state.ts'
import * as store from './store.ts'
import * as texts from './texts.ts'
import { nextStep } from './think.ts'
import { gatheredOf, makeTurns, offersOf } from './turns.ts'
import type { NewThread, Thread, Turn } from './types.ts'

export type ConversationDependencies = CarryOutDependencies & {
  db: Database
  log: Logger
  llm: LanguageModel
  engine(): Pick<Engine, 'nudge'>
  /** Counts executions that were started. */
  countStarted(workspaceId: string, count: number): void
}

export function makeConversations(dependencies: ConversationDependencies) {
  const { db, log, llm } = dependencies
  const carrying = makeCarryOut(dependencies)
  const news = makeNews({
    db,
    carrying,
    stillOpen: (tx, workspaceId, ids) => dependencies.questions().stillOpen(tx, workspaceId, ids),
  })
  const noModel = absentModel('')
  const turns = makeTurns({
    db,
    carrying,
    news,
    tools: { extract: makeExtract({ llm, log }), pick: makePick({ llm, log }) },
    rules: { extract: makeExtract({ llm: noModel, log }), pick: async () => undefined },
    thinksSlowly: () => llm.available() === null,
    afterCommit({ held, started, answered }: Deed): void {
      if (started.length > 0) dependencies.countStarted(held.workspace_id, started.length)
      if (started.length + answered.length > 0) dependencies.engine().nudge([...started, ...answered])
    },
  })

  async function openThread(tx: Tx, wanted: NewThread): Promise<Thread> {
    const { workspaceId } = wanted
    if (wanted.kind === 'channel') {
      const present = await store.findChannelThread(tx, workspaceId, wanted.configId, wanted.externalId)
      if (present) return present
    }
    const thread = await store.insertThread(tx, {
      workspace_id: workspaceId,
      thread_id: newId(),
      kind: wanted.kind,
      title: 'title' in wanted ? (wanted.title ?? null) : null,
      template_id: 'templateId' in wanted ? wanted.templateId : null,
      workflow_id: wanted.kind === 'gather' ? wanted.workflowId : null,
      visitor_id: 'visitorId' in wanted ? wanted.visitorId : null,
      config_id: wanted.kind === 'channel' ? wanted.configId : null,
      external_id: wanted.kind === 'channel' ? wanted.externalId : null,
      created_by: wanted.kind === 'thread' ? wanted.createdBy : null,
      state: emptyState,
    })
    // Somebody else opened the channel's conversation meanwhile, and their transaction has committed.
    if (!thread) return openThread(tx, wanted)
    await greet(tx, thread)
    return thread
  }

  /** In a channel nobody waits for a greeting: they wrote first. */
  async function greet(tx: Tx, thread: Thread): Promise<void> {
    if (thread.kind === 'channel') return
    const held: store.Held = { ...thread, state: emptyState, turn: 0, last_seq: 0 }
    const said = thread.kind === 'gather' ? await openGathering(tx, held) : await greetingOf(tx, held)
    if (said.length === 0) return
    await store.saveTurn(
      tx,
      held,
      said.map((text) => ({ role: 'assistant', text })),
    )
  }

  async function greetingOf(tx: Tx, { workspace_id, template_id }: Thread): Promise<string[]> {
    const voice = template_id === null ? undefined : await store.findVoice(tx, workspace_id, template_id)
    return voice ? [voice.greeting ?? texts.GREETING] : []
  }

  async function openGathering(tx: Tx, held: store.Held): Promise<string[]> {
    const [offer] = await store.offersOfWorkflow(tx, held.workspace_id, held.workflow_id!)
    if (!offer) throw problem('no_active_version', 'The owner of the workflow must activate a version.')
    const step = nextStep(offer, {}, [], false)
    if (step.kind !== 'gather') return []
    held.state = { ...held.state, gathering: { workflow_id: offer.workflow_id, values: {}, asked: step.asked } }
    return step.texts
  }

  return {
    openThread,
    findThread: store.findThread,
    findThreadOfRequest: store.findThreadOfRequest,
    ...turns,
    listMessages: (tx: Tx, workspaceId: string, threadId: string, page: { after: number; limit: number }) =>
      store.listMessages(tx, workspaceId, threadId, page.after, page.limit),
    openForm: store.openForm,
    /** The offers of a template, for its widget's suggestions. */
    offersOfTemplate: store.offersOfTemplate,
    offersOfWorkflow: store.offersOfWorkflow,
    seqOf: store.seqOf,

    /** The thread of an execution and what it asks of whoever talks there; undefined where no conversation started it. */
    async findOwnExecution(
      tx: Tx,
      workspaceId: string,
      executionId: string,
    ): Promise<{ thread: Thread; question: OpenQuestion | null } | undefined> {
      const own = await store.findExecution(tx, workspaceId, executionId)
      const held = own && (await store.readThread(tx, workspaceId, own.thread_id))
      if (!held) return undefined
      await news.dropClosed(tx, held)
      const question = held.state.questions.find(({ root_id }) => root_id === executionId) ?? null
      return { thread: held, question }
    },

    /** Where a conversation stands, without saying anything: its last words, and what was gathered. */
    async standing(
      tx: Tx,
      workspaceId: string,
      threadId: string,
      isTheirs?: (thread: Thread) => boolean,
    ): Promise<{ reply: string; execution_id: string | null; gathered: Turn['gathered'] }> {
      const held = await store.readThread(tx, workspaceId, threadId)
      if (!held || isTheirs?.(held) === false) throw problem('not_found')
      const last = await store.lastSaid(tx, workspaceId, threadId)
      return {
        reply: last?.text ?? '',
        execution_id: held.state.started?.execution_id ?? null,
        gathered: gatheredOf(held, await offersOf(tx, held)),
      }
    },

    onPosted: news.onPosted,
    questionAsked: news.questionAsked,
    gateOpened: news.gateOpened,
    executionEnded: news.executionEnded,
    settle: news.settle,
  }
}

export type ConversationService = ReturnType<typeof makeConversations>
