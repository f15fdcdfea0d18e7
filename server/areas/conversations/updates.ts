import type { Questions } from '#areas/approvals/questions'
import type { EndedExecution, ExecutionView } from '#engine/ports'
import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { ConversationActions } from './conversation-actions.ts'
import { type ExecutionState, findAncestor, readExecutionStates } from './execution-store.ts'
import { closeForms, findOpenForm } from './form-store.ts'
import { phrasesFor } from './languages/index.ts'
import { postNotice } from './message-store.ts'
import { pendingChangesOf } from './pending-turn.ts'
import { askedNow } from './state.ts'
import * as texts from './texts.ts'
import { type LockedThread, lockThread, lockThreadOf, saveThread } from './thread-store.ts'
import type { Message, Posted } from './types.ts'

// Posts the progress of executions in the conversation that started them. Each event is posted once: `about` names the
// event, so that a repetition after a crash adds nothing.

const ended = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])

export type AskedQuestion = {
  workspace_id: string
  clarification_id: string
  execution_id: string
  question: string
  schema: Json
  /** The colleagues whom the question names. Null if it is for the person who started the execution. */
  who: unknown[] | null
}

/** Returns results as shown to people, with addresses instead of files. */
export type ShownResults = (tx: Tx, run: { workspaceId: string; executionId: string }, results: Json) => Promise<Json>

type End = {
  execution_id: string
  title: string
  status: string
  results: Json
  large?: boolean
  error: { message: string } | null
}

/** Removes questions that were answered elsewhere or closed. */
async function dropClosedQuestions(stillOpen: Questions['stillOpen'], tx: Tx, thread: LockedThread): Promise<void> {
  const { questions } = thread.state
  if (questions.length === 0) return
  const ids = questions.map(({ clarification_id }) => clarification_id)
  const open = await stillOpen(tx, thread.workspace_id, ids)
  if (open.size === questions.length) return
  thread.state = {
    ...thread.state,
    questions: questions.filter(({ clarification_id }) => open.has(clarification_id)),
  }
}

