import type { FileValue } from '#engine/files'
import { systemClock } from '#platform/clock'
import { isUniqueViolation, type Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Decision, decideReply, goneFrom, type Situation, type Statement } from './decide.ts'
import { readExecutionStates } from './execution-store.ts'
import { withFileNames, withoutUsed } from './files.ts'
import { phrasesFor } from './languages/index.ts'
import { lastMessages, saveTurn } from './message-store.ts'
import { readThreadContext, threadContextOf } from './offer-store.ts'
import { greet, threadOf } from './opening.ts'
import { notifyHolder } from './takeover.ts'
import { findThreadOfRequest, forgetUnused, type LockedThread, readThread } from './thread-store.ts'
import { begin, finish, inOneTransaction, inWorkspace, lockForTurn, type TurnDependencies } from './turn-frame.ts'
import { authorFields } from './turn-parts.ts'
import type { FirstMessage, Incoming, Turn } from './types.ts'

/**
 * The maximum number of attempts with a model. If another turn came first each time, rules read the message while the
 * thread is locked.
 */
const MAX_ATTEMPTS = 4
const RECENT = 12

const statementOf = ({
  text,
  files,
  timeZone,
  signal,
}: Pick<Incoming, 'text' | 'files' | 'timeZone' | 'signal'>): Statement => ({
  text,
  files: files ?? [],
  timeZone: timeZone ?? 'UTC',
  now: systemClock.now(),
  ...(signal && { signal }),
})

/** Keeps the page, language and time zone of the last message with the conversation. */
export function noteVisit(thread: LockedThread, { visit, timeZone }: Pick<Incoming, 'visit' | 'timeZone'>): void {
  if (visit === undefined && timeZone === undefined) return
  const now = { ...visit, ...(timeZone !== undefined && { time_zone: timeZone }) }
  thread.state = { ...thread.state, visit: { ...thread.state.visit, ...now } }
}

/**
 * Checks a decision that was made before the thread was locked. Returns undefined if it has to be made again. If the
 * author may not answer the question, the assistant stays silent.
 */
async function settle(
  { isForPerson }: Pick<TurnDependencies, 'isForPerson'>,
  tx: Tx,
  { thread, offers }: Situation,
  decision: Decision,
  { author }: Incoming,
): Promise<Decision | undefined> {
  if ('offer' in decision) {
    const offer = offers.find(({ workflow_id }) => workflow_id === decision.offer.workflow_id)
    if (!offer) return goneFrom(phrasesFor(thread.state), offers)
    return offer.version_id === decision.offer.version_id ? { ...decision, offer } : undefined
  }
  if (!('question' in decision) || author.kind !== 'person') return decision
  const { clarification_id } = decision.question
  const theirs = await isForPerson(tx, thread.workspace_id, author.userId, clarification_id)
  return theirs ? decision : { kind: 'silent' }
}

/** Keeps files that no workflow has used yet. Starting a workflow, answering a question or cancelling drops them. */
function keepFiles(thread: LockedThread, decision: Decision, sent: FileValue[]): void {
  const isOver = decision.kind === 'start' || decision.kind === 'answer' || (decision.kind === 'say' && decision.drop)
  const waiting = [...thread.state.files, ...sent]
  if (waiting.length === 0) return
  const files = isOver ? [] : withoutUsed(waiting, thread.state.gathering?.values)
  thread.state = { ...thread.state, files }
}

