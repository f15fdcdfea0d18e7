import type { Answerer, Questions } from '#areas/approvals/questions'
import { defaultsOf, requirementsOf } from '#areas/requirements/extract'
import { enqueue } from '#engine/enqueue'
import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { newId } from '#platform/ids'
import { insertExecution } from './execution-store.ts'
import { closeForms, type FormRow, insertForm, updateFormValues } from './form-store.ts'
import { initiatorsOfTurn } from './initiators.ts'
import type { NewMessage } from './message-store.ts'
import type { Offer } from './offer-store.ts'
import { askedNow, type OpenQuestion } from './state.ts'
import * as texts from './texts.ts'
import { type Decision, wantsForm } from './think.ts'
import type { Held } from './thread-store.ts'
import type { Author, Origin } from './types.ts'

// What was decided becomes true: messages, forms, executions and answers, in the transaction that holds the thread.

export type Deed = {
  held: Held
  /** What is said in this turn, written together at its end. */
  said: NewMessage[]
  /** What else becomes true with it, in this order, after the thread and what was said. */
  writes: ((tx: Tx) => Promise<unknown>)[]
  /** The form that is open. */
  form: FormRow | null
  executionId: string | null
  /** How many executions. */
  started: number
}

export type By = { author: Author; origin: Origin }

export type CarryOutDependencies = {
  questions(): Pick<Questions, 'answer' | 'stillOpen' | 'isForPerson'>
  /** Refuses with `quota_exceeded`. */
  checkQuota(tx: Tx, workspaceId: string): Promise<void>
}

/** Forms are for those who can show them. */
export const showsForms = ({ kind }: Pick<Held, 'kind'>): boolean => kind === 'embed' || kind === 'thread'

