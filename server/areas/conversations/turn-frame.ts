import type { Questions } from '#areas/approvals/questions'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { ConversationActions } from './conversation-actions.ts'
import type { Tools } from './decide.ts'
import { type FormRow, formOf } from './form-store.ts'
import { messagesOfRequest, type NewMessage, saveTurn } from './message-store.ts'
import { type Offer, readThreadContext, type ThreadContext } from './offer-store.ts'
import type { PendingTurn } from './pending-turn.ts'
import { type LockedThread, lockThread } from './thread-store.ts'
import { gatheredOf } from './turn-parts.ts'
import type { Incoming, Message, Turn } from './types.ts'
import type { Updates } from './updates.ts'

// The common parts of every turn: the lock on the thread, the transaction, and the writing of its messages.

export type TurnDependencies = {
  db: Database
  actions: ConversationActions
  updates: Updates
  tools: Tools
  rules: Tools
  /** Returns true if a model reads messages. It takes seconds, so it runs before the thread is locked. */
  usesModel(): boolean
  afterCommit(pending: PendingTurn): void
  isForPerson: Questions['isForPerson']
  /** Answers with a language model and its tools. Undefined if no model is available. */
  agent: { take(incoming: Incoming): Promise<Turn | undefined> }
}

export const inWorkspace = (workspaceId: string) => ({ workspaceId, userId: null })

/** Runs the work in one transaction. Started executions are counted after the commit. */
export async function inOneTransaction<T>(
  deps: TurnDependencies,
  { workspaceId, within }: Pick<Incoming, 'workspaceId' | 'within'>,
  work: (tx: Tx, pendingTurns: PendingTurn[]) => Promise<T>,
): Promise<T> {
  const pendingTurns: PendingTurn[] = []
  const done = (): void => pendingTurns.forEach(deps.afterCommit)
  const result = within
    ? await work(within.tx, pendingTurns)
    : await deps.db.tenant(inWorkspace(workspaceId), (tx) => work(tx, pendingTurns))
  if (within) within.afterCommit(done)
  else done()
  return result
}

type Place = Pick<Incoming, 'workspaceId' | 'threadId' | 'isTheirs' | 'requestKey'>

/**
 * Locks the thread and reads the data of the turn, in one round trip. `before` is the turn of an earlier delivery
 * with the same key.
 */
export async function lockForTurn(tx: Tx, { workspaceId, threadId, isTheirs, requestKey }: Place) {
  const [thread, statement, around] = await Promise.all([
    lockThread(tx, workspaceId, threadId),
    requestKey ? messagesOfRequest(tx, workspaceId, threadId, requestKey) : [],
    readThreadContext(tx, workspaceId, threadId),
  ])
  if (!thread || isTheirs?.(thread) === false) throw problem('not_found')
  return { thread, around, before: statement.length > 0 ? repeated(thread, around, statement) : undefined }
}

const repeated = (thread: LockedThread, around: ThreadContext, [message, ...messages]: Message[]): Turn => ({
  thread,
  message: message!,
  messages,
  form: around.form && formOf(around.form),
  execution_id: messages.find(({ execution_id }) => execution_id !== null)?.execution_id ?? null,
  last_execution_id: thread.state.started?.execution_id ?? null,
  gathered: gatheredOf(thread, around.offers),
})

export const begin = (
  { thread, form }: { thread: LockedThread; form: FormRow | null },
  first: NewMessage,
): PendingTurn => {
  thread.turn += 1
  return { thread, messages: [first], writes: [], form, executionId: null, started: 0 }
}

/** Writes the messages, the state and everything else of the turn in one round trip. */
export async function finish(tx: Tx, pending: PendingTurn, offers: Offer[], greeting?: NewMessage[]): Promise<Turn> {
  const [saved] = await Promise.all([
    saveTurn(tx, pending.thread, [...(greeting ?? []), ...pending.messages], greeting !== undefined),
    ...pending.writes.map((write) => write(tx)),
  ])
  const [message, ...messages] = saved.slice(greeting?.length ?? 0)
  return {
    thread: pending.thread,
    message: message!,
    messages,
    form: pending.form && formOf(pending.form),
    execution_id: pending.executionId,
    last_execution_id: pending.thread.state.started?.execution_id ?? null,
    gathered: gatheredOf(pending.thread, offers),
  }
}
