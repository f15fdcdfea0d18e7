import type { Questions } from '#areas/approvals/questions'
import type { Engine, ExecutionView } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { isProblem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { fromWire, newId, toWire } from '#platform/ids'
import type { Send } from './events.ts'
import type { Id } from './rpc.ts'

// Questions of a run are put to the person at the client: a request of ours in the stream of the call. The answer comes with a
// request of its own, perhaps to another process; its id says which question is meant. Approvals are never asked for here: a program
// that reads them to a person could as well vote by itself.

/** Says what became of a question that was not answered. */
const CHANNEL = 'mcp_elicitation'
const SESSION = /^elicitation-/
/** How often a person is asked again whose answer does not fit. */
const MAX_ASKED = 3

export type ElicitationParts = {
  engine: Pick<Engine, 'readExecution'>
  questions: Pick<Questions, 'answer' | 'isForPerson'>
}

/** The client says in the beginning what it can do. It repeats the name of its session with every request, so nothing is kept here. */
export const sessionFor = (capabilities: Json | undefined): string | undefined =>
  isObject(capabilities) && isObject(capabilities.elicitation) ? `elicitation-${newId()}` : undefined

export const canElicit = ({ request }: Exchange): boolean =>
  SESSION.test(String(request.headers['mcp-session-id'] ?? ''))

type Question = { clarificationId: string; question: string; schema: Json }

const questionsOf = (view: ExecutionView): Question[] =>
  view.waiting_for.flatMap(({ kind, clarification_id, question, schema }) =>
    kind === 'clarification' && typeof clarification_id === 'string' && typeof question === 'string'
      ? [{ clarificationId: clarification_id, question, schema: schema ?? true }]
      : [],
  )

/** Asks the questions of one call. */
export async function makeElicitor({ questions }: ElicitationParts, ctx: Context, send: Send) {
  const { workspace_id } = ctx.workspace
  const asked = new Map<string, number>()
  /** Declined, not for the caller, or answered wrongly too often. */
  const closed = new Set<string>()
  const again = new Set<string>()
  const stop = await ctx.db.listen(CHANNEL, (payload) => {
    const [clarificationId = '', what] = payload.split(' ')
    if (what === 'declined') closed.add(clarificationId)
    // Its answer did not fit: it is put once more.
    else if ((asked.get(clarificationId) ?? MAX_ASKED) < MAX_ASKED) again.add(clarificationId)
    else closed.add(clarificationId)
  })

  const isForCaller = (clarificationId: string): Promise<boolean> =>
    ctx.db.tenant(scopeOf(ctx), (tx) =>
      questions.isForPerson(tx, workspace_id, ctx.person.user_id, fromWire('clr', clarificationId) ?? ''),
    )

  return {
    /** Puts what is new. False where nothing of what the run waits for can be answered here. */
    async ask(view: ExecutionView): Promise<boolean> {
      let isAsked = false
      for (const { clarificationId, question, schema } of questionsOf(view)) {
        const requestedSchema = formOf(schema)
        if (requestedSchema === undefined || closed.has(clarificationId)) continue
        const times = asked.get(clarificationId) ?? 0
        if (times === 0 && !(await isForCaller(clarificationId))) {
          closed.add(clarificationId)
          continue
        }
        isAsked = true
        if (times > 0 && !again.delete(clarificationId)) continue
        asked.set(clarificationId, times + 1)
        send({
          jsonrpc: '2.0',
          id: `${toWire('exe', view.execution_id)} ${clarificationId} ${times}`,
          method: 'elicitation/create',
          params: { message: question, requestedSchema },
        })
      }
      return isAsked
    },
    stop,
  }
}

/** What the client answered to a question. One that nobody waits for any more changes nothing. */
export async function takeAnswer(
  { engine, questions }: ElicitationParts,
  ctx: Context,
  id: Id,
  result: Json | undefined,
): Promise<void> {
  const [execution = '', clarification = ''] = String(id).split(' ')
  const [executionId, clarificationId] = [fromWire('exe', execution), fromWire('clr', clarification)]
  if (executionId === undefined || clarificationId === undefined) return
  const { workspace_id } = ctx.workspace
  const view = await engine.readExecution(workspace_id, executionId)
  // Only who made the call is asked here.
  if (view?.started_by !== ctx.person.user_id) return
  const question = questionsOf(view).find((one) => one.clarificationId === clarification)
  if (!question) return
  if (!isObject(result) || result.action !== 'accept') return ctx.db.hint(CHANNEL, `${clarification} declined`)
  const content = isObject(result.content) ? result.content : {}
  const by = { id: toWire('usr', ctx.person.user_id), name: ctx.person.name, userId: ctx.person.user_id }
  try {
    await ctx.db.tenant(scopeOf(ctx), (tx) =>
      questions.answer(
        tx,
        workspace_id,
        executionId,
        { response: isWrapped(question.schema) ? (content.answer ?? null) : content, clarificationId },
        by,
        ({ named }) => named,
      ),
    )
  } catch (error) {
    if (!isProblem(error)) throw error
    ctx.db.hint(CHANNEL, `${clarification} ${error.code === 'forbidden' ? 'declined' : 'invalid'}`)
  }
}

const isWrapped = (schema: Json): boolean => !isObject(schema) || schema.type !== 'object'

/** The protocol knows forms of plain fields. Undefined where a question wants more than that. */
export function formOf(schema: Json): JsonObject | undefined {
  if (isWrapped(schema)) {
    const answer = fieldOf(isObject(schema) ? schema : {})
    return answer && { type: 'object', properties: { answer }, required: ['answer'] }
  }
  const { properties, required } = schema as JsonObject
  const fields = Object.entries(isObject(properties) ? properties : {}).map(
    ([name, field]) => [name, fieldOf(isObject(field) ? field : {})] as const,
  )
  if (fields.length === 0 || fields.some(([, field]) => field === undefined)) return undefined
  return {
    type: 'object',
    properties: Object.fromEntries(fields) as JsonObject,
    ...(Array.isArray(required) && { required }),
  }
}

const WORDS: Record<string, readonly string[]> = {
  string: ['title', 'description', 'minLength', 'maxLength', 'format', 'enum', 'default'],
  number: ['title', 'description', 'minimum', 'maximum', 'default'],
  integer: ['title', 'description', 'minimum', 'maximum', 'default'],
  boolean: ['title', 'description', 'default'],
}
const FORMATS: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time'])

/** The words that clients know; what else the schema says is checked when the answer comes. */
function fieldOf(schema: JsonObject): JsonObject | undefined {
  const isChoice = Array.isArray(schema.enum)
  if (isChoice && !(schema.enum as Json[]).every((value) => typeof value === 'string')) return undefined
  const type = schema.type ?? 'string'
  const words = typeof type === 'string' && Object.hasOwn(WORDS, type) ? WORDS[type] : undefined
  if (words === undefined || typeof type !== 'string') return undefined
  const kept = Object.entries(schema).filter(
    ([word, value]) => words.includes(word) && (word !== 'format' || FORMATS.has(value)),
  )
  return { type, ...Object.fromEntries(kept) }
}
