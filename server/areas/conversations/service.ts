import type { Questions } from '#areas/approvals/questions'
import { extractByRulesAlone, makeExtract } from '#areas/requirements/extract'
import type { ChooseModel } from '#engine/credentials'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Logger } from '#platform/log'
import { makeAgent } from './agent/agent.ts'
import { makeDrafts } from './agent/drafts.ts'
import { summarize } from './agent/memory.ts'
import { findMemory, forgetMemory, type Place } from './agent/memory-store.ts'
import type { AgentPorts } from './agent/types.ts'
import { type ActionDependencies, makeConversationActions } from './conversation-actions.ts'
import type { Tools } from './decide.ts'
import { openForm } from './form-store.ts'
import { lastMessage, listMessages, saveTurn, searchMessages, seqOf } from './message-store.ts'
import { offersOfTemplate, offersOfWorkflow, readThreadContext, threadContextOf } from './offer-store.ts'
import { greet, threadOf } from './opening.ts'
import type { PendingTurn } from './pending-turn.ts'
import { makePick } from './pick.ts'
import type { OpenQuestion } from './state.ts'
import { makeTakeover } from './takeover.ts'
import { findChannelThread, findColleague, findThread, insertThread, readThread, readThreadOf } from './thread-store.ts'
import { gatheredOf } from './turn-parts.ts'
import { makeTurns } from './turns.ts'
import type { NewThread, Thread, Turn } from './types.ts'
import { makeUpdates, type ShownResults } from './updates.ts'

export type ConversationDependencies = ActionDependencies & {
  db: Database
  log: Logger
  chooseModel: ChooseModel
  /** False if no model is configured anywhere. Then rules read all messages. */
  hasModel(): boolean
  /** Counts started executions. */
  countStarted(workspaceId: string, count: number): void
  shownResults: ShownResults
  /** The maximum time that an assistant waits for a workflow that it started. */
  toolWaitMs: number
  /** The functions of other areas that assistants use. */
  agentPorts: AgentPorts
}

export function makeConversations(dependencies: ConversationDependencies) {
  const { db, log, chooseModel, hasModel } = dependencies
  const actions = makeConversationActions(dependencies)
  const updates = makeUpdates({
    db,
    actions,
    stillOpen: (tx, workspaceId, ids) => dependencies.questions().stillOpen(tx, workspaceId, ids),
    shownResults: dependencies.shownResults,
  })
  const rules: Tools = { extract: extractByRulesAlone, pick: async () => undefined }
  const isForPerson: Questions['isForPerson'] = (...asked) => dependencies.questions().isForPerson(...asked)
  const remembering = new Set<Promise<unknown>>()
  const agent = makeAgent({
    drafts: makeDrafts(db),
    db,
    log,
    chooseModel,
    actions,
    updates,
    rules,
    isForPerson,
    ports: dependencies.agentPorts,
    shownResults: dependencies.shownResults,
    toolWaitMs: dependencies.toolWaitMs,
    countStarted: dependencies.countStarted,
    onAnswered({ thread }, llm): void {
      const one = summarize(db, llm, thread, agent.stopping)
        .catch((error: unknown) =>
          log.warn({ err: error }, 'a conversation could not be summarised; it is tried again'),
        )
        .finally(() => remembering.delete(one))
      remembering.add(one)
    },
  })
  const turns = makeTurns({
    db,
    actions,
    updates,
    agent,
    tools: { extract: makeExtract({ chooseModel, log }), pick: makePick({ chooseModel, log }) },
    rules,
    isForPerson,
    usesModel: hasModel,
    afterCommit({ thread, started }: PendingTurn): void {
      if (started > 0) dependencies.countStarted(thread.workspace_id, started)
    },
  })

  const takeover = makeTakeover({ actions, updates })

  async function openThread(tx: Tx, wanted: NewThread): Promise<Thread> {
    const thread = threadOf(wanted)
    if (wanted.kind === 'channel') {
      const find = () => findChannelThread(tx, wanted.workspaceId, wanted.configId, wanted.externalId)
      const present = await find()
      if (present) return present
      if ((await insertThread(tx, thread)) === 1) return thread
      // Another request has opened the thread in the meantime and has committed.
      return (await find()) ?? openThread(tx, wanted)
    }
    await saveTurn(tx, thread, greet(thread, await threadContextOf(tx, wanted.workspaceId, thread)), true)
    return thread
  }

  return {
    openThread,
    findThread,
    ...turns,
    ...takeover,
    findColleague,
    /** Returns true if a turn needs no model and can be part of a request's transaction. */
    answersAtOnce: (): boolean => !hasModel(),
    searchMessages,
    listMessages: (tx: Tx, workspaceId: string, threadId: string, page: { after: number; limit: number }) =>
      listMessages(tx, workspaceId, threadId, page.after, page.limit),
    openForm,
    /** The workflows that a template offers, as suggestions of its widget. */
    offersOfTemplate,
    offersOfWorkflow,
    seqOf,

    /**
     * Returns the thread of an execution, its open question, and whether its end was posted. Undefined if no
     * conversation started the execution.
     */
    async findOwnExecution(
      tx: Tx,
      workspaceId: string,
      executionId: string,
    ): Promise<{ thread: Thread; question: OpenQuestion | null; told: boolean } | undefined> {
      const thread = await readThreadOf(tx, workspaceId, executionId)
      if (!thread) return undefined
      await updates.dropClosed(tx, thread)
      const question = thread.state.questions.find(({ root_id }) => root_id === executionId) ?? null
      return { thread, question, told: !thread.state.running.some((one) => one.execution_id === executionId) }
    },

    /** Returns the state of a conversation without a new turn: its last message and the collected inputs. */
    async standing(
      tx: Tx,
      workspaceId: string,
      threadId: string,
      isTheirs?: (thread: Thread) => boolean,
    ): Promise<{ reply: string } & Pick<Turn, 'last_execution_id' | 'gathered'>> {
      const [thread, last, { offers }] = await Promise.all([
        readThread(tx, workspaceId, threadId),
        lastMessage(tx, workspaceId, threadId),
        readThreadContext(tx, workspaceId, threadId),
      ])
      if (!thread || isTheirs?.(thread) === false) throw problem('not_found')
      return {
        reply: last?.text ?? '',
        last_execution_id: thread.state.started?.execution_id ?? null,
        gathered: gatheredOf(thread, offers),
      }
    },

    /** Returns what is remembered about a visitor of a template. Null if nothing is remembered. */
    readMemory: async (tx: Tx, about: Place): Promise<string | null> => (await findMemory(tx, about))?.summary || null,
    forgetMemory,

    /** Continues answers that a killed process left. A long answer does not delay the others. */
    leftOver: {
      find: agent.findDue,
      work: ({ workspace_id, turn_id }: { workspace_id: string; turn_id: string }) => agent.run(workspace_id, turn_id),
    },
    async stop(): Promise<void> {
      await agent.stop()
      await Promise.all(remembering)
    },

    onPosted: updates.onPosted,
    questionAsked: updates.questionAsked,
    gateOpened: updates.gateOpened,
    executionEnded: updates.executionEnded,
    settle: updates.settle,
  }
}

export type ConversationService = ReturnType<typeof makeConversations>
