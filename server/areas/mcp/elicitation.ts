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

// Asks the person at the client the questions of an execution, with a request in the stream of the call. The answer
// arrives as a separate request, perhaps in another process. Its id contains the question. Approvals are never asked
// for here, because a program that shows them to a person could vote by itself.

/** Notifies what happened to a question that was not answered. */
const CHANNEL = 'mcp_elicitation'
const SESSION = /^elicitation-/
/** The number of times that a question is asked if the answers do not fit. */
const MAX_ASKED = 3

export type ElicitationParts = {
  engine: Pick<Engine, 'readExecution'>
  questions: Pick<Questions, 'answer' | 'isForPerson'>
}

/**
 * The client declares its capabilities at the start. It sends its session id with every request, so nothing is stored
 * here.
 */
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
  /** Questions that were declined, are not for the caller, or were answered wrongly too often. */
  const closed = new Set<string>()
  const again = new Set<string>()
  const stop = await ctx.db.listen(CHANNEL, (payload) => {
    const [clarificationId = '', what] = payload.split(' ')
    if (what === 'declined') closed.add(clarificationId)
    // The answer did not fit, so the question is asked again.
    else if ((asked.get(clarificationId) ?? MAX_ASKED) < MAX_ASKED) again.add(clarificationId)
    else closed.add(clarificationId)
  })

  const isForCaller = (clarificationId: string): Promise<boolean> =>
    ctx.db.tenant(scopeOf(ctx), (tx) =>
      questions.isForPerson(tx, workspace_id, ctx.person.user_id, fromWire('clr', clarificationId) ?? ''),
    )

  return {
    /** Asks new questions. Returns false if the caller can answer nothing that the execution waits for. */
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

/** Processes a client's answer to a question. An answer to a closed question has no effect. */
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
  // Only the person who made the call may answer here.
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

/**
 * Returns the form for a question. The protocol supports only forms with plain fields, so the result is undefined for
 * other schemas.
 */
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

/** Keeps the keywords that clients support. The rest of the schema is checked when the answer arrives. */
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
