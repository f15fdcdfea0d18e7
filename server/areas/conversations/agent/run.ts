import { modelFromSettings } from '#areas/requirements/extract'
import { runAgent } from '#engine/agents/loop'
import type { ChooseModel } from '#engine/credentials'
import { type NodeCall, NodeFailure } from '#engine/node'
import { platformFault } from '#engine/platform-fault'
import type { Json } from '#model/definition'
import { SECOND, systemClock } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { LanguageModel } from '#providers/llm/index'
import { modelSettingsOf } from '../decide.ts'
import { mayAskForPerson } from '../handover.ts'
import { findMessage, historyOf } from '../message-store.ts'
import { type AssistantSettings, offersOfPerson, readThreadContext } from '../offer-store.ts'
import { readThread } from '../thread-store.ts'
import type { Drafts } from './drafts.ts'
import { type EndParts, endTurn, type Outcome } from './end.ts'
import { openJournal, TurnLost } from './journal.ts'
import { citationsOf } from './knowledge-tool.ts'
import { findMemory, listUncovered, type Memory, type Remembered, subjectOf } from './memory-store.ts'
import { historyMessages, systemPrompt } from './prompt.ts'
import { type ToolParts, toolsOf } from './tools.ts'
import type { TurnContext } from './turn-context.ts'
import * as store from './turn-store.ts'
import { TURN_HINTS } from './watchers.ts'

// Answers one message: runs the model and its tools step by step, and stores the answer at the end. Every step is in
// the journal of the turn, so another process can continue after any step.

const MAX_STEPS = 10
const MAX_TOKENS = 120_000
const MAX_HISTORY = 30
const MAX_EARLIER = 8
const MAX_ANSWER = 8_000
/** The maximum number of attempts. A turn that has stopped this many processes is not tried again. */
const MAX_ATTEMPTS = 5

export type RunParts = ToolParts &
  EndParts & {
    drafts: Drafts
    db: Database
    log: Logger
    chooseModel: ChooseModel
    /** Called after the answer. No client waits for it. */
    onAnswered(context: TurnContext, llm: LanguageModel): void
  }

/** Returns false if another process has the turn, or the turn is done. */
export async function runTurn(
  parts: RunParts,
  place: { workspaceId: string; turnId: string },
  runner: string,
  stopping: AbortSignal,
): Promise<boolean> {
  const { workspaceId, turnId } = place
  const inScope = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => parts.db.tenant({ workspaceId, userId: null }, work)
  const turn = await inScope((tx) => store.claimTurn(tx, workspaceId, turnId, runner))
  if (!turn) return false
  const lost = new AbortController()
  const signal = AbortSignal.any([stopping, lost.signal])
  const renewal = setInterval(
    () =>
      void inScope((tx) => store.renewLease(tx, workspaceId, turnId, runner))
        .then((kept) => kept === 0 && lost.abort(new TurnLost()))
        .catch(() => {}),
    (store.LEASE_S / 4) * SECOND,
  )
  try {
    await answer(parts, turn, runner, signal)
    return true
  } catch (error) {
    if (error instanceof TurnLost || lost.signal.aborted) return false
    const counts = !stopping.aborted && !platformFault(error, 'engine')
    const release = { counts, delayS: stopping.aborted ? 0 : Math.max(turn.attempts, 1) }
    await inScope(async (tx) => {
      await store.releaseTurn(tx, workspaceId, turnId, runner, release)
      tx.hint(TURN_HINTS, turn.thread_id)
    }).catch(() => {})
    throw error
  } finally {
    clearInterval(renewal)
  }
}

type Seen = Omit<TurnContext, 'journal' | 'turn'> & {
  text: string
  history: Awaited<ReturnType<typeof historyOf>>
  memory: Memory | undefined
  earlier: Remembered[]
}

