import type { Answerer, Questions } from '#areas/approvals/questions'
import { defaultsOf, requirementsOf } from '#areas/requirements/extract'
import { enqueue } from '#engine/enqueue'
import { flowOf } from '#engine/flow/rules'
import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { newId } from '#platform/ids'
import { conversationOf } from './conversation-input.ts'
import { insertExecution } from './execution-store.ts'
import { closeForms, type FormRow, insertForm, updateFormValues } from './form-store.ts'
import { askForPerson } from './handover.ts'
import { initiatorsOfTurn } from './initiators.ts'
import type { NewMessage } from './message-store.ts'
import type { Offer } from './offer-store.ts'
import { askedNow, type OpenQuestion } from './state.ts'
import * as texts from './texts.ts'
import { type Decision, wantsForm } from './think.ts'
import type { LockedThread } from './thread-store.ts'
import type { Author, Origin } from './types.ts'

// Applies a decision: messages, forms, executions and answers, in the transaction that locks the thread.

export type PendingTurn = {
  thread: LockedThread
  /** Messages of this turn. They are written together at its end. */
  messages: NewMessage[]
  /** Other writes of the turn, in this order, after the thread and its messages. */
  writes: ((tx: Tx) => Promise<unknown>)[]
  /** The open form. */
  form: FormRow | null
  executionId: string | null
  /** Number of executions started in this turn. */
  started: number
}

/** Changes to a conversation that are no turn of their own. */
export const asideOf = (thread: LockedThread, form: FormRow | null): PendingTurn => ({
  thread,
  messages: [],
  writes: [],
  form,
  executionId: null,
  started: 0,
})

export type By = { author: Author; origin: Origin }

export type CarryOutDependencies = {
  questions(): Pick<Questions, 'answer' | 'stillOpen' | 'isForPerson'>
  /** Throws `quota_exceeded`. */
  checkQuota(tx: Tx, workspaceId: string): Promise<void>
  /** The run holds the files that its input names and that this giver has sent. */
  takeFiles: TakeFilesIn
}

export type TakeFilesIn = (
  tx: Tx,
  taking: { workspaceId: string; executionId: string; input: Json; giver: { userId: string | null; senderId: string } },
) => Promise<void>

/** Files of somebody outside belong to the visitor, or to the conversation of a channel. */
const giverOf = ({ visitor_id, thread_id }: Pick<LockedThread, 'visitor_id' | 'thread_id'>, { author }: By) => ({
  userId: author.kind === 'person' ? author.userId : null,
  senderId: visitor_id ?? thread_id,
})

/** Only the widget and the console can show forms. */
const showsForms = ({ kind }: Pick<LockedThread, 'kind'>): boolean => kind === 'embed' || kind === 'thread'

