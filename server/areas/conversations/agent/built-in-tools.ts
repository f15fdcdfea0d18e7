import { type AgentTool, problemsOf } from '#engine/agents/tools'
import { NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isProblem } from '#platform/errors'
import type { ConversationActions } from '../conversation-actions.ts'
import { findOpenForm } from '../form-store.ts'
import { askForPerson, mayAskForPerson } from '../handover.ts'
import { saveTurn } from '../message-store.ts'
import { pendingChangesOf } from '../pending-turn.ts'
import type { OpenQuestion } from '../state.ts'
import { lockThread } from '../thread-store.ts'
import type { TurnDependencies } from '../turn-frame.ts'
import { forgetMemory, subjectOf } from './memory-store.ts'
import type { TurnContext } from './turn-context.ts'

// Tools of every assistant: pass on an answer, ask for a person, and forget the person.

const MAX_QUESTIONS = 5

export type BuiltInToolParts = {
  actions: Pick<ConversationActions, 'give'>
  isForPerson: TurnDependencies['isForPerson']
}

export function builtInTools(parts: BuiltInToolParts, context: TurnContext): AgentTool[] {
  const { thread } = context
  return [
    ...thread.state.questions.slice(0, MAX_QUESTIONS).map((question, at) => answerTool(parts, context, question, at)),
    ...(mayAskForPerson(thread) ? [handoverTool(context)] : []),
    ...(subjectOf(thread) !== null ? [forgetTool(context)] : []),
  ]
}

const made = (name: string, description: string, schema: JsonObject, run: AgentTool['run']): AgentTool => ({
  name,
  title: name,
  description,
  schema,
  effect: 'idempotent',
  check: (args) => problemsOf(schema, args),
  run,
})

const handoverTool = ({ turn, journal }: TurnContext): AgentTool =>
  made(
    'hand_over',
    'Asks a colleague to take over this conversation. Use it when the person asks for a human, or when you cannot help or are not sure.',
    {
      type: 'object',
      properties: { reason: { type: 'string', description: 'For the colleague, in a sentence', maxLength: 500 } },
      required: ['reason'],
      additionalProperties: false,
    },
    ({ args, effectKey }) =>
      journal.stepInTransaction(`handover:${effectKey}`, async (tx) => {
        const thread = await lockThread(tx, turn.workspace_id, turn.thread_id)
        if (!thread) throw new NodeFailure('not_found', 'the conversation is gone')
        const { fresh, closed } = await askForPerson(tx, thread, String(args.reason))
        const told = fresh ? 'Colleagues were told.' : 'Colleagues had been told already.'
        return { asked: true, note: closed === null ? told : `${told} ${closed} Tell the person so.` }
      }),
  )

const forgetTool = ({ thread, journal }: TurnContext): AgentTool =>
  made(
    'forget_me',
    'Forgets what is remembered about the person from earlier conversations. Only when they ask for it.',
    { type: 'object', properties: {}, additionalProperties: false },
    ({ effectKey }) =>
      journal.stepInTransaction(`forget:${effectKey}`, async (tx) => {
        await forgetMemory(tx, thread)
        return { forgotten: true }
      }),
  )

function answerTool(parts: BuiltInToolParts, context: TurnContext, question: OpenQuestion, at: number): AgentTool {
  const { turn, journal, by } = context
  const schema: JsonObject = {
    type: 'object',
    properties: { answer: question.schema },
    required: ['answer'],
    additionalProperties: false,
  }
  return made(
    `answer_question_${at + 1}`,
    `Passes on the person's answer to a question that waits for them: ${question.question.slice(0, 800)}`,
    schema,
    ({ args, effectKey }) =>
      journal.stepInTransaction(`answer:${effectKey}`, async (tx): Promise<Json> => {
        const { workspace_id: workspaceId, thread_id } = turn
        const thread = await lockThread(tx, workspaceId, thread_id)
        if (!thread) throw new NodeFailure('not_found', 'the conversation is gone')
        const { author } = by
        if (
          author.kind === 'person' &&
          !(await parts.isForPerson(tx, workspaceId, author.userId, question.clarification_id))
        )
          throw new NodeFailure('forbidden', 'this question is not for the person who wrote')
        const form = (await findOpenForm(tx, workspaceId, thread_id)) ?? null
        const pending = pendingChangesOf(thread, form)
        try {
          await parts.actions.give(tx, pending, { ...by, response: args.answer ?? null }, question)
        } catch (error) {
          if (isProblem(error)) throw new NodeFailure(error.code, error.message)
          throw error
        }
        await saveTurn(tx, thread, [])
        for (const write of pending.writes) await write(tx)
        return { passed_on: true, note: 'What comes of it is posted in the conversation.' }
      }),
  )
}
