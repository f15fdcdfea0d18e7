import { extractByRulesAlone, makeExtract } from '#areas/requirements/extract'
import type { ChooseModel } from '#engine/credentials'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Logger } from '#platform/log'
import { type CarryOutDependencies, type Deed, makeCarryOut } from './carry-out.ts'
import { openForm } from './form-store.ts'
import { lastSaid, listMessages, saveTurn, seqOf } from './message-store.ts'
import { makeNews } from './news.ts'
import { offersOfTemplate, offersOfWorkflow, readSurroundings, surroundingsOf } from './offer-store.ts'
import { greet, threadOf } from './opening.ts'
import { makePick } from './pick.ts'
import type { OpenQuestion } from './state.ts'
import { makeTakeover } from './takeover.ts'
import { findChannelThread, findColleague, findThread, insertThread, readThread, readThreadOf } from './thread-store.ts'
import { gatheredOf } from './turn-parts.ts'
import { makeTurns } from './turns.ts'
import type { NewThread, Thread, Turn } from './types.ts'

export type ConversationDependencies = CarryOutDependencies & {
  db: Database
  log: Logger
  chooseModel: ChooseModel
  /** False where no model can answer anywhere: then messages are read by rules at once. */
  mayThink(): boolean
  /** Counts executions that were started. */
  countStarted(workspaceId: string, count: number): void
}

export function makeConversations(dependencies: ConversationDependencies) {
  const { db, log, chooseModel, mayThink } = dependencies
  const carrying = makeCarryOut(dependencies)
  const news = makeNews({
    db,
    carrying,
    stillOpen: (tx, workspaceId, ids) => dependencies.questions().stillOpen(tx, workspaceId, ids),
  })
  const turns = makeTurns({
    db,
    carrying,
    news,
    tools: { extract: makeExtract({ chooseModel, log }), pick: makePick({ chooseModel, log }) },
    rules: { extract: extractByRulesAlone, pick: async () => undefined },
    isForPerson: (...asked) => dependencies.questions().isForPerson(...asked),
    thinksSlowly: mayThink,
    afterCommit({ held, started }: Deed): void {
      if (started > 0) dependencies.countStarted(held.workspace_id, started)
    },
  })

  const takeover = makeTakeover({ carrying, news })

  async function openThread(tx: Tx, wanted: NewThread): Promise<Thread> {
    const held = threadOf(wanted)
    if (wanted.kind === 'channel') {
      const find = () => findChannelThread(tx, wanted.workspaceId, wanted.configId, wanted.externalId)
      const present = await find()
      if (present) return present
      if ((await insertThread(tx, held)) === 1) return held
      // Somebody else opened it meanwhile, and their transaction has committed.
      return (await find()) ?? openThread(tx, wanted)
    }
    await saveTurn(tx, held, greet(held, await surroundingsOf(tx, wanted.workspaceId, held)), true)
    return held
  }

  return {
    openThread,
    findThread,
    ...turns,
    ...takeover,
    findColleague,
    /** True where a turn needs no model, and can be part of a request's transaction. */
    answersAtOnce: (): boolean => !mayThink(),
    listMessages: (tx: Tx, workspaceId: string, threadId: string, page: { after: number; limit: number }) =>
      listMessages(tx, workspaceId, threadId, page.after, page.limit),
    openForm,
    /** The offers of a template, for its widget's suggestions. */
    offersOfTemplate,
    offersOfWorkflow,
    seqOf,

    /** The thread of an execution, what it asks of whoever talks there, and whether its end was told; undefined where no conversation started it. */
    async findOwnExecution(
      tx: Tx,
      workspaceId: string,
      executionId: string,
    ): Promise<{ thread: Thread; question: OpenQuestion | null; told: boolean } | undefined> {
      const held = await readThreadOf(tx, workspaceId, executionId)
      if (!held) return undefined
      await news.dropClosed(tx, held)
      const question = held.state.questions.find(({ root_id }) => root_id === executionId) ?? null
      return { thread: held, question, told: !held.state.running.some((one) => one.execution_id === executionId) }
    },

    /** Where a conversation stands, without saying anything: its last words, and what was gathered. */
    async standing(
      tx: Tx,
      workspaceId: string,
      threadId: string,
      isTheirs?: (thread: Thread) => boolean,
    ): Promise<{ reply: string } & Pick<Turn, 'last_execution_id' | 'gathered'>> {
      const [held, last, { offers }] = await Promise.all([
        readThread(tx, workspaceId, threadId),
        lastSaid(tx, workspaceId, threadId),
        readSurroundings(tx, workspaceId, threadId),
      ])
      if (!held || isTheirs?.(held) === false) throw problem('not_found')
      return {
        reply: last?.text ?? '',
        last_execution_id: held.state.started?.execution_id ?? null,
        gathered: gatheredOf(held, offers),
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
