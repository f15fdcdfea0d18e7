import type { Answerer, Questions } from '#areas/approvals/questions'
import { enqueue } from '#engine/enqueue'
import { flowOf } from '#engine/flow/rules'
import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { newId } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import { conversationOf } from './conversation-input.ts'
import type { Decision } from './decide.ts'
import { insertExecution } from './execution-store.ts'
import { askForPerson } from './handover.ts'
import { initiatorsOfTurn } from './initiators.ts'
import { phrasesFor } from './languages/index.ts'
import { handedOver } from './notices.ts'
import type { Offer } from './offer-store.ts'
import * as turn from './pending-turn.ts'
import type { OpenQuestion } from './state.ts'
import type { LockedThread } from './thread-store.ts'
import type { Author, Origin } from './types.ts'

// Applies a decision: messages, forms, executions and answers, in the transaction that locks the thread.

export type MessageSource = { author: Author; origin: Origin }

export type ActionDependencies = {
  questions(): Pick<Questions, 'answer' | 'stillOpen' | 'isForPerson'>
  /** Throws `quota_exceeded`. */
  checkQuota(tx: Tx, workspaceId: string): Promise<void>
  /** Records that the execution uses the files that its input names and that this giver has sent. */
  takeFiles: TakeFilesIn
}

export type TakeFilesIn = (
  tx: Tx,
  taking: { workspaceId: string; executionId: string; input: Json; giver: { userId: string | null; senderId: string } },
) => Promise<void>

/** Files of a person from outside belong to the visitor, or to the conversation of a channel. */
const fileOwnerOf = (
  { visitor_id, thread_id }: Pick<LockedThread, 'visitor_id' | 'thread_id'>,
  { author }: MessageSource,
) => ({
  userId: author.kind === 'person' ? author.userId : null,
  senderId: visitor_id ?? thread_id,
})

const refusedFor = async ({ checkQuota }: ActionDependencies, tx: Tx, workspaceId: string): Promise<boolean> => {
  try {
    await checkQuota(tx, workspaceId)
    return false
  } catch (error) {
    if (isProblem(error, 'quota_exceeded')) return true
    throw error
  }
}

/** Returns false if the workflow cannot be started now. Nothing is lost, and the person can try again. */
async function start(
  deps: ActionDependencies,
  tx: Tx,
  pending: turn.PendingTurn,
  offer: Offer,
  given: JsonObject,
  by: MessageSource,
  /**
   * The turn of an assistant that reports the end itself. If undefined, the conversation posts that the workflow was
   * started.
   */
  answering?: string,
): Promise<boolean> {
  const { thread } = pending
  const executionId = newId()
  const { conversation_field: field } = offer
  const conversation = field === null ? {} : { [field]: await conversationOf(tx, thread, by.author, pending.messages) }
  const input: JsonObject = { ...given, ...conversation }
  if (await refusedFor(deps, tx, thread.workspace_id)) return false
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
  await deps.takeFiles(tx, { workspaceId: thread.workspace_id, executionId, input, giver: fileOwnerOf(thread, by) })
  const { workflow_id, name: title } = offer
  pending.writes.push((later) => insertExecution(later, thread, { execution_id: executionId, workflow_id, title }))
  turn.closeForm(pending, 'submitted')
  thread.state = {
    ...thread.state,
    gathering: null,
    running: [...thread.state.running, { execution_id: executionId, title, ...(answering && { answering }) }],
    started: { execution_id: executionId, workflow_id, values: given },
  }
  pending.executionId = executionId
  pending.started += 1
  if (answering === undefined) turn.say(pending, phrasesFor(thread.state).started(title), executionId)
  return true
}

/**
 * Passes an answer to the execution that asked. The approvals area refuses the answer if the question is closed or
 * unknown, or if the answer does not fit.
 */
async function give(
  deps: ActionDependencies,
  tx: Tx,
  pending: turn.PendingTurn,
  by: MessageSource & { response: Json },
  to: { execution_id: string; clarification_id?: string | undefined },
): Promise<{ clarification_id: string }> {
  const { thread } = pending
  const answered = await deps.questions().answer(
    tx,
    thread.workspace_id,
    to.execution_id,
    { response: by.response, clarificationId: to.clarification_id },
    answererOf(by),
    // A member of the workspace answers questions that name them, as in the console. Other people answer questions for
    // the person who started the execution.
    by.author.kind === 'person' ? ({ named }) => named : ({ who }) => who === null,
  )
  const taking = { workspaceId: thread.workspace_id, executionId: to.execution_id, input: by.response }
  await deps.takeFiles(tx, { ...taking, giver: fileOwnerOf(thread, by) })
  const { clarification_id } = answered
  thread.state = {
    ...thread.state,
    questions: thread.state.questions.filter((question) => question.clarification_id !== clarification_id),
  }
  if (pending.form?.clarification_id === clarification_id) turn.closeForm(pending, 'submitted')
  return { clarification_id }
}

