import type { Questions } from '#areas/approvals/questions'
import type { EndedExecution, ExecutionView } from '#engine/ports'
import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { CarryOut } from './carry-out.ts'
import * as store from './store.ts'
import * as texts from './texts.ts'
import type { Message, Posted } from './types.ts'

// What becomes of executions is told in the conversation that started them, once each: the message and what it tells of
// are kept together by `about`, so that a repetition after a crash adds nothing.

const ended = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])

export type AskedQuestion = {
  workspace_id: string
  clarification_id: string
  execution_id: string
  question: string
  schema: Json
  /** Named colleagues, where it is not for whoever started the execution. */
  who: unknown[] | null
}

export function makeNews({
  db,
  carrying,
  stillOpen,
}: {
  db: Database
  carrying: Pick<CarryOut, 'showQuestionForm'>
  stillOpen: Questions['stillOpen']
}) {
  const listeners: ((tx: Tx, posted: Posted) => Promise<void>)[] = []

  async function post(
    tx: Tx,
    held: store.Held,
    news: { text: string; about: string; executionId: string },
  ): Promise<Message | undefined> {
    const message = await store.addMessage(tx, held, {
      role: 'assistant',
      text: news.text,
      about: news.about,
      execution_id: news.executionId,
    })
    return message
  }

  async function finish(tx: Tx, held: store.Held, message: Message | undefined): Promise<void> {
    await store.saveThread(tx, held)
    if (!message) return
    const form = await store.openForm(tx, held.workspace_id, held.thread_id)
    for (const tell of listeners) await tell(tx, { thread: held, message, form })
  }

  /** Says how it ended, and forgets what stood open for it. True where that was news. */
  async function noteEnd(
    tx: Tx,
    held: store.Held,
    end: {
      execution_id: string
      title: string
      status: string
      results: Json
      large?: boolean
      error: { message: string } | null
    },
  ): Promise<Message | undefined> {
    const message = await post(tx, held, { text: texts.endText(end), about: 'result', executionId: end.execution_id })
    const { state } = held
    const running = state.running.filter(({ execution_id }) => execution_id !== end.execution_id)
    const questions = state.questions.filter(({ root_id }) => root_id !== end.execution_id)
    if (questions.length !== state.questions.length) {
      const form = await store.findOpenForm(tx, held.workspace_id, held.thread_id)
      if (form?.kind === 'question') await store.closeForms(tx, held, 'cancelled')
    }
    held.state = { ...state, running, questions }
    return message
  }

  return {
    onPosted: (listener: (tx: Tx, posted: Posted) => Promise<void>): void => void listeners.push(listener),

    /** In the transaction that opens the question. */
    async questionAsked(tx: Tx, asked: AskedQuestion): Promise<void> {
      const own = await store.findAncestor(tx, asked.workspace_id, asked.execution_id)
      const held = own && (await store.lockThread(tx, asked.workspace_id, own.thread_id))
      if (!held) return
      const forUs = asked.who === null
      const message = await post(tx, held, {
        text: forUs ? texts.questionText(asked.question, asked.schema) : texts.COLLEAGUE,
        about: `question:${asked.clarification_id}`,
        executionId: own.execution_id,
      })
      if (message && forUs) {
        const { clarification_id, execution_id, question, schema } = asked
        const open = { clarification_id, execution_id, root_id: own.execution_id, question, schema }
        held.state = { ...held.state, questions: [...held.state.questions, open] }
        if (held.state.questions.length === 1) {
          const form = (await store.findOpenForm(tx, held.workspace_id, held.thread_id)) ?? null
          const deed = { held, said: [], form, executionId: null, started: [], answered: [] }
          await carrying.showQuestionForm(tx, deed, open)
        }
      }
      await finish(tx, held, message)
    },

    /** In the transaction that opens the gate. */
    async gateOpened(
      tx: Tx,
      gate: { workspace_id: string; request_id: string; execution_id: string; title: string },
    ): Promise<void> {
      const own = await store.findAncestor(tx, gate.workspace_id, gate.execution_id)
      const held = own && (await store.lockThread(tx, gate.workspace_id, own.thread_id))
      if (!held) return
      const message = await post(tx, held, {
        text: texts.waitingForApproval(gate.title),
        about: `gate:${gate.request_id}`,
        executionId: own.execution_id,
      })
      await finish(tx, held, message)
    },

    async executionEnded(
      execution: Pick<EndedExecution, 'workspaceId' | 'executionId' | 'status' | 'results' | 'error'>,
    ) {
      await db.tenant({ workspaceId: execution.workspaceId, userId: null }, async (tx) => {
        const own = await store.findExecution(tx, execution.workspaceId, execution.executionId)
        const held = own && (await store.lockThread(tx, execution.workspaceId, own.thread_id))
        if (!held) return
        await finish(tx, held, await noteEnd(tx, held, { ...own, ...execution }))
      })
    },

    /** Questions that were answered through another door, or closed, are no longer ours to answer. */
    async dropClosed(tx: Tx, held: store.Held): Promise<void> {
      const { questions } = held.state
      if (questions.length === 0) return
      const ids = questions.map(({ clarification_id }) => clarification_id)
      const open = await stillOpen(tx, held.workspace_id, ids)
      if (open.size === questions.length) return
      held.state = { ...held.state, questions: questions.filter(({ clarification_id }) => open.has(clarification_id)) }
    },

    /** What has ended and was not told of yet, before anything else is said. The caller saves the thread. */
    async tellEnds(tx: Tx, held: store.Held): Promise<void> {
      if (held.state.running.length === 0) return
      const ids = held.state.running.map(({ execution_id }) => execution_id)
      const standings = new Map(
        (await store.readStandings(tx, held.workspace_id, ids)).map((standing) => [standing.execution_id, standing]),
      )
      for (const { execution_id, title } of held.state.running) {
        const standing = standings.get(execution_id)
        if (standing && !ended.has(standing.status)) continue
        if (!standing) {
          held.state = { ...held.state, running: held.state.running.filter((one) => one.execution_id !== execution_id) }
          continue
        }
        const message = await noteEnd(tx, held, { ...standing, title })
        if (message) for (const tell of listeners) await tell(tx, { thread: held, message, form: null })
      }
    },

    /** Whoever polls sees the result in the history as soon as they see that it has ended. */
    async settle(view: Pick<ExecutionView, 'workspace_id' | 'execution_id' | 'status'>): Promise<void> {
      if (!ended.has(view.status)) return
      await db.tenant({ workspaceId: view.workspace_id, userId: null }, async (tx) => {
        const own = await store.findUntold(tx, view.workspace_id, view.execution_id)
        const held = own && (await store.lockThread(tx, view.workspace_id, own.thread_id))
        if (!held) return
        const [standing] = await store.readStandings(tx, view.workspace_id, [view.execution_id])
        if (standing) await finish(tx, held, await noteEnd(tx, held, { ...standing, title: own.title }))
      })
    },
  }
}

export type News = ReturnType<typeof makeNews>
