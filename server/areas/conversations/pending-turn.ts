import { defaultsOf, requirementsOf } from '#areas/requirements/extract'
import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { wantsForm } from './decide.ts'
import { closeForms, type FormRow, insertForm, updateFormValues } from './form-store.ts'
import { phrasesFor } from './languages/index.ts'
import type { NewMessage } from './message-store.ts'
import type { Offer } from './offer-store.ts'
import { askedNow, type OpenQuestion } from './state.ts'
import * as texts from './texts.ts'
import type { LockedThread } from './thread-store.ts'

// The messages and forms of a turn so far. Nothing is written before the turn ends.

export type PendingTurn = {
  thread: LockedThread
  /** Messages of this turn. They are written together at its end. */
  messages: NewMessage[]
  /** Other writes of the turn. They run in this order, after the writes of the thread and its messages. */
  writes: ((tx: Tx) => Promise<unknown>)[]
  /** The open form. */
  form: FormRow | null
  executionId: string | null
  /** Number of executions started in this turn. */
  started: number
}

/** Creates the container for changes to a conversation outside of a turn. */
export const pendingChangesOf = (thread: LockedThread, form: FormRow | null): PendingTurn => ({
  thread,
  messages: [],
  writes: [],
  form,
  executionId: null,
  started: 0,
})

/** Only the widget and the console can show forms. */
const showsForms = ({ kind }: Pick<LockedThread, 'kind'>): boolean => kind === 'embed' || kind === 'thread'

export const say = (pending: PendingTurn, text: string, executionId: string | null = null): void =>
  void pending.messages.push({ role: 'assistant', text, execution_id: executionId })

export function closeForm(pending: PendingTurn, status: 'submitted' | 'cancelled' | 'replaced'): void {
  if (!pending.form) return
  pending.form = null
  pending.writes.push((tx) => closeForms(tx, pending.thread, status))
}

/** Closes the form of a question that is no longer open. */
export function closeStale(pending: PendingTurn): void {
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

const formOf = (offer: Offer, values: JsonObject) => ({
  kind: 'parameters' as const,
  clarification_id: null,
  title: offer.name,
  schema: offer.inputs ?? { type: 'object' },
  values: { ...defaultsOf(requirementsOf(offer.inputs ?? true)), ...values },
})

export function showQuestionForm(pending: PendingTurn, question: OpenQuestion): void {
  if (!wantsForm(question.schema)) return
  showForm(pending, {
    kind: 'question',
    clarification_id: question.clarification_id,
    title: question.question.slice(0, 300),
    schema: question.schema,
    values: { ...defaultsOf(requirementsOf(question.schema)), ...question.values },
  })
}

export const showInputs = (pending: PendingTurn, offer: Offer, values: JsonObject): void =>
  showForm(pending, formOf(offer, values))

/** Asks again for the information that is still missing: another question, or the inputs that were being collected. */
export function remind(pending: PendingTurn, offers: Offer[]): void {
  const { thread } = pending
  const question = askedNow(thread.state)
  if (question) {
    say(pending, texts.questionText(phrasesFor(thread.state), question.question, question.schema))
    showQuestionForm(pending, question)
  } else if (thread.state.gathering) {
    const { workflow_id, values } = thread.state.gathering
    const offer = offers.find((one) => one.workflow_id === workflow_id)
    if (offer) showForm(pending, formOf(offer, values))
  }
}
