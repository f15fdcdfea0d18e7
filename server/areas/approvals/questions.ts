import { NodeFailure } from '#engine/node'
import { clarification } from '#engine/nodes/clarification'
import { checkArgs } from '#engine/nodes/kind'
import type { Engine, Opened, PeopleWait } from '#engine/ports'
import type { Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { checkSchema } from '#model/json-schema-check'
import type { Standing } from '#platform/access/words'
import type { Database, Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context } from '#platform/http/context'
import { decodeDueCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { newId, toWire } from '#platform/ids'
import { isFor, type Named, namedIn } from './answerers.ts'
import { given } from './policy.ts'
import type { Question } from './schema.ts'

// Questions of executions to people. The first valid answer wins, from whichever door it comes; it is a signal to the
// engine in the transaction that records it.

type Row = {
  workspace_id: string
  clarification_id: string
  execution_id: string
  workflow_id: string | null
  node_path: string
  node_id: string
  question: string
  schema: Json
  who: Named[] | null
  status: Question['status']
  on_due: 'fail' | 'default' | 'escalate'
  default_answer: Json
  escalated: boolean
  started_by: string | null
  answered_by_name: string | null
  asked_at: Date
  due_at: Date | null
}

/** Through which door an answer came, and who gave it; a person of the workspace by their uuid. */
export type Answerer = { id: string; name: string; userId?: string }

type WhereAsked = Pick<PeopleWait, 'workspaceId' | 'executionId' | 'nodePath'>

/** A question, and whether whoever answers is one of those it is for. */
type Asked = Row & { named: boolean }

export type AskedQuestion = Pick<
  Row,
  'workspace_id' | 'clarification_id' | 'execution_id' | 'question' | 'schema' | 'who'
>

export function makeQuestions({
  db,
  engine,
  onAsked,
}: {
  db: Database
  engine: () => Pick<Engine, 'send'>
  /** In the transaction that opens the question, once: a conversation asks it. */
  onAsked?(tx: Tx, question: AskedQuestion): Promise<void>
}) {
  const scope = (workspaceId: string) => ({ workspaceId, userId: null })

  const opened = (row: Row): Opened => ({
    data: {
      clarification_id: toWire('clr', row.clarification_id),
      question: row.question,
      schema: row.schema,
      ...(row.due_at && { due_at: row.due_at.toISOString() }),
    },
    dueAt: row.due_at,
  })

  /** The one that the node asks now, or asked last. */
  const lockLatest = (tx: Tx, { workspaceId, executionId, nodePath }: WhereAsked): Promise<Row | undefined> =>
    tx.maybe<Row>(
      `select * from questions where workspace_id = $1 and execution_id = $2 and node_path = $3 and status <> 'cancelled'
       order by clarification_id desc limit 1 for update`,
      [workspaceId, executionId, nodePath],
    )

  const lockFor = (
    tx: Tx,
    by: Answerer,
    at: [workspaceId: string, executionId: string, id?: string],
  ): Promise<Asked[]> =>
    tx.rows<Asked>(
      `select q.*, ${isFor('$4::uuid')} as named from questions q
       where q.workspace_id = $1 and q.execution_id = $2 and case when $3::uuid is null then q.status = 'open' else q.clarification_id = $3 end
       order by q.clarification_id limit 2 for update`,
      [at[0], at[1], at[2] ?? null, by.userId ?? null],
    )

  const newest = (tx: Tx, workspaceId: string, executionId: string): Promise<Row | undefined> =>
    tx.maybe<Row>(
      'select * from questions where workspace_id = $1 and execution_id = $2 order by clarification_id desc limit 1',
      [workspaceId, executionId],
    )

  async function askQuestion(wait: PeopleWait): Promise<Opened> {
    const { args } = wait
    checkArgs(clarification.descriptor, given(args))
    const [wrong] = checkSchema(args.schema ?? {})
    if (wrong)
      throw new NodeFailure('args_invalid', `Ask a question: schema${wrong.path} ${wrong.message}`, {
        retryable: false,
      })
    return db.tenant(scope(wait.workspaceId), async (tx) => {
      // Perhaps answered before the journal knew that it was asked, and asked again after a crash: it is the same question.
      const present = await lockLatest(tx, wait)
      if (present) return opened(present)
      const row = await tx.row<Row>(
        `insert into questions (workspace_id, clarification_id, execution_id, workflow_id, node_path, node_id, question, schema, who, on_due, default_answer, started_by, due_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, date_trunc('milliseconds', now() + make_interval(secs => $13))) returning *`,
        [
          wait.workspaceId,
          newId(),
          wait.executionId,
          wait.workflowId,
          wait.nodePath,
          wait.nodeId,
          String(args.question ?? ''),
          JSON.stringify(args.schema ?? {}),
          namedIn(args.who),
          args.on_due ?? 'fail',
          args.default === undefined ? null : JSON.stringify(args.default),
          wait.startedBy,
          typeof args.due_in_s === 'number' ? args.due_in_s : null,
        ],
      )
      // Nobody it names is here: it goes to the owners of the workspace rather than waiting for ever.
      if (row.who !== null && (await answerers(tx, row)).length === 0)
        await tx.count('update questions set escalated = true where workspace_id = $1 and clarification_id = $2', [
          row.workspace_id,
          row.clarification_id,
        ])
      await tell(tx, row, 'clarification.asked', `A question for you: ${row.question}`)
      await onAsked?.(tx, row)
      return opened(row)
    })
  }

  async function tell(tx: Tx, row: Row, kind: string, title: string): Promise<void> {
    const people = await answerers(tx, row)
    await deliverEvent(tx, {
      workspaceId: row.workspace_id,
      kind,
      title: title.slice(0, 300),
      data: { clarification_id: toWire('clr', row.clarification_id), execution_id: toWire('exe', row.execution_id) },
      link: `/runs/${toWire('exe', row.execution_id)}`,
      to: people,
    })
  }

  /** Everybody who may answer now. */
  async function answerers(tx: Tx, row: Row): Promise<string[]> {
    const rows = await tx.rows<{ user_id: string }>('select user_id from question_answerers($1, $2)', [
      row.workspace_id,
      row.clarification_id,
    ])
    return rows.map(({ user_id }) => user_id)
  }

  function close(tx: Tx, row: Row, answer: Json, by: Answerer): void {
    tx.send(
      `update questions set status = 'answered', answer = $3, answered_by = $4, answered_by_name = $5, answered_at = now() where workspace_id = $1 and clarification_id = $2`,
      [row.workspace_id, row.clarification_id, JSON.stringify(answer), by.id, by.name],
    )
    engine().send(
      tx,
      { workspaceId: row.workspace_id, executionId: row.execution_id, key: `question:${row.clarification_id}` },
      {
        type: 'clarification.answered',
        nodePath: row.node_path,
        answer,
        data: {
          node_id: row.node_id,
          clarification_id: toWire('clr', row.clarification_id),
          answered_by: { id: by.id, name: by.name },
        },
      },
    )
  }

  /** Records an answer in the caller's transaction. Whether they may give it was settled before. */
  async function answer(
    tx: Tx,
    workspaceId: string,
    executionId: string,
    answered: { response: Json; clarificationId?: string | undefined },
    by: Answerer,
    mayAnswer: (question: Asked) => boolean,
    locked = lockFor(tx, by, [workspaceId, executionId, answered.clarificationId]),
  ): Promise<{ clarification_id: string; execution_id: string; status: 'answered' }> {
    // A map may ask thousands of questions at once: no more are read than it takes to know that there are several.
    const [wanted, another] = await locked
    if (another) throw invalid([{ path: '/clarification_id', message: 'must be given: several questions are open' }])
    if (answered.clarificationId !== undefined && !wanted) throw unknownReference('/clarification_id')
    if (wanted?.status !== 'open')
      throw problem('not_waiting', whyNotWaiting(wanted ?? (await newest(tx, workspaceId, executionId))))
    if (!mayAnswer(wanted)) throw problem('forbidden', 'The question is addressed to somebody else.')
    const issues = validateJson(wanted.schema, answered.response)
    if (issues.length > 0)
      throw invalid(
        issues.slice(0, 50).map((issue) => ({ path: `/response${issue.path}`, message: issue.message })),
        'The response does not fit the question.',
      )
    close(tx, wanted, answered.response, by)
    return { clarification_id: wanted.clarification_id, execution_id: executionId, status: 'answered' }
  }

  async function questionDue(wait: WhereAsked): Promise<{ dueAt: Date | null }> {
    return db.tenant(scope(wait.workspaceId), async (tx) => {
      const row = await lockLatest(tx, wait)
      if (row?.status !== 'open' || row.due_at === null) return { dueAt: null }
      // The database's clock rules: a timer that is told twice, or early, escalates and fails nothing before its time.
      const { passed } = await tx.row<{ passed: boolean }>('select $1::timestamptz <= now() as passed', [row.due_at])
      if (!passed) return { dueAt: row.due_at }
      if (row.on_due === 'default' && validateJson(row.schema, row.default_answer).length === 0) {
        close(tx, row, row.default_answer, { id: 'default', name: 'the default answer' })
        return { dueAt: null }
      }
      if (row.on_due === 'escalate' && !row.escalated) {
        const escalated = await tx.row<Row>(
          `update questions set escalated = true, due_at = date_trunc('milliseconds', now() + (due_at - asked_at)) where workspace_id = $1 and clarification_id = $2 returning *`,
          [row.workspace_id, row.clarification_id],
        )
        await tell(tx, escalated, 'clarification.escalated', `Nobody has answered yet: ${row.question}`)
        return { dueAt: escalated.due_at }
      }
      await tx.count(
        `update questions set status = 'expired', answered_at = now() where workspace_id = $1 and clarification_id = $2`,
        [row.workspace_id, row.clarification_id],
      )
      engine().send(
        tx,
        { workspaceId: row.workspace_id, executionId: row.execution_id, key: `question:${row.clarification_id}` },
        {
          type: 'node.failed',
          nodePath: row.node_path,
          error: {
            code: 'question_expired',
            message: `nobody answered "${row.question}" in time${row.on_due === 'default' ? ', and the default answer does not fit its schema' : ''}`,
          },
        },
      )
      return { dueAt: null }
    })
  }

  return {
    askQuestion,
    questionDue,
    answer,

    cancelOpen: (tx: Tx, workspaceId: string, executionId: string): Promise<number> =>
      tx.count(
        `update questions set status = 'cancelled', answered_at = now() where workspace_id = $1 and execution_id = $2 and status = 'open'`,
        [workspaceId, executionId],
      ),

    /** Which of these wait for an answer still. */
    async stillOpen(tx: Tx, workspaceId: string, clarificationIds: string[]): Promise<Set<string>> {
      const rows = await tx.rows<{ clarification_id: string }>(
        `select clarification_id from questions where workspace_id = $1 and clarification_id = any ($2) and status = 'open'`,
        [workspaceId, clarificationIds],
      )
      return new Set(rows.map(({ clarification_id }) => clarification_id))
    },

    /** Whoever an open question of the execution names sees that the execution exists. */
    async standingThroughQuestion(ctx: Context, executionId: string): Promise<Standing | undefined> {
      const named = await ctx.tx.maybe(
        `select from questions q where q.workspace_id = $1 and q.execution_id = $3 and q.who is not null and ${isFor('$2::uuid')} limit 1`,
        [ctx.workspace.workspace_id, ctx.person.user_id, executionId],
      )
      return named ? 'visible' : undefined
    },

    /** What a caller who names no question can mean. */
    lockOnlyOne: async (ctx: Context, { execution_id }: { execution_id: string }): Promise<Asked[]> =>
      lockFor(ctx.tx, answererOf(ctx), [ctx.workspace.workspace_id, execution_id]),

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
        ctx.tx,
        ctx.workspace.workspace_id,
        execution_id,
        { response: response as Json, clarificationId: clarification_id },
        answererOf(ctx),
        ({ named }) => named,
        clarification_id === undefined ? (ahead as Promise<Asked[]>) : undefined,
      )
    },

    /** Open questions the caller may answer, soonest due first. */
    async listQuestionInbox(ctx: Context, { cursor, limit }: ListQuery) {
      const key = decodeDueCursor(cursor)
      const rows = await ctx.tx.rows<Question>(
        `select q.clarification_id, q.execution_id, q.workflow_id, q.node_id, q.question, q.schema, q.status, q.asked_at, q.due_at from questions q
         where q.workspace_id = $1 and q.status = 'open'
           and ${isFor('$2::uuid')}
           and (coalesce(q.due_at, 'infinity'), q.clarification_id) > (coalesce($3::timestamptz, case when $4::uuid is null then '-infinity' else 'infinity' end::timestamptz), coalesce($4::uuid, '00000000-0000-0000-0000-000000000000'))
         order by coalesce(q.due_at, 'infinity'), q.clarification_id limit $5`,
        [ctx.workspace.workspace_id, ctx.person.user_id, key?.[0] ?? null, key?.[1] ?? null, limit + 1],
      )
      return toPage(rows, limit, (row) => [row.due_at?.toISOString() ?? null, row.clarification_id])
    },
  }
}

const answererOf = ({ person }: Context): Answerer => ({
  id: toWire('usr', person.user_id),
  name: person.name,
  userId: person.user_id,
})

function whyNotWaiting(row: Row | undefined): string {
  if (!row) return 'The execution waits for no answer.'
  if (row.status === 'answered') return `It was answered by ${row.answered_by_name ?? 'somebody else'}.`
  return row.status === 'expired' ? 'The time to answer has passed.' : 'The execution has ended.'
}

export type Questions = ReturnType<typeof makeQuestions>
