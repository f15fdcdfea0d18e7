import type { Json } from '#model/definition'
import type { Database } from '#platform/db/pool'
import type { ConversationActions } from '../conversation-actions.ts'
import { type Decision, decideReply } from '../decide.ts'
import { readExecutionStates } from '../execution-store.ts'
import { askForPerson, mayAskForPerson } from '../handover.ts'
import { type Phrases, phrasesFor } from '../languages/index.ts'
import { findMessage, type NewMessage, saveTurn } from '../message-store.ts'
import { noAnswer } from '../notices.ts'
import { readThreadContext } from '../offer-store.ts'
import { type PendingTurn, pendingChangesOf } from '../pending-turn.ts'
import * as texts from '../texts.ts'
import { type LockedThread, lockThread } from '../thread-store.ts'
import type { TurnDependencies } from '../turn-frame.ts'
import type { Updates } from '../updates.ts'
import { TurnLost } from './journal.ts'
import type { TurnContext } from './turn-context.ts'
import type { AgentTurn } from './turn-store.ts'
import * as store from './turn-store.ts'
import type { Citation } from './types.ts'
import { TURN_HINTS } from './watchers.ts'
import type { ToolEnd } from './workflow-tool.ts'

// The end of a turn: its answer and its status `done` commit together, so an answer is neither lost nor given twice.

export type Outcome =
  | { kind: 'answered'; text: string; citations: Citation[] }
  /** The assistant must not answer. */
  | { kind: 'silent' }
  /** There is no model, or the model gave no usable answer. */
  | { kind: 'failed'; code: string }

export type EndParts = {
  db: Database
  actions: ConversationActions
  rules: TurnDependencies['rules']
  updates: Pick<Updates, 'announce' | 'noteEnd'>
  countStarted(workspaceId: string, count: number): void
}

export async function endTurn(
  parts: EndParts,
  turn: AgentTurn,
  runner: string,
  outcome: Outcome,
  context: TurnContext | undefined,
): Promise<void> {
  const { workspace_id: workspaceId, thread_id: threadId, turn_id: turnId } = turn
  const started = await parts.db.tenant({ workspaceId, userId: null }, async (tx) => {
    const thread = await lockThread(tx, workspaceId, threadId)
    if ((await store.endTurn(tx, workspaceId, turnId, runner)) === 0) throw new TurnLost()
    tx.hint(TURN_HINTS, threadId)
    if (!thread) return 0
    const pending = pendingChangesOf(thread, (await readThreadContext(tx, workspaceId, threadId)).form)
    // A colleague may have taken over while the model was running. Then the assistant does not answer as well.
    if (thread.taken_over_by === null) {
      if (outcome.kind === 'answered') pending.messages.push({ role: 'assistant', ...outcome, turn: turn.turn })
      if (outcome.kind === 'failed') await apologize(parts, tx, turn, pending, context)
    }
    const saved = await saveTurn(
      tx,
      thread,
      pending.messages.map((message) => ({ ...message, turn: turn.turn })),
    )
    for (const write of pending.writes) await write(tx)
    await postRemainingEnds(parts, tx, thread, turnId)
    for (const message of saved) await parts.updates.announce(tx, thread, message)
    return pending.started
  })
  if (started > 0) parts.countStarted(workspaceId, started)
}

type Tx = Parameters<typeof lockThread>[0]

/**
 * If nothing was done yet, answers by the rules of the menu. Otherwise reports what was done and asks colleagues to
 * take over.
 */
async function apologize(
  { actions, rules }: EndParts,
  tx: Tx,
  turn: AgentTurn,
  pending: PendingTurn,
  context: TurnContext | undefined,
): Promise<void> {
  const { thread } = pending
  const did = context?.journal.found({ begin: 'turn:' }).length ?? 0
  const message = await findMessage(tx, turn.workspace_id, turn.thread_id, turn.seq)
  if (did === 0 && message) {
    const around = await readThreadContext(tx, turn.workspace_id, turn.thread_id)
    const ids = thread.state.running.map(({ execution_id }) => execution_id)
    const states = ids.length === 0 ? [] : await readExecutionStates(tx, turn.workspace_id, ids)
    const statement = {
      text: message.text,
      files: [],
      timeZone: turn.asked.time_zone ?? 'UTC',
      now: message.created_at,
    }
    const decision: Decision = await decideReply(
      { thread, ...around, executions: states, recent: [] },
      statement,
      rules,
    )
    await actions.carryOut(tx, pending, decision, turn.asked, around.offers)
    return
  }
  const say = phrasesFor(thread.state)
  for (const end of (context?.journal.found({ begin: 'end:' }) ?? []) as unknown as ToolEnd[])
    if (end.told) pending.messages.push(endMessage(say, end))
  if (!mayAskForPerson(thread)) return actions.say(pending, `${say.cannotAnswer} ${say.tryLater}`)
  const { closed } = await askForPerson(tx, thread, 'The assistant could not answer.')
  actions.say(pending, noAnswer(say, closed))
}

const endMessage = (say: Phrases, { title, status, results, error, execution_id }: ToolEnd): NewMessage => ({
  role: 'assistant',
  text: texts.endText(say, { title, status, results: results as Json, error: error as { message: string } | null }),
  execution_id,
})

/** Lets the conversation post the end of executions for which the assistant did not wait. */
async function postRemainingEnds({ updates }: EndParts, tx: Tx, thread: LockedThread, turnId: string): Promise<void> {
  const held = thread.state.running.filter(({ answering }) => answering === turnId)
  if (held.length === 0) return
  thread.state = {
    ...thread.state,
    running: thread.state.running.map((entry) =>
      entry.answering === turnId ? { execution_id: entry.execution_id, title: entry.title } : entry,
    ),
  }
  await saveTurn(tx, thread, [])
  const ids = held.map(({ execution_id }) => execution_id)
  for (const standing of await readExecutionStates(tx, thread.workspace_id, ids))
    if (ENDED.has(standing.status)) {
      const { title } = held.find(({ execution_id }) => execution_id === standing.execution_id)!
      await updates.noteEnd(tx, thread, { ...standing, title })
    }
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])
