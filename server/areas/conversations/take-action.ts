import { requirementsOf } from '#areas/requirements/extract'
import { validateJson } from '#model/json-schema'
import type { Tx } from '#platform/db/pool'
import { problem, unknownReference } from '#platform/errors'
import type { ConversationActions } from './conversation-actions.ts'
import { fitting, inputOf, missingOf } from './decide.ts'
import { type FormRow, findForm, findOpenForm } from './form-store.ts'
import { phrasesFor } from './languages/index.ts'
import type { Offer } from './offer-store.ts'
import type { PendingTurn } from './pending-turn.ts'
import * as texts from './texts.ts'
import { lockThread } from './thread-store.ts'
import { begin, finish, inOneTransaction, lockForTurn, type TurnDependencies } from './turn-frame.ts'
import { authorFields, questionOf, refuseWrong } from './turn-parts.ts'
import type { FormAction, Respond, Turn } from './types.ts'

// Turns without a text message: a form that is submitted or cancelled, and an answer given by id.

export async function takeAction(deps: TurnDependencies, action: FormAction): Promise<Turn> {
  const { workspaceId, threadId } = action
  return inOneTransaction(deps, action, async (tx, pendingTurns) => {
    const { thread, around, before } = await lockForTurn(tx, action)
    if (before) return before
    const form =
      around.form?.form_id === action.formId ? around.form : await findForm(tx, workspaceId, threadId, action.formId)
    if (!form) throw unknownReference('/form_id')
    if (form.status !== 'open')
      throw problem('form_closed', `The form was already ${form.status}. Write a message to go on.`)
    await deps.updates.dropClosed(tx, thread)
    const { offers } = around
    const values = action.values ?? {}
    const say = phrasesFor(thread.state)
    const text =
      action.action === 'cancel' ? say.formCancelled : texts.submittedText(say, values, requirementsOf(form.schema))
    const pending = begin({ thread, form: around.form }, { ...authorFields(action), text })
    pendingTurns.push(pending)
    if (action.action === 'cancel') cancelForm(deps.actions, pending, form, offers)
    else await submitForm(deps.actions, tx, pending, form, { ...action, values }, offers)
    return finish(tx, pending, offers)
  })
}

function cancelForm(actions: ConversationActions, pending: PendingTurn, form: FormRow, offers: Offer[]): void {
  const { thread } = pending
  const say = phrasesFor(thread.state)
  actions.closeForm(pending, 'cancelled')
  if (form.kind === 'question') {
    const question = questionOf(thread, form)
    if (question) actions.say(pending, texts.questionText(say, question.question, question.schema))
    return
  }
  thread.state = { ...thread.state, gathering: null, offered: offers.map(({ workflow_id }) => workflow_id) }
  actions.say(pending, say.cancelled)
  actions.say(pending, texts.menu(say, offers))
}

async function submitForm(
  actions: ConversationActions,
  tx: Tx,
  pending: PendingTurn,
  form: FormRow,
  action: FormAction & { values: NonNullable<FormAction['values']> },
  offers: Offer[],
): Promise<void> {
  const { thread } = pending
  const say = phrasesFor(thread.state)
  if (form.kind === 'question') {
    const question = questionOf(thread, form)
    if (question) refuseWrong(form.schema, action.values)
    const taken = question && (await actions.answer(tx, pending, question, action.values, action))
    if (!question) actions.closeForm(pending, 'cancelled')
    actions.say(pending, taken ? say.answered : say.answeredElsewhere)
    return actions.remind(pending, offers)
  }
  const wanted = thread.state.gathering?.workflow_id
  const offer = offers.find(({ workflow_id }) => workflow_id === wanted)
  if (!offer) {
    thread.state = { ...thread.state, gathering: null, offered: offers.map(({ workflow_id }) => workflow_id) }
    actions.closeForm(pending, 'cancelled')
    actions.say(pending, say.gone)
    actions.say(pending, texts.menu(say, offers))
    return
  }
  const input = inputOf(offer, action.values)
  // The workflow may have a newer version than the version from which the form was made.
  const changed = JSON.stringify(offer.inputs ?? { type: 'object' }) !== JSON.stringify(form.schema)
  if (changed && validateJson(offer.inputs ?? true, input).length > 0) {
    const values = fitting(action.values, requirementsOf(offer.inputs ?? true))
    const [first] = missingOf(offer, values)
    thread.state = {
      ...thread.state,
      gathering: { workflow_id: offer.workflow_id, values, asked: first?.name ?? null },
    }
    actions.say(pending, say.formChanged)
    return actions.showInputs(pending, offer, values)
  }
  refuseWrong(offer.inputs ?? true, input)
  if (!(await actions.start(tx, pending, offer, input, action))) actions.say(pending, say.notNow)
}

/** Gives an answer by id instead of by text. The answer appears in the history like any other. */
export async function respond(deps: TurnDependencies, given: Respond): Promise<{ clarification_id: string }> {
  const { workspaceId, threadId } = given
  return inOneTransaction(deps, given, async (tx, pendingTurns) => {
    const thread = await lockThread(tx, workspaceId, threadId)
    if (!thread || given.isTheirs?.(thread) === false) throw problem('not_found')
    const asked = thread.state.questions.filter(({ root_id }) => root_id === given.executionId)
    const question = asked.find(
      ({ clarification_id }) => given.clarificationId === undefined || clarification_id === given.clarificationId,
    )
    const form = (await findOpenForm(tx, workspaceId, threadId)) ?? null
    const pending = begin(
      { thread, form },
      { ...authorFields(given), text: texts.resultText(phrasesFor(thread.state), given.response) },
    )
    pendingTurns.push(pending)
    // The approvals area refuses a question that is not open, with its reason.
    const done = await deps.actions.give(tx, pending, given, {
      execution_id: question?.execution_id ?? given.executionId,
      clarification_id: question?.clarification_id ?? given.clarificationId,
    })
    await finish(tx, pending, [])
    return done
  })
}