export function makeCarryOut({ questions, checkQuota, takeFiles }: CarryOutDependencies) {
  const say = (pending: PendingTurn, text: string, executionId: string | null = null): void =>
    void pending.messages.push({ role: 'assistant', text, execution_id: executionId })

  function closeForm(pending: PendingTurn, status: 'submitted' | 'cancelled' | 'replaced'): void {
    if (!pending.form) return
    pending.form = null
    pending.writes.push((tx) => closeForms(tx, pending.thread, status))
  }

  /** Closes the form of a question that is no longer open. */
  function closeStale(pending: PendingTurn): void {
    const asked = pending.form?.clarification_id ?? null
    const { questions: open } = pending.thread.state
    if (asked !== null && !open.some(({ clarification_id }) => clarification_id === asked))
      closeForm(pending, 'cancelled')
  }

  function showForm(
    pending: PendingTurn,
    form: Pick<FormRow, 'kind' | 'clarification_id' | 'title' | 'schema' | 'values'>,
  ): void {
    const { thread, form: open } = pending
    if (!showsForms(thread)) return
    if (
      open &&
      open.clarification_id === form.clarification_id &&
      JSON.stringify(open.schema) === JSON.stringify(form.schema)
    ) {
      if (JSON.stringify(open.values) === JSON.stringify(form.values)) return
      pending.form = { ...open, values: form.values }
      pending.writes.push((tx) => updateFormValues(tx, thread.workspace_id, open.form_id, form.values))
      return
    }
    closeForm(pending, 'replaced')
    const shown = { ...form, form_id: newId(), status: 'open' as const }
    pending.form = shown
    pending.writes.push((tx) => insertForm(tx, thread, shown))
  }

  const refusedFor = async (tx: Tx, workspaceId: string): Promise<boolean> => {
    try {
      await checkQuota(tx, workspaceId)
      return false
    } catch (error) {
      if (isProblem(error, 'quota_exceeded')) return true
      throw error
    }
  }

  /** Returns false where it cannot be started now. Nothing is lost then: the person can try again. */
  async function start(
    tx: Tx,
    pending: PendingTurn,
    offer: Offer,
    given: JsonObject,
    by: By,
    /** The turn of an assistant that tells the end itself; without it the conversation says that it was started. */
    answering?: string,
  ): Promise<boolean> {
    const { thread } = pending
    const executionId = newId()
    const { conversation_field: field } = offer
    const conversation =
      field === null ? {} : { [field]: await conversationOf(tx, thread, by.author, pending.messages) }
    const input: JsonObject = { ...given, ...conversation }
    if (await refusedFor(tx, thread.workspace_id)) return false
    const outcome = await enqueue(tx, {
      workspaceId: thread.workspace_id,
      executionId,
      input,
      definitionRef: `version:${offer.version_id}`,
      workflowId: offer.workflow_id,
      versionId: offer.version_id,
      timeoutS: offer.settings.timeout_s ?? null,
      flow: flowOf(offer.settings),
      trigger: by.origin,
      startedBy: by.author.kind === 'person' ? by.author.userId : null,
      principalId: offer.principal_id,
      initiatedBy: await initiatorsOfTurn(tx, thread, offer, by),
      tellEnd: true,
    })
    if (outcome !== 'accepted') return false
    await takeFiles(tx, { workspaceId: thread.workspace_id, executionId, input, giver: giverOf(thread, by) })
    const { workflow_id, name: title } = offer
    pending.writes.push((later) => insertExecution(later, thread, { execution_id: executionId, workflow_id, title }))
    closeForm(pending, 'submitted')
    thread.state = {
      ...thread.state,
      gathering: null,
      running: [...thread.state.running, { execution_id: executionId, title, ...(answering && { answering }) }],
      started: { execution_id: executionId, workflow_id, values: given },
    }
    pending.executionId = executionId
    pending.started += 1
    if (answering === undefined) say(pending, texts.startedText(title), executionId)
    return true
  }

  /**
   * Passes an answer to the question's execution. The approvals area refuses it where the question is closed or unknown, or
   * the answer does not fit.
   */
  async function give(
    tx: Tx,
    pending: PendingTurn,
    by: By & { response: Json },
    to: { execution_id: string; clarification_id?: string | undefined },
  ): Promise<{ clarification_id: string }> {
    const { thread } = pending
    const answered = await questions().answer(
      tx,
      thread.workspace_id,
      to.execution_id,
      { response: by.response, clarificationId: to.clarification_id },
      answererOf(by),
      // A person of the workspace answers questions that name them, as in the console. Others answer questions for the
      // person who started the run.
      by.author.kind === 'person' ? ({ named }) => named : ({ who }) => who === null,
    )
    const taking = { workspaceId: thread.workspace_id, executionId: to.execution_id, input: by.response }
    await takeFiles(tx, { ...taking, giver: giverOf(thread, by) })
    const { clarification_id } = answered
    thread.state = {
      ...thread.state,
      questions: thread.state.questions.filter((question) => question.clarification_id !== clarification_id),
    }
    if (pending.form?.clarification_id === clarification_id) closeForm(pending, 'submitted')
    return { clarification_id }
  }

  /** Returns false where the question was answered or closed elsewhere. */
  async function answer(
    tx: Tx,
    pending: PendingTurn,
    question: OpenQuestion,
    response: Json,
    by: By,
  ): Promise<boolean> {
    const { thread } = pending
    try {
      await give(tx, pending, { ...by, response }, question)
      return true
    } catch (error) {
      if (!isProblem(error, 'not_waiting') && !isProblem(error, 'unknown_reference')) throw error
      const { clarification_id } = question
      const left = thread.state.questions.filter((one) => one.clarification_id !== clarification_id)
      thread.state = { ...thread.state, questions: left }
      closeStale(pending)
      return false
    }
  }

  /** Asks again for what is still open: another question, or the inputs that were being collected. */
  function remind(pending: PendingTurn, offers: Offer[]): void {
    const { thread } = pending
    const question = askedNow(thread.state)
    if (question) {
      say(pending, texts.questionText(question.question, question.schema))
      showQuestionForm(pending, question)
    } else if (thread.state.gathering) {
      const { workflow_id, values } = thread.state.gathering
      const offer = offers.find((one) => one.workflow_id === workflow_id)
      if (offer) showForm(pending, formOf(offer, values))
    }
  }

  function showQuestionForm(pending: PendingTurn, question: OpenQuestion): void {
    if (!wantsForm(question.schema)) return
    showForm(pending, {
      kind: 'question',
      clarification_id: question.clarification_id,
      title: question.question.slice(0, 300),
      schema: question.schema,
      values: { ...defaultsOf(requirementsOf(question.schema)), ...question.values },
    })
  }

  const showInputs = (pending: PendingTurn, offer: Offer, values: JsonObject): void =>
    showForm(pending, formOf(offer, values))

  async function carryOut(tx: Tx, pending: PendingTurn, decision: Decision, by: By, offers: Offer[]): Promise<void> {
    const { thread } = pending
    switch (decision.kind) {
      case 'silent':
        return
      case 'say':
        if (decision.drop) {
          thread.state = { ...thread.state, gathering: null }
          closeForm(pending, 'cancelled')
        }
        if (decision.offered) thread.state = { ...thread.state, offered: decision.offered }
        for (const text of decision.texts) say(pending, text)
        return
      case 'gather': {
        const { offer, values, asked } = decision
        thread.state = { ...thread.state, gathering: { workflow_id: offer.workflow_id, values, asked } }
        for (const text of decision.texts) say(pending, text)
        showForm(pending, formOf(offer, values))
        return
      }
      case 'hand_over': {
        const { fresh, closed } = await askForPerson(tx, thread, decision.reason)
        say(pending, texts.handedOver(fresh, closed))
        return
      }
      case 'start':
        if (await start(tx, pending, decision.offer, decision.input, by)) return
        thread.state = {
          ...thread.state,
          gathering: { workflow_id: decision.offer.workflow_id, values: decision.input, asked: null },
        }
        say(pending, texts.NOT_NOW)
        return
      case 'answer': {
        const taken = await answer(tx, pending, decision.question, decision.response, by)
        say(pending, taken ? texts.ANSWERED : texts.ANSWERED_ELSEWHERE)
        remind(pending, offers)
        return
      }
      case 'set_aside': {
        const { question } = decision
        thread.state = { ...thread.state, questions: replaced(thread, { ...question, aside: true }) }
        if (pending.form?.clarification_id === question.clarification_id) closeForm(pending, 'cancelled')
        thread.state = { ...thread.state, offered: decision.offered }
        for (const text of decision.texts) say(pending, text)
        return
      }
      case 'ask_again':
        thread.state = { ...thread.state, questions: replaced(thread, decision.question) }
        for (const text of decision.texts) say(pending, text)
        showQuestionForm(pending, decision.question)
    }
  }

  return { carryOut, say, closeForm, closeStale, showInputs, start, give, answer, remind, showQuestionForm }
}

const replaced = ({ state }: LockedThread, question: OpenQuestion): OpenQuestion[] =>
  state.questions.map((one) => (one.clarification_id === question.clarification_id ? question : one))

export type CarryOut = ReturnType<typeof makeCarryOut>

const formOf = (offer: Offer, values: JsonObject) => ({
  kind: 'parameters' as const,
  clarification_id: null,
  title: offer.name,
  schema: offer.inputs ?? { type: 'object' },
  values: { ...defaultsOf(requirementsOf(offer.inputs ?? true)), ...values },
})

const answererOf = ({ author, origin }: By): Answerer => {
  switch (author.kind) {
    case 'person':
      return { id: origin.id ?? author.userId, name: author.name, userId: author.userId }
    case 'visitor':
      return { id: origin.id ?? 'visitor', name: 'a visitor' }
    case 'external':
      return { id: origin.id ?? author.id, name: author.name }
  }
}