export function makeCarryOut({ questions, checkQuota }: CarryOutDependencies) {
  const say = (deed: Deed, text: string, executionId: string | null = null): void =>
    void deed.said.push({ role: 'assistant', text, execution_id: executionId })

  function closeForm(deed: Deed, status: 'submitted' | 'cancelled' | 'replaced'): void {
    if (!deed.form) return
    deed.form = null
    deed.writes.push((tx) => closeForms(tx, deed.held, status))
  }

  /** The form of a question that is no longer open goes with it. */
  function closeStale(deed: Deed): void {
    const asked = deed.form?.clarification_id ?? null
    const { questions: open } = deed.held.state
    if (asked !== null && !open.some(({ clarification_id }) => clarification_id === asked)) closeForm(deed, 'cancelled')
  }

  function showForm(
    deed: Deed,
    form: Pick<FormRow, 'kind' | 'clarification_id' | 'title' | 'schema' | 'values'>,
  ): void {
    const { held, form: open } = deed
    if (!showsForms(held)) return
    if (
      open &&
      open.clarification_id === form.clarification_id &&
      JSON.stringify(open.schema) === JSON.stringify(form.schema)
    ) {
      if (JSON.stringify(open.values) === JSON.stringify(form.values)) return
      deed.form = { ...open, values: form.values }
      deed.writes.push((tx) => updateFormValues(tx, held.workspace_id, open.form_id, form.values))
      return
    }
    closeForm(deed, 'replaced')
    const shown = { ...form, form_id: newId(), status: 'open' as const }
    deed.form = shown
    deed.writes.push((tx) => insertForm(tx, held, shown))
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

  /** False where it cannot be started now; nothing is lost then, and trying again is all it takes. */
  async function start(tx: Tx, deed: Deed, offer: Offer, input: JsonObject, by: By): Promise<boolean> {
    const { held } = deed
    const executionId = newId()
    if (await refusedFor(tx, held.workspace_id)) return false
    const outcome = await enqueue(tx, {
      workspaceId: held.workspace_id,
      executionId,
      input,
      definitionRef: `version:${offer.version_id}`,
      workflowId: offer.workflow_id,
      versionId: offer.version_id,
      timeoutS: offer.settings.timeout_s ?? null,
      maxConcurrency: offer.settings.max_concurrency ?? null,
      trigger: by.origin,
      startedBy: by.author.kind === 'person' ? by.author.userId : null,
      principalId: offer.principal_id,
      initiatedBy: await initiatorsOfTurn(tx, held, offer, by),
      tellEnd: true,
    })
    if (outcome !== 'accepted') return false
    const { workflow_id, name: title } = offer
    deed.writes.push((later) => insertExecution(later, held, { execution_id: executionId, workflow_id, title }))
    closeForm(deed, 'submitted')
    held.state = {
      ...held.state,
      gathering: null,
      running: [...held.state.running, { execution_id: executionId, title }],
      started: { execution_id: executionId, workflow_id, values: input },
    }
    deed.executionId = executionId
    deed.started += 1
    say(deed, texts.startedText(title), executionId)
    return true
  }

  /** Gives an answer to whoever asked. Refused by those who keep the questions: closed, unknown, or not fitting. */
  async function give(
    tx: Tx,
    deed: Deed,
    by: By & { response: Json },
    to: { execution_id: string; clarification_id?: string | undefined },
  ): Promise<{ clarification_id: string }> {
    const { held } = deed
    const answered = await questions().answer(
      tx,
      held.workspace_id,
      to.execution_id,
      { response: by.response, clarificationId: to.clarification_id },
      answererOf(by),
      // Somebody of the house answers as by any other door; the others, what is asked of whoever started it.
      by.author.kind === 'person' ? ({ named }) => named : ({ who }) => who === null,
    )
    const { clarification_id } = answered
    held.state = {
      ...held.state,
      questions: held.state.questions.filter((question) => question.clarification_id !== clarification_id),
    }
    if (deed.form?.clarification_id === clarification_id) closeForm(deed, 'submitted')
    return { clarification_id }
  }

  /** False where it was answered, or closed, through another door. */
  async function answer(tx: Tx, deed: Deed, question: OpenQuestion, response: Json, by: By): Promise<boolean> {
    const { held } = deed
    try {
      await give(tx, deed, { ...by, response }, question)
      return true
    } catch (error) {
      if (!isProblem(error, 'not_waiting') && !isProblem(error, 'unknown_reference')) throw error
      const { clarification_id } = question
      const left = held.state.questions.filter((one) => one.clarification_id !== clarification_id)
      held.state = { ...held.state, questions: left }
      closeStale(deed)
      return false
    }
  }

  /** What stands open next is asked again: another question, or the inputs that were being gathered. */
  function remind(deed: Deed, offers: Offer[]): void {
    const { held } = deed
    const question = askedNow(held.state)
    if (question) {
      say(deed, texts.questionText(question.question, question.schema))
      showQuestionForm(deed, question)
    } else if (held.state.gathering) {
      const { workflow_id, values } = held.state.gathering
      const offer = offers.find((one) => one.workflow_id === workflow_id)
      if (offer) showForm(deed, formOf(offer, values))
    }
  }

  function showQuestionForm(deed: Deed, question: OpenQuestion): void {
    if (!wantsForm(question.schema)) return
    showForm(deed, {
      kind: 'question',
      clarification_id: question.clarification_id,
      title: question.question.slice(0, 300),
      schema: question.schema,
      values: { ...defaultsOf(requirementsOf(question.schema)), ...question.values },
    })
  }

  const showInputs = (deed: Deed, offer: Offer, values: JsonObject): void => showForm(deed, formOf(offer, values))

  async function carryOut(tx: Tx, deed: Deed, decision: Decision, by: By, offers: Offer[]): Promise<void> {
    const { held } = deed
    switch (decision.kind) {
      case 'silent':
        return
      case 'say':
        if (decision.drop) {
          held.state = { ...held.state, gathering: null }
          closeForm(deed, 'cancelled')
        }
        if (decision.offered) held.state = { ...held.state, offered: decision.offered }
        for (const text of decision.texts) say(deed, text)
        return
      case 'gather': {
        const { offer, values, asked } = decision
        held.state = { ...held.state, gathering: { workflow_id: offer.workflow_id, values, asked } }
        for (const text of decision.texts) say(deed, text)
        showForm(deed, formOf(offer, values))
        return
      }
      case 'start':
        if (await start(tx, deed, decision.offer, decision.input, by)) return
        held.state = {
          ...held.state,
          gathering: { workflow_id: decision.offer.workflow_id, values: decision.input, asked: null },
        }
        say(deed, texts.NOT_NOW)
        return
      case 'answer': {
        const taken = await answer(tx, deed, decision.question, decision.response, by)
        say(deed, taken ? texts.ANSWERED : texts.ANSWERED_ELSEWHERE)
        remind(deed, offers)
        return
      }
      case 'set_aside': {
        const { question } = decision
        held.state = { ...held.state, questions: replaced(held, { ...question, aside: true }) }
        if (deed.form?.clarification_id === question.clarification_id) closeForm(deed, 'cancelled')
        held.state = { ...held.state, offered: decision.offered }
        for (const text of decision.texts) say(deed, text)
        return
      }
      case 'ask_again':
        held.state = { ...held.state, questions: replaced(held, decision.question) }
        for (const text of decision.texts) say(deed, text)
        showQuestionForm(deed, decision.question)
    }
  }

  return { carryOut, say, closeForm, closeStale, showInputs, start, give, answer, remind, showQuestionForm }
}

const replaced = ({ state }: Held, question: OpenQuestion): OpenQuestion[] =>
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