/** Returns false if the question was answered or closed elsewhere. */
async function answer(
  deps: ActionDependencies,
  tx: Tx,
  pending: turn.PendingTurn,
  question: OpenQuestion,
  response: Json,
  by: MessageSource,
): Promise<boolean> {
  const { thread } = pending
  try {
    await give(deps, tx, pending, { ...by, response }, question)
    return true
  } catch (error) {
    if (!isProblem(error, 'not_waiting') && !isProblem(error, 'unknown_reference')) throw error
    const { clarification_id } = question
    const left = thread.state.questions.filter((one) => one.clarification_id !== clarification_id)
    thread.state = { ...thread.state, questions: left }
    turn.closeStale(pending)
    return false
  }
}

async function applyDecision(
  deps: ActionDependencies,
  tx: Tx,
  pending: turn.PendingTurn,
  decision: Decision,
  by: MessageSource,
  offers: Offer[],
): Promise<void> {
  const { thread } = pending
  const say = phrasesFor(thread.state)
  switch (decision.kind) {
    case 'silent':
      return
    case 'say':
      if (decision.drop) {
        thread.state = { ...thread.state, gathering: null }
        turn.closeForm(pending, 'cancelled')
      }
      if (decision.offered) thread.state = { ...thread.state, offered: decision.offered }
      for (const text of decision.texts) turn.say(pending, text)
      return
    case 'gather': {
      const { offer, values, asked } = decision
      thread.state = { ...thread.state, gathering: { workflow_id: offer.workflow_id, values, asked } }
      for (const text of decision.texts) turn.say(pending, text)
      turn.showInputs(pending, offer, values)
      return
    }
    case 'hand_over': {
      const { fresh, closed } = await askForPerson(tx, thread, decision.reason)
      turn.say(pending, handedOver(say, fresh, closed))
      return
    }
    case 'start':
      if (await start(deps, tx, pending, decision.offer, decision.input, by)) return
      thread.state = {
        ...thread.state,
        gathering: { workflow_id: decision.offer.workflow_id, values: decision.input, asked: null },
      }
      turn.say(pending, say.notNow)
      return
    case 'answer': {
      const taken = await answer(deps, tx, pending, decision.question, decision.response, by)
      turn.say(pending, taken ? say.answered : say.answeredElsewhere)
      turn.remind(pending, offers)
      return
    }
    case 'set_aside': {
      const { question } = decision
      thread.state = { ...thread.state, questions: replaced(thread, { ...question, aside: true }) }
      if (pending.form?.clarification_id === question.clarification_id) turn.closeForm(pending, 'cancelled')
      thread.state = { ...thread.state, offered: decision.offered }
      for (const text of decision.texts) turn.say(pending, text)
      return
    }
    case 'ask_again':
      thread.state = { ...thread.state, questions: replaced(thread, decision.question) }
      for (const text of decision.texts) turn.say(pending, text)
      turn.showQuestionForm(pending, decision.question)
  }
}

const replaced = ({ state }: LockedThread, question: OpenQuestion): OpenQuestion[] =>
  state.questions.map((one) => (one.clarification_id === question.clarification_id ? question : one))

const answererOf = ({ author, origin }: MessageSource): Answerer => {
  switch (author.kind) {
    case 'person':
      return { id: origin.id ?? author.userId, name: author.name, userId: author.userId }
    case 'visitor':
      return { id: origin.id ?? 'visitor', name: 'a visitor' }
    case 'external':
      return { id: origin.id ?? author.id, name: author.name }
  }
}

const verbs = { carryOut: applyDecision, start, give, answer }

export function makeConversationActions(deps: ActionDependencies) {
  const { say, closeForm, closeStale, showInputs, remind, showQuestionForm } = turn
  return {
    ...bindVerbs<ActionDependencies, typeof verbs>(deps, verbs),
    say,
    closeForm,
    closeStale,
    showInputs,
    remind,
    showQuestionForm,
  }
}

export type ConversationActions = ReturnType<typeof makeConversationActions>