export function makeUpdates({
  db,
  actions,
  stillOpen,
  shownResults,
}: {
  db: Database
  actions: Pick<ConversationActions, 'showQuestionForm' | 'closeStale'>
  stillOpen: Questions['stillOpen']
  shownResults: ShownResults
}) {
  const listeners: ((tx: Tx, posted: Posted) => Promise<void>)[] = []

  const dropClosed = (tx: Tx, thread: LockedThread) => dropClosedQuestions(stillOpen, tx, thread)

  async function announce(tx: Tx, thread: LockedThread, message: Message | undefined): Promise<void> {
    if (message) for (const listener of listeners) await listener(tx, { thread, message })
  }

  /** Posts how an execution ended and removes its open questions. Returns false if the end was posted before. */
  async function noteEnd(tx: Tx, thread: LockedThread, end: End): Promise<boolean> {
    const { state } = thread
    const entry = state.running.find(({ execution_id }) => execution_id === end.execution_id)
    if (!entry) return false
    const running = state.running.filter(({ execution_id }) => execution_id !== end.execution_id)
    const questions = state.questions.filter(({ root_id }) => root_id !== end.execution_id)
    if (questions.length !== state.questions.length) {
      const form = await findOpenForm(tx, thread.workspace_id, thread.thread_id)
      if (form?.kind === 'question') await closeForms(tx, thread, 'cancelled')
    }
    if (entry.answering !== undefined) {
      thread.state = { ...state, questions }
      await saveThread(tx, thread)
      return false
    }
    thread.state = { ...state, running, questions }
    const { execution_id } = end
    const run = { workspaceId: thread.workspace_id, executionId: execution_id }
    const results = await shownResults(tx, run, end.results)
    const text = texts.endText(phrasesFor(state), { ...end, results })
    const message = await postNotice(tx, thread, { text, about: 'result', execution_id })
    await announce(tx, thread, message)
    return message !== undefined
  }

  return {
    announce,
    noteEnd,

    onPosted: (listener: (tx: Tx, posted: Posted) => Promise<void>): void => void listeners.push(listener),

    /** Runs in the transaction that opens the question. */
    async questionAsked(tx: Tx, asked: AskedQuestion): Promise<void> {
      const own = await findAncestor(tx, asked.workspace_id, asked.execution_id)
      const thread = own && (await lockThread(tx, asked.workspace_id, own.thread_id))
      if (!thread) return
      await dropClosed(tx, thread)
      const forUs = asked.who === null
      const say = phrasesFor(thread.state)
      const message = await postNotice(tx, thread, {
        text: forUs ? texts.questionText(say, asked.question, asked.schema) : say.waitsForColleague,
        about: `question:${asked.clarification_id}`,
        execution_id: own.execution_id,
      })
      if (message && forUs) {
        const { clarification_id, execution_id, question, schema } = asked
        const open = { clarification_id, execution_id, root_id: own.execution_id, question, schema }
        thread.state = { ...thread.state, questions: [...thread.state.questions, open] }
        await saveThread(tx, thread)
        if (askedNow(thread.state) === open && thread.taken_over_by === null) {
          const form = (await findOpenForm(tx, thread.workspace_id, thread.thread_id)) ?? null
          const pending = pendingChangesOf(thread, form)
          actions.closeStale(pending)
          actions.showQuestionForm(pending, open)
          for (const write of pending.writes) await write(tx)
        }
      }
      await announce(tx, thread, message)
    },

    /** Runs in the transaction that opens the gate. */
    async gateOpened(
      tx: Tx,
      gate: { workspace_id: string; request_id: string; execution_id: string; title: string },
    ): Promise<void> {
      const own = await findAncestor(tx, gate.workspace_id, gate.execution_id)
      const thread = own && (await lockThread(tx, gate.workspace_id, own.thread_id))
      if (!thread) return
      const message = await postNotice(tx, thread, {
        text: texts.waitsForApproval(phrasesFor(thread.state), gate.title),
        about: `gate:${gate.request_id}`,
        execution_id: own.execution_id,
      })
      await announce(tx, thread, message)
    },

    async executionEnded(
      execution: Pick<EndedExecution, 'workspaceId' | 'executionId' | 'status' | 'results' | 'error'>,
    ) {
      const { workspaceId, executionId: execution_id, status, results, error } = execution
      await db.tenant({ workspaceId, userId: null }, async (tx) => {
        const thread = await lockThreadOf(tx, workspaceId, execution_id)
        if (thread) await noteEnd(tx, thread, { execution_id, title: thread.called, status, results, error })
      })
    },

    dropClosed,

    /** Posts the ends that were not posted yet. Returns the status of the other executions. */
    async postEnds(tx: Tx, thread: LockedThread): Promise<{ executions: ExecutionState[]; told: boolean }> {
      if (thread.state.running.length === 0) return { executions: [], told: false }
      const ids = thread.state.running.map(({ execution_id }) => execution_id)
      const executions = await readExecutionStates(tx, thread.workspace_id, ids)
      const byId = new Map(executions.map((execution) => [execution.execution_id, execution]))
      let told = false
      for (const { execution_id, title } of thread.state.running) {
        const standing = byId.get(execution_id)
        if (!standing)
          thread.state = {
            ...thread.state,
            running: thread.state.running.filter((one) => one.execution_id !== execution_id),
          }
        else if (ended.has(standing.status)) {
          await noteEnd(tx, thread, { ...standing, title })
          told = true
        }
      }
      return { executions, told }
    },

    /**
     * Posts the end of an execution, so that a client that polls sees the result in the history as soon as it sees
     * the end.
     */
    async settle(view: Pick<ExecutionView, 'workspace_id' | 'execution_id' | 'status'>): Promise<void> {
      const { workspace_id, execution_id } = view
      if (!ended.has(view.status)) return
      await db.tenant({ workspaceId: workspace_id, userId: null }, async (tx) => {
        const thread = await lockThreadOf(tx, workspace_id, execution_id)
        if (!thread?.state.running.some((one) => one.execution_id === execution_id)) return
        const [standing] = await readExecutionStates(tx, workspace_id, [execution_id])
        if (standing) await noteEnd(tx, thread, { ...standing, title: thread.called })
      })
    },
  }
}

export type Updates = ReturnType<typeof makeUpdates>
