import { modelFromSettings } from '#areas/requirements/extract'
import { SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { isProblem, problem } from '#platform/errors'
import { newId } from '#platform/ids'
import { modelSettingsOf } from '../decide.ts'
import { withFileNames, withoutUsed } from '../files.ts'
import { formOf } from '../form-store.ts'
import { answersOf, findMessage, saveTurn, seqOf } from '../message-store.ts'
import { readThreadContext } from '../offer-store.ts'
import { noteVisit } from '../take-message.ts'
import { readThread } from '../thread-store.ts'
import { begin, inWorkspace, lockForTurn, type TurnDependencies } from '../turn-frame.ts'
import { authorFields, gatheredOf } from '../turn-parts.ts'
import type { Incoming, Turn } from '../types.ts'
import { type Draft, makeDraftSender } from './drafts.ts'
import { type RunParts, runTurn } from './run.ts'
import * as store from './turn-store.ts'
import { makeWatchers } from './watchers.ts'

// Accepts a message for an assistant with a language model. The message is stored first and then answered by the
// process that holds the turn. A caller that disconnects changes nothing.

/** A hint usually arrives sooner. The poll covers a lost hint and the turn of a killed process. */
const POLL_EVERY = 2 * SECOND
/** The maximum time that a request waits. A later answer is still stored in the history. */
const MAX_WAIT = 110 * SECOND

export type AgentParts = RunParts & Pick<TurnDependencies, 'updates'>

export function makeAgent(parts: AgentParts) {
  const runner = newId()
  const watchers = makeWatchers(parts.db)
  const stopping = new AbortController()
  const here = new Map<string, Promise<boolean>>()

  /** Runs a turn. This process runs each turn only once at a time. */
  function run(workspaceId: string, turnId: string): Promise<boolean> {
    const present = here.get(turnId)
    if (present) return present
    const one = runTurn(parts, { workspaceId, turnId }, runner, stopping.signal).finally(() => here.delete(turnId))
    here.set(turnId, one)
    return one
  }

  async function waitForAnswer(
    { workspace_id: workspaceId, thread_id: threadId, turn_id: turnId }: store.AgentTurn,
    show: (draft: Draft) => void,
  ): Promise<void> {
    const until = performance.now() + MAX_WAIT
    while (performance.now() < until) {
      const next = watchers.next(threadId, POLL_EVERY)
      await run(workspaceId, turnId).catch((error: unknown) => {
        if (stopping.signal.aborted) {
          next.cancel()
          throw problem('unavailable', 'The service is restarting. Your message is kept.')
        }
        // A failure of the service itself: the turn is retried.
        if (!isProblem(error, 'unavailable'))
          parts.log.warn({ err: error, turn_id: turnId }, 'the answer of an assistant was interrupted')
      })
      const turn = await parts.db.tenant(inWorkspace(workspaceId), (tx) => store.findDraft(tx, workspaceId, turnId))
      if (!turn || turn.status === 'done') {
        next.cancel()
        return
      }
      show(turn)
      await next.woken
    }
  }

  return {
    async take(incoming: Incoming): Promise<Turn | undefined> {
      const { workspaceId, threadId } = incoming
      if (!(await mayAsk(parts, incoming))) return undefined
      const opened = await parts.db.tenant(inWorkspace(workspaceId), (tx) => openTurn(parts, tx, incoming, runner))
      if (opened === undefined || 'thread' in opened) return opened
      const { stream } = incoming
      const show = stream ? makeDraftSender(stream) : () => {}
      const here = (): void => {
        const draft = parts.drafts.read(opened.turn_id)
        if (draft) show(draft)
      }
      const off = stream ? parts.drafts.onChange(opened.turn_id, here) : () => {}
      try {
        // The text that was written before this client connected.
        here()
        await waitForAnswer(opened, show)
      } finally {
        off()
      }
      return parts.db.tenant(inWorkspace(workspaceId), (tx) => readTurn(tx, workspaceId, threadId, opened))
    },

    /** Continues a turn that a killed process left. */
    run: (workspaceId: string, turnId: string): Promise<boolean> => run(workspaceId, turnId),

    findDue: async (most: number): Promise<{ workspace_id: string; turn_id: string }[]> =>
      (await parts.db.appPool.query('select * from due_assistant_turns($1)', [most])).rows,

    stopping: stopping.signal,

    async stop(): Promise<void> {
      stopping.abort()
      await Promise.allSettled(here.values())
      await watchers.stop()
    },
  }
}

/** Checks whether a model may answer. Without a model the menu answers. */
async function mayAsk(parts: AgentParts, { workspaceId, threadId }: Incoming): Promise<boolean> {
  const seen = await parts.db.tenant(inWorkspace(workspaceId), async (tx) => ({
    thread: await readThread(tx, workspaceId, threadId),
    around: await readThreadContext(tx, workspaceId, threadId),
  }))
  if (!seen.thread || seen.around.voice?.mode !== 'agent') return false
  return (await modelFromSettings(parts, modelSettingsOf(seen.thread, seen.around.voice))) !== undefined
}

/** Stores the message and opens its turn. Returns undefined if the assistant must not answer the message. */
async function openTurn(
  parts: AgentParts,
  tx: Tx,
  incoming: Incoming,
  runner: string,
): Promise<store.AgentTurn | Turn | undefined> {
  const { workspaceId, threadId, text, files = [] } = incoming
  const { thread, around, before } = await lockForTurn(tx, incoming)
  if (before) return (await store.findTurnOfMessage(tx, workspaceId, threadId, before.message.message_id)) ?? before
  if (around.voice?.mode !== 'agent' || thread.taken_over_by !== null || (text.trim() === '' && files.length === 0))
    return undefined
  await parts.updates.dropClosed(tx, thread)
  await parts.updates.postEnds(tx, thread)
  noteVisit(thread, incoming)
  const pending = begin({ thread, form: around.form }, { ...authorFields(incoming), text: withFileNames(text, files) })
  thread.state = { ...thread.state, gathering: null, files: withoutUsed([...thread.state.files, ...files], undefined) }
  parts.actions.closeStale(pending)
  if (pending.form?.kind === 'parameters') parts.actions.closeForm(pending, 'replaced')
  const [saved] = await saveTurn(tx, thread, pending.messages)
  for (const write of pending.writes) await write(tx)
  const turn = {
    workspace_id: workspaceId,
    turn_id: newId(),
    thread_id: threadId,
    seq: await seqOf(tx, workspaceId, threadId, saved!.message_id),
    turn: thread.turn,
    asked: {
      author: incoming.author,
      origin: incoming.origin,
      time_zone: incoming.timeZone ?? null,
      ...(incoming.stream && { watched: true }),
    },
  }
  await store.insertTurn(tx, turn, runner)
  return { ...turn, status: 'open', attempts: 0 }
}

async function readTurn(tx: Tx, workspaceId: string, threadId: string, turn: store.AgentTurn): Promise<Turn> {
  const thread = await readThread(tx, workspaceId, threadId)
  const message = await findMessage(tx, workspaceId, threadId, turn.seq)
  if (!thread || !message) throw problem('not_found')
  const [messages, { offers, form }, executionId] = await Promise.all([
    answersOf(tx, workspaceId, threadId, turn.turn, turn.seq),
    readThreadContext(tx, workspaceId, threadId),
    store.lastExecutionOf(tx, workspaceId, turn.turn_id),
  ])
  return {
    thread,
    message,
    messages,
    form: form && formOf(form),
    execution_id: executionId ?? messages.find(({ execution_id }) => execution_id !== null)?.execution_id ?? null,
    last_execution_id: thread.state.started?.execution_id ?? null,
    gathered: gatheredOf(thread, offers),
  }
}
