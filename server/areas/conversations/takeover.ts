import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'
import type { ConversationActions } from './conversation-actions.ts'
import { nextStep } from './decide.ts'
import { whenClosed } from './handover.ts'
import { phrasesFor } from './languages/index.ts'
import { messagesOfRequest, type NewMessage, saveTurn } from './message-store.ts'
import { joined } from './notices.ts'
import { readThreadContext, type ThreadContext } from './offer-store.ts'
import { type PendingTurn, pendingChangesOf } from './pending-turn.ts'
import { askedNow, type State } from './state.ts'
import { type LockedThread, lockThread, noteRead, setTakenOver } from './thread-store.ts'
import type { HandBack, Message, SpeakUp, TakeOver } from './types.ts'
import type { Updates } from './updates.ts'

// A colleague takes over a conversation with a visitor. Their messages are sent like the messages of the assistant, and
// the assistant does not answer until the conversation is handed back, the colleague leaves the workspace, or twelve
// hours pass without a message from them. Results of executions are still posted.

export function makeTakeover({
  actions,
  updates,
}: {
  actions: ConversationActions
  updates: Pick<Updates, 'announce' | 'dropClosed'>
}) {
  async function hold(tx: Tx, { workspaceId, threadId }: Pick<TakeOver, 'workspaceId' | 'threadId'>) {
    const [thread, around] = await Promise.all([
      lockThread(tx, workspaceId, threadId),
      readThreadContext(tx, workspaceId, threadId),
    ])
    if (!thread) throw problem('not_found')
    if (thread.kind !== 'embed' && thread.kind !== 'channel')
      throw problem('conflict', 'Only a conversation of a chat widget or of a channel can be taken over.')
    return { thread, around }
  }

  /** Saves the turn and sends its messages to the visitor. */
  async function finish(tx: Tx, pending: PendingTurn, { voice }: ThreadContext): Promise<Message[]> {
    const saved = await saveTurn(tx, pending.thread, pending.messages)
    for (const write of pending.writes) await write(tx)
    for (const message of saved) await updates.announce(tx, pending.thread, signed(message, voice?.names === true))
    return saved
  }

  /**
   * Adds the colleague and closes the open form of the assistant. The form is shown again when the conversation is
   * handed back.
   */
  function join(pending: PendingTurn, by: TakeOver['person'], { voice }: ThreadContext): void {
    const { thread } = pending
    if (thread.taken_over_by === by.user_id) return
    pending.messages.push(aside(joined(phrasesFor(thread.state), voice?.names ? by.name : null)))
    actions.closeForm(pending, 'replaced')
    thread.state = { ...thread.state, awaiting: false }
  }

  return {
    async takeOver(tx: Tx, { person, ...place }: TakeOver): Promise<void> {
      const { thread, around } = await hold(tx, place)
      const pending = pendingChangesOf(thread, around.form)
      join(pending, person, around)
      await finish(tx, pending, around)
      await setTakenOver(tx, thread, person.user_id)
    },

    /**
     * Sends a colleague's message. It takes over the conversation if no colleague has. A colleague who has already
     * taken over keeps the conversation.
     */
    async speakUp(tx: Tx, { person, text, requestKey, ...place }: SpeakUp): Promise<Message> {
      const { thread, around } = await hold(tx, place)
      const before = requestKey && (await messagesOfRequest(tx, place.workspaceId, place.threadId, requestKey))
      if (before?.[0]) return before[0]
      const pending = pendingChangesOf(thread, around.form)
      if (thread.taken_over_by === null) join(pending, person, around)
      thread.turn += 1
      thread.state = { ...thread.state, awaiting: false }
      const { user_id: author_id, name: author_name } = person
      pending.messages.push({ role: 'user', author_id, author_name, text, request_key: requestKey ?? null })
      const saved = await finish(tx, pending, around)
      await setTakenOver(tx, thread, thread.taken_over_by ?? person.user_id)
      await noteRead(tx, thread, person.user_id)
      return saved.at(-1)!
    },

    /**
     * Hands the conversation back to the assistant, which asks again for what was open, unless the colleague closes the
     * conversation. Does nothing if no colleague has taken over.
     */
    async handBack(tx: Tx, { closes = false, ...place }: HandBack): Promise<void> {
      const { thread, around } = await hold(tx, place)
      if (thread.taken_over_by === null) return
      thread.taken_over_by = null
      thread.state = { ...thread.state, awaiting: false, ...(closes && withoutRequests(thread.state)) }
      await updates.dropClosed(tx, thread)
      const pending = pendingChangesOf(thread, around.form)
      pending.messages.push(aside(phrasesFor(thread.state).handedBack))
      for (const text of neededNow(thread, around)) actions.say(pending, text)
      actions.remind(pending, around.offers)
      await finish(tx, pending, around)
      await setTakenOver(tx, thread, null)
    },
  }
}

/**
 * The colleague has dealt with the matter. The next message starts something new: it is no answer to a question and no
 * input of a workflow.
 */
const withoutRequests = ({ questions }: State): Pick<State, 'gathering' | 'questions'> => ({
  gathering: null,
  questions: questions.map((question) => ({ ...question, aside: true })),
})

/** Returns the next input to ask for, if no question is open. */
function neededNow({ state }: LockedThread, { offers }: ThreadContext): string[] {
  const { gathering } = state
  const offer = offers.find(({ workflow_id }) => workflow_id === gathering?.workflow_id)
  if (!gathering || !offer || askedNow(state)) return []
  const step = nextStep(phrasesFor(state), offer, gathering.values, [], false)
  return step.kind === 'gather' ? step.texts : []
}

/** A message outside any turn. */
const aside = (text: string): NewMessage => ({ role: 'system', text, turn: 0 })

/** Adds the name to the text, because a channel has no other place for it. */
const signed = (message: Message, names: boolean): Message =>
  names && message.role === 'user' ? { ...message, text: `${message.author_name}: ${message.text}` } : message

/**
 * Notifies the colleague who took over when the visitor starts to wait, not for every message. Outside the opening
 * hours the visitor is told when people answer.
 */
export async function notifyHolder(tx: Tx, { thread, writes, messages }: PendingTurn): Promise<void> {
  const { taken_over_by: holder, workspace_id: workspaceId, thread_id } = thread
  if (holder === null || thread.state.awaiting) return
  thread.state = { ...thread.state, awaiting: true }
  const closed = await whenClosed(tx, thread)
  if (closed !== null) messages.push({ role: 'system', text: closed })
  writes.push((tx) =>
    deliverEvent(tx, {
      workspaceId,
      kind: 'thread.visitor_wrote',
      title: 'A visitor waits for your answer',
      body: 'You have taken over the conversation; the assistant is silent until you hand it back.',
      data: { thread_id: toWire('thr', thread_id) },
      link: `/conversations/${toWire('thr', thread_id)}`,
      to: [holder],
    }),
  )
}