export async function takeMessage(deps: TurnDependencies, incoming: Incoming): Promise<Turn> {
  const { workspaceId, threadId } = incoming
  const statement = statementOf(incoming)
  for (let attempt = 1; ; attempt++) {
    const slow = incoming.within === undefined && deps.usesModel() && attempt <= MAX_ATTEMPTS
    const seen = slow ? await lookAhead(deps, incoming) : undefined
    // Answers use the language of this message.
    if (seen) noteVisit(seen.thread, incoming)
    if (seen?.voice?.mode === 'agent') {
      const answered = await deps.agent.take(incoming)
      if (answered) return answered
    }
    const thought = seen && (await decideReply(seen, statement, deps.tools))
    const turn = await inOneTransaction(deps, incoming, async (tx, pendingTurns) => {
      const { thread, around, before } = await lockForTurn(tx, incoming)
      if (before) return before
      if (seen && seen.thread.last_seq !== thread.last_seq) return undefined
      noteVisit(thread, incoming)
      await deps.updates.dropClosed(tx, thread)
      const { executions, told } = await deps.updates.postEnds(tx, thread)
      const now = told ? await readThreadContext(tx, workspaceId, threadId) : around
      const situation: Situation = { thread, ...now, executions, recent: [] }
      const decision = await settle(
        deps,
        tx,
        situation,
        thought ?? (await decideReply(situation, statement, deps.rules)),
        incoming,
      )
      if (!decision) return undefined
      const pending = begin(situation, {
        ...authorFields(incoming),
        text: withFileNames(incoming.text, statement.files),
      })
      pendingTurns.push(pending)
      deps.actions.closeStale(pending)
      await deps.actions.carryOut(tx, pending, decision, incoming, situation.offers)
      keepFiles(pending.thread, decision, statement.files)
      await notifyHolder(tx, pending)
      return finish(tx, pending, situation.offers)
    })
    if (turn) return turn
  }
}

/**
 * Writes the conversation and its first turn together. If a model reads the message, the conversation is written
 * first.
 */
export async function takeFirst(deps: TurnDependencies, first: FirstMessage): Promise<Turn> {
  const { workspaceId, open, requestKey } = first
  const begun = await inOneTransaction(deps, first, async (tx, pendingTurns): Promise<Turn | string> => {
    const known = requestKey && (await findThreadOfRequest(tx, workspaceId, requestKey))
    if (known && first.isTheirs(known)) return known.thread_id
    const thread = threadOf(open)
    noteVisit(thread, first)
    const around = await threadContextOf(tx, workspaceId, thread)
    const greeting = greet(thread, around)
    if (first.within === undefined && deps.usesModel()) {
      await saveTurn(tx, thread, greeting, true)
      return thread.thread_id
    }
    const situation: Situation = { thread, ...around, executions: [], recent: [] }
    const decision = await decideReply(situation, statementOf(first), deps.rules)
    const { files = [] } = first
    // Colleagues are notified, so the conversation must already be stored.
    const isStored = decision.kind === 'hand_over'
    if (isStored) await saveTurn(tx, thread, greeting, true)
    const pending = begin(situation, { ...authorFields(first), text: withFileNames(first.text, files) })
    pendingTurns.push(pending)
    await deps.actions.carryOut(tx, pending, decision, first, around.offers)
    keepFiles(pending.thread, decision, files)
    return finish(tx, pending, around.offers, isStored ? undefined : greeting)
  })
  if (typeof begun !== 'string') return begun
  try {
    return await takeMessage(deps, { ...first, threadId: begun })
  } catch (error) {
    const other = isUniqueViolation(error, 'messages_by_request') ? await overtakenBy(deps, first, begun) : undefined
    if (other === undefined) throw error
    return takeMessage(deps, { ...first, threadId: other })
  }
}

/**
 * Handles a concurrent request with the same key whose message was stored first: its conversation is used. The
 * conversation that was started here has no message but the greeting, and no client knows its id.
 */
const overtakenBy = (
  { db }: TurnDependencies,
  { workspaceId, requestKey, isTheirs }: FirstMessage,
  begun: string,
): Promise<string | undefined> =>
  db.tenant(inWorkspace(workspaceId), async (tx) => {
    const known = requestKey && (await findThreadOfRequest(tx, workspaceId, requestKey))
    if (!known || !isTheirs(known)) return undefined
    await forgetUnused(tx, workspaceId, begun)
    return known.thread_id
  })

const lookAhead = (deps: TurnDependencies, { workspaceId, threadId, isTheirs }: Incoming): Promise<Situation> =>
  deps.db.tenant(inWorkspace(workspaceId), async (tx) => {
    const [thread, around, recent] = await Promise.all([
      readThread(tx, workspaceId, threadId),
      readThreadContext(tx, workspaceId, threadId),
      lastMessages(tx, workspaceId, threadId, RECENT),
    ])
    if (!thread || isTheirs?.(thread) === false) throw problem('not_found')
    await deps.updates.dropClosed(tx, thread)
    const ids = thread.state.running.map(({ execution_id }) => execution_id)
    const executions = ids.length === 0 ? [] : await readExecutionStates(tx, workspaceId, ids)
    return { thread, ...around, executions, recent }
  })
