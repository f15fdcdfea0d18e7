import { validateInTurn } from '#engine/checking'
import { NodeFailure } from '#engine/node'
import { clarification } from '#engine/nodes/clarification'
import { checkArgs } from '#engine/nodes/kind'
import type { Engine, Opened, Settled, WaitRequest } from '#engine/ports'
import type { Turns } from '#engine/worker/turns'
import type { Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { checkSchema } from '#model/json-schema-check'
import type { AccessLevel } from '#platform/access/rules'
import type { Database, Tx } from '#platform/db/pool'
import { invalid, type Problem, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { toWire } from '#platform/ids'
import { inWorkspace } from './gate-dependencies.ts'
import { openedOnce } from './opened-once.ts'
import { given } from './policy.ts'
import { notifyAnswerers, questionForYou, settleNotices } from './question-notices.ts'
import type { Asked, Row } from './question-store.ts'
import * as store from './question-store.ts'
import { type Earlier, findEarlier, provenanceOf, reuseOf } from './reuse.ts'
import { beginOpening } from './store.ts'

// Questions of executions to people. The first valid answer wins, no matter where it was given. It is sent to the
// engine in the transaction that records it.

/** Who gave an answer, or what gave it, such as the default. `userId` is the uuid of a member of the workspace. */
export type Answerer = { id: string; name: string; userId?: string }

export type AskedQuestion = Pick<
  Row,
  'workspace_id' | 'clarification_id' | 'execution_id' | 'question' | 'schema' | 'who'
>

/** Sends messages to an execution. */
type GetEngine = () => Pick<Engine, 'send'>

export type QuestionDependencies = {
  db: Database
  engine: GetEngine
  /** Shares the time for expensive checks between workspaces. */
  turns: Pick<Turns, 'next'>
  /** Called once, in the transaction that opens the question, so that a conversation can ask it. */
  onAsked?(tx: Tx, question: AskedQuestion): Promise<void>
}

/** The share of the time to the due time after which a reminder is sent. */
const REMIND_AT = 0.5

const remindAt = ({ due_at, reminded, asked_at }: Row): Date | null =>
  due_at === null || reminded
    ? null
    : new Date(asked_at.getTime() + (due_at.getTime() - asked_at.getTime()) * REMIND_AT)

const opened = (row: Row, suggested?: Earlier): Opened => ({
  data: {
    clarification_id: toWire('clr', row.clarification_id),
    question: row.question,
    schema: row.schema,
    ...(row.due_at && { due_at: row.due_at.toISOString() }),
    ...(suggested && { suggested: { answer: suggested.answer, ...provenanceOf(suggested) } }),
  },
  dueAt: remindAt(row) ?? row.due_at,
})

/**
 * Locks the latest question of the node. A recheck waits for the end of the transaction, which may notify people, so
 * that nobody who joins in the meantime is missed.
 */
async function lockLatest(tx: Tx, wait: store.WhereAsked): Promise<Row | undefined> {
  // Both queries are sent in one round trip.
  const [, row] = await Promise.all([beginOpening(tx, wait.workspaceId), store.lockLatest(tx, wait)])
  return row
}

async function askQuestion(deps: QuestionDependencies, wait: WaitRequest): Promise<Opened> {
  const { args } = wait
  checkArgs(clarification.descriptor, given(args))
  const [wrong] = checkSchema(args.schema ?? {})
  if (wrong)
    throw new NodeFailure('args_invalid', `Ask a question: schema${wrong.path} ${wrong.message}`, {
      retryable: false,
    })
  const ask = () =>
    deps.db.tenant(inWorkspace(wait.workspaceId), async (tx) => {
      // After a crash the node may ask a question that was asked, or even answered, before the journal event was
      // written: this is the same question.
      const present = await lockLatest(tx, wait)
      // A retry of the node asks again what nobody answered in time.
      if (present && !(present.status === 'expired' && wait.attempt > 1))
        return present.status === 'open' ? opened(present) : { ...opened(present), settled: outcomeOf(present) }
      const reuse = reuseOf(wait)
      const row = await store.insertQuestion(tx, wait, reuse?.key ?? null)
      // If no member matches `who`, the question goes to the owners of the workspace, so that it does not wait forever.
      if (row.who !== null && (await store.listAnswerers(tx, row)).length === 0) await store.markEscalated(tx, row)
      const earlier = reuse ? await findEarlier(tx, row, reuse) : undefined
      if (earlier && reuse?.use === 'take') {
        const taken = await store.answerFromEarlier(tx, row, earlier)
        const outcome = outcomeOf(taken, earlier)
        // Sent like any answer, so that the journal records where it comes from.
        signalExecution(deps.engine, tx, taken, { outcome })
        return { ...opened(taken), settled: outcome }
      }
      await notifyAnswerers(tx, row, 'clarification.asked', questionForYou(row))
      await deps.onAsked?.(tx, row)
      return opened(row, earlier)
    })
  return openedOnce('questions_one_open', ask)
}

async function close(engine: GetEngine, tx: Tx, row: Row, answer: Json, by: Answerer): Promise<void> {
  const answered = { ...row, status: 'answered' as const, answer, answered_by: by.id, answered_by_name: by.name }
  // Locks the execution before the feeds of people, as a vote does. No statement waits for the result of another, so
  // that an answer needs no additional round trip.
  signalExecution(engine, tx, answered, { isLast: true })
  store.sendAnswer(tx, row, answer, by)
  await settleNotices(tx, row.workspace_id, [row], `Answered by ${by.name}`)
}

type AnswerSignal = { outcome?: Settled; isLast?: boolean }

const signalExecution = (engine: GetEngine, tx: Tx, row: Row, { outcome, isLast = false }: AnswerSignal = {}): void =>
  engine().send(
    tx,
    { workspaceId: row.workspace_id, executionId: row.execution_id, key: `question:${row.clarification_id}` },
    outcome ?? outcomeOf(row),
    { isLast },
  )

/** Records an answer in the caller's transaction. `mayAnswer` decides whether the answerer may give it. */
async function answer(
  { engine, turns }: Pick<QuestionDependencies, 'engine' | 'turns'>,
  tx: Tx,
  workspaceId: string,
  executionId: string,
  answered: { response: Json; clarificationId?: string | undefined },
  by: Answerer,
  mayAnswer: (question: Asked) => boolean,
  locked = store.lockFor(tx, by.userId, [workspaceId, executionId, answered.clarificationId]),
): Promise<{ clarification_id: string; execution_id: string; status: 'answered' }> {
  const [wanted, another] = await locked
  if (another) throw invalid([{ path: '/clarification_id', message: 'is required: several questions are open' }])
  if (answered.clarificationId !== undefined && !wanted) throw unknownReference('/clarification_id')
  if (wanted?.status !== 'open')
    throw problem('not_waiting', whyNotWaiting(wanted ?? (await store.findNewest(tx, workspaceId, executionId)), by))
  if (!mayAnswer(wanted)) throw addressedToOthers()
  const issues = await validateInTurn(turns, workspaceId, wanted.schema, answered.response)
  if (issues.length > 0)
    throw invalid(
      issues.slice(0, 50).map((issue) => ({ path: `/response${issue.path}`, message: issue.message })),
      'The response does not match the schema of the question.',
    )
  await close(engine, tx, wanted, answered.response, by)
  return { clarification_id: wanted.clarification_id, execution_id: executionId, status: 'answered' }
}

async function questionDue(deps: QuestionDependencies, wait: store.WhereAsked): Promise<{ dueAt: Date | null }> {
  return deps.db.tenant(inWorkspace(wait.workspaceId), async (tx) => {
    const row = await lockLatest(tx, wait)
    if (row?.status !== 'open' || row.due_at === null) return { dueAt: null }
    // The database clock decides: a timer that fires twice or early neither escalates nor fails a question before its
    // due time.
    const { passed } = await tx.row<{ passed: boolean }>('select $1::timestamptz <= now() as passed', [row.due_at])
    if (!passed) {
      if (!row.reminded) {
        await store.markReminded(tx, row)
        await notifyAnswerers(tx, row, 'clarification.reminder', `Still waiting for your answer: ${row.question}`)
      }
      return { dueAt: row.due_at }
    }
    if (row.on_due === 'default' && validateJson(row.schema, row.default_answer).length === 0) {
      await close(deps.engine, tx, row, row.default_answer, { id: 'default', name: 'the default answer' })
      return { dueAt: null }
    }
    if (row.on_due === 'escalate' && !row.escalated) {
      const escalated = await store.escalate(tx, row)
      await notifyAnswerers(tx, escalated, 'clarification.escalated', `Nobody has answered yet: ${row.question}`)
      return { dueAt: escalated.due_at }
    }
    signalExecution(deps.engine, tx, { ...row, status: 'expired' })
    await store.markExpired(tx, row)
    await settleNotices(tx, row.workspace_id, [row], 'The time to answer has passed')
    return { dueAt: null }
  })
}

/** Cancels the open questions of the execution, or of the node at `path`, after it has ended. */
async function cancelOpen(tx: Tx, workspaceId: string, executionId: string, path?: string): Promise<void> {
  const cancelled = await store.cancelOpen(tx, workspaceId, executionId, path)
  await settleNotices(tx, workspaceId, cancelled, 'Withdrawn: the execution no longer waits for it')
}

type AnswerArgs = Parameters<typeof answer> extends [unknown, ...infer Rest] ? Rest : never

export const makeQuestions = (deps: QuestionDependencies) => ({
  askQuestion: (wait: WaitRequest) => askQuestion(deps, wait),
  questionDue: (wait: store.WhereAsked) => questionDue(deps, wait),
  answer: (...args: AnswerArgs) => answer(deps, ...args),

  cancelOpen,
  stillOpen: store.listStillOpen,
  isForPerson: store.isForPerson,

  /** Lets a person who is named by a question of the execution see that the execution exists. */
  async accessLevelThroughQuestion(ctx: Context, executionId: string): Promise<AccessLevel | undefined> {
    const named = await store.isNamedIn(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, executionId)
    return named ? 'visible' : undefined
  },

  /** Locks the questions that a caller who names no question can mean. */
  lockOnlyOne: async (ctx: Context, { execution_id }: { execution_id: string }): Promise<Asked[]> =>
    store.lockFor(ctx.tx, ctx.person.user_id, [ctx.workspace.workspace_id, execution_id]),

  async mayRespond(ctx: Context, { execution_id }: { execution_id: string }): Promise<void> {
    const { workspace_id } = ctx.workspace
    if (await store.areForOthers(ctx.tx, workspace_id, ctx.person.user_id, execution_id)) throw addressedToOthers()
  },

  async respond(
    ctx: Context,
    {
      execution_id,
      response,
      clarification_id,
    }: { execution_id: string; response: unknown; clarification_id?: string | undefined },
    { ahead }: { ahead?: Promise<unknown> | undefined },
  ) {
    return answer(
      deps,
      ctx.tx,
      ctx.workspace.workspace_id,
      execution_id,
      { response: response as Json, clarificationId: clarification_id },
      answererOf(ctx),
      ({ named }) => named,
      clarification_id === undefined ? (ahead as Promise<Asked[]>) : undefined,
    )
  },

  /** Lists the open questions that the caller may answer, soonest due first. */
  listQuestionInbox: (ctx: Context, asked: ListInput) =>
    store.listInbox(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, asked),
})

/** Returns the message to the execution about a question that was answered or has expired. */
function outcomeOf(row: Row, earlier?: Earlier): Settled {
  const { node_path: nodePath, node_id, clarification_id, answered_by, answered_by_name } = row
  if (row.status === 'answered')
    return {
      type: 'clarification.answered',
      nodePath,
      answer: row.answer,
      data: {
        node_id,
        clarification_id: toWire('clr', clarification_id),
        answered_by: { id: answered_by, name: answered_by_name },
        ...(earlier && { reused: provenanceOf(earlier) }),
      },
    }
  const why = row.on_due === 'default' ? ', and the default answer does not match its schema' : ''
  return {
    type: 'node.failed',
    nodePath,
    error: { code: 'question_expired', message: `the question "${row.question}" was not answered in time${why}` },
  }
}

const answererOf = ({ person }: Context): Answerer => ({
  id: toWire('usr', person.user_id),
  name: person.name,
  userId: person.user_id,
})

const addressedToOthers = (): Problem => problem('forbidden', 'The question is addressed to somebody else.')

/** An answerer from outside the workspace does not learn the names of its members. */
function whyNotWaiting(row: Row | undefined, { userId }: Answerer): string {
  if (!row) return 'The execution is not waiting for an answer.'
  if (row.status === 'answered')
    return userId === undefined
      ? 'It was answered before.'
      : `It was answered by ${row.answered_by_name ?? 'somebody else'}.`
  return row.status === 'expired' ? 'The time to answer has passed.' : 'The execution no longer waits for this answer.'
}

export type Questions = ReturnType<typeof makeQuestions>
