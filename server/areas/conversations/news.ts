import type { Questions } from '#areas/approvals/questions'
import type { EndedExecution, ExecutionView } from '#engine/ports'
import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { CarryOut, Deed } from './carry-out.ts'
import { findAncestor, readStandings, type Standing } from './execution-store.ts'
import { closeForms, findOpenForm } from './form-store.ts'
import { tell } from './message-store.ts'
import { askedNow } from './state.ts'
import * as texts from './texts.ts'
import { type Held, lockThread, lockThreadOf, saveThread } from './thread-store.ts'
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

type End = {
  execution_id: string
  title: string
  status: string
  results: Json
  large?: boolean
  error: { message: string } | null
}

export function makeNews({
  db,
  carrying,
  stillOpen,
}: {
  db: Database
  carrying: Pick<CarryOut, 'showQuestionForm' | 'closeStale'>
  stillOpen: Questions['stillOpen']
}) {
  const listeners: ((tx: Tx, posted: Posted) => Promise<void>)[] = []

  async function announce(tx: Tx, held: Held, message: Message | undefined): Promise<void> {
    if (message) for (const listener of listeners) await listener(tx, { thread: held, message })
  }

  /** Questions that were answered through another door, or closed, are no longer ours to answer. */
  async function dropClosed(tx: Tx, held: Held): Promise<void> {
    const { questions } = held.state
    if (questions.length === 0) return
    const ids = questions.map(({ clarification_id }) => clarification_id)
    const open = await stillOpen(tx, held.workspace_id, ids)
    if (open.size === questions.length) return
    held.state = { ...held.state, questions: questions.filter(({ clarification_id }) => open.has(clarification_id)) }
  }

  /** Says how it ended, and forgets what stood open for it. True where that was news. */
  async function noteEnd(tx: Tx, held: Held, end: End): Promise<boolean> {
    const { state } = held
    const running = state.running.filter(({ execution_id }) => execution_id !== end.execution_id)
    const questions = state.questions.filter(({ root_id }) => root_id !== end.execution_id)
    if (questions.length !== state.questions.length) {
      const form = await findOpenForm(tx, held.workspace_id, held.thread_id)
      if (form?.kind === 'question') await closeForms(tx, held, 'cancelled')
    }
    held.state = { ...state, running, questions }
    const { execution_id } = end
    const message = await tell(tx, held, { text: texts.endText(end), about: 'result', execution_id })
    await announce(tx, held, message)
    return message !== undefined
  }

  return {
    announce,

    onPosted: (listener: (tx: Tx, posted: Posted) => Promise<void>): void => void listeners.push(listener),

    /** In the transaction that opens the question. */
    async questionAsked(tx: Tx, asked: AskedQuestion): Promise<void> {
      const own = await findAncestor(tx, asked.workspace_id, asked.execution_id)
      const held = own && (await lockThread(tx, asked.workspace_id, own.thread_id))
      if (!held) return
      await dropClosed(tx, held)
      const forUs = asked.who === null
      const message = await tell(tx, held, {
        text: forUs ? texts.questionText(asked.question, asked.schema) : texts.COLLEAGUE,
        about: `question:${asked.clarification_id}`,
        execution_id: own.execution_id,
      })
      if (message && forUs) {
        const { clarification_id, execution_id, question, schema } = asked
        const open = { clarification_id, execution_id, root_id: own.execution_id, question, schema }
        held.state = { ...held.state, questions: [...held.state.questions, open] }
        await saveThread(tx, held)
        if (askedNow(held.state) === open && held.taken_over_by === null) {
          const form = (await findOpenForm(tx, held.workspace_id, held.thread_id)) ?? null
          const deed: Deed = { held, said: [], writes: [], form, executionId: null, started: 0 }
          carrying.closeStale(deed)
          carrying.showQuestionForm(deed, open)
          for (const write of deed.writes) await write(tx)
        }
      }
      await announce(tx, held, message)
    },

    /** In the transaction that opens the gate. */
    async gateOpened(
      tx: Tx,
      gate: { workspace_id: string; request_id: string; execution_id: string; title: string },
    ): Promise<void> {
      const own = await findAncestor(tx, gate.workspace_id, gate.execution_id)
      const held = own && (await lockThread(tx, gate.workspace_id, own.thread_id))
      if (!held) return
      const message = await tell(tx, held, {
        text: texts.waitingForApproval(gate.title),
        about: `gate:${gate.request_id}`,
        execution_id: own.execution_id,
      })
      await announce(tx, held, message)
    },

    async executionEnded(
      execution: Pick<EndedExecution, 'workspaceId' | 'executionId' | 'status' | 'results' | 'error'>,
    ) {
      const { workspaceId, executionId: execution_id, status, results, error } = execution
      await db.tenant({ workspaceId, userId: null }, async (tx) => {
        const held = await lockThreadOf(tx, workspaceId, execution_id)
        if (held) await noteEnd(tx, held, { execution_id, title: held.called, status, results, error })
      })
    },

    dropClosed,

    /** What has ended and was not told of yet, before anything else is said; how the rest stands. */
    async tellEnds(tx: Tx, held: Held): Promise<{ standings: Standing[]; told: boolean }> {
      if (held.state.running.length === 0) return { standings: [], told: false }
      const ids = held.state.running.map(({ execution_id }) => execution_id)
      const standings = await readStandings(tx, held.workspace_id, ids)
      const byId = new Map(standings.map((standing) => [standing.execution_id, standing]))
      let told = false
      for (const { execution_id, title } of held.state.running) {
        const standing = byId.get(execution_id)
        if (!standing)
          held.state = { ...held.state, running: held.state.running.filter((one) => one.execution_id !== execution_id) }
        else if (ended.has(standing.status)) {
          await noteEnd(tx, held, { ...standing, title })
          told = true
        }
      }
      return { standings, told }
    },

    /** Whoever polls sees the result in the history as soon as they see that it has ended. */
    async settle(view: Pick<ExecutionView, 'workspace_id' | 'execution_id' | 'status'>): Promise<void> {
      const { workspace_id, execution_id } = view
      if (!ended.has(view.status)) return
      await db.tenant({ workspaceId: workspace_id, userId: null }, async (tx) => {
        const held = await lockThreadOf(tx, workspace_id, execution_id)
        if (!held?.state.running.some((one) => one.execution_id === execution_id)) return
        const [standing] = await readStandings(tx, workspace_id, [execution_id])
        if (standing) await noteEnd(tx, held, { ...standing, title: held.called })
      })
    },
  }
}

export type News = ReturnType<typeof makeNews>