/** Returns undefined if the assistant must not answer: the template is deleted, or a colleague has taken over. */
async function look(parts: RunParts, turn: store.AgentTurn): Promise<Seen | undefined> {
  const { workspace_id: workspaceId, thread_id: threadId, seq } = turn
  return parts.db.tenant({ workspaceId, userId: null }, async (tx) => {
    const thread = await readThread(tx, workspaceId, threadId)
    const { voice, offers } = await readThreadContext(tx, workspaceId, threadId)
    const message = await findMessage(tx, workspaceId, threadId, seq)
    if (!thread || !isOwned(voice) || !message || thread.taken_over_by !== null) return undefined
    const named = voice.tools.flatMap((tool) => ('workflow_id' in tool ? [fromWire('wf', tool.workflow_id) ?? ''] : []))
    const known = new Set(offers.map(({ workflow_id }) => workflow_id))
    const more = named.filter((id) => id !== '' && !known.has(id))
    const about = subjectOf(thread)
    return {
      thread,
      voice,
      offers: [...offers, ...(more.length > 0 ? await offersOfPerson(tx, workspaceId, more, voice.owner_id) : [])],
      by: { author: turn.asked.author, origin: turn.asked.origin },
      text: message.text,
      history: await historyOf(tx, workspaceId, threadId, MAX_HISTORY, seq),
      memory: about === null ? undefined : await findMemory(tx, thread),
      earlier:
        about === null
          ? []
          : (await listUncovered(tx, thread, MAX_HISTORY + MAX_EARLIER))
              .filter(({ thread_id }) => thread_id !== threadId)
              .slice(-MAX_EARLIER),
    }
  })
}

const isOwned = (voice: AssistantSettings | undefined): voice is AssistantSettings & { owner_id: string } =>
  voice !== undefined && voice.owner_id !== null

async function answer(parts: RunParts, turn: store.AgentTurn, runner: string, signal: AbortSignal): Promise<void> {
  const seen = await look(parts, turn)
  const end = (outcome: Outcome, context?: TurnContext): Promise<void> => endTurn(parts, turn, runner, outcome, context)
  if (!seen) return end({ kind: 'silent' })
  const { text, history, memory, earlier, ...place } = seen
  const journal = await openJournal(parts.db, turn, runner)
  const context: TurnContext = { ...place, turn, journal }
  const llm = await modelFromSettings(parts, modelSettingsOf(seen.thread, seen.voice))
  if (llm === undefined || turn.attempts > MAX_ATTEMPTS)
    return end({ kind: 'failed', code: 'model_unavailable' }, context)
  const tools = await toolsOf(parts, context)
  const system = systemPrompt({
    name: seen.voice.name,
    instructions: seen.voice.instructions,
    knowledge: tools.some(({ name }) => name === 'search_knowledge'),
    mayHandOver: mayAskForPerson(seen.thread),
    memory,
    earlier,
    visit: seen.thread.state.visit,
    now: systemClock.now(),
  })
  const draft = turn.asked.watched ? parts.drafts.begin(turn, runner) : undefined
  try {
    const said = await runAgent(callOf(parts, context, signal), llm, tools, {
      goal: text,
      system,
      history: historyMessages(history, seen.thread),
      maxSteps: MAX_STEPS,
      maxTokens: MAX_TOKENS,
      ...(draft && { onText: draft.take }),
    })
    const words = said.answer.slice(0, MAX_ANSWER).toWellFormed()
    const cited = citationsOf(context).filter(({ n }) => words.includes(`[${n}]`))
    await end({ kind: 'answered', text: words, citations: cited }, context)
  } catch (error) {
    if (signal.aborted || !(error instanceof NodeFailure)) throw error
    parts.log.warn({ code: error.code, turn_id: turn.turn_id }, 'an assistant could not answer')
    return end({ kind: 'failed', code: error.code }, context)
  } finally {
    await draft?.end()
  }
  parts.onAnswered(context, llm)
}

/** The call that the agent loop expects. It uses the journal of the turn and acts for the owner of the template. */
const callOf = ({ log }: RunParts, { turn, journal, voice }: TurnContext, signal: AbortSignal): NodeCall => ({
  workspaceId: turn.workspace_id,
  workflowId: null,
  executionId: turn.turn_id,
  nodePath: 'assistant',
  attempt: turn.attempts,
  args: {},
  effectKey: `turn:${turn.turn_id}`,
  principalId: voice.owner_id,
  credentialIds: new Set(),
  startedBy: null,
  signal,
  log,
  progress: () => {},
  step: <T extends Json>(name: string, work: () => Promise<T>) => journal.step(name, work),
})
