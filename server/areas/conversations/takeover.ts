import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'
import type { CarryOut, Deed } from './carry-out.ts'
import { messagesOfRequest, type NewMessage, saveTurn } from './message-store.ts'
import type { News } from './news.ts'
import { readSurroundings, type Surroundings } from './offer-store.ts'
import { askedNow } from './state.ts'
import * as texts from './texts.ts'
import { nextStep } from './think.ts'
import { type Held, lockThread, setTakenOver } from './thread-store.ts'
import type { Message, SpeakUp, TakeOver } from './types.ts'

// A colleague talks with somebody outside: what they write goes where the assistant's words go, and the assistant is silent
// until the conversation is handed back, the colleague leaves the workspace, or half a day passes without a word of theirs.
// What becomes of executions is still told: that is news, and nobody else would tell it.

export function makeTakeover({ carrying, news }: { carrying: CarryOut; news: Pick<News, 'announce' | 'dropClosed'> }) {
  async function hold(tx: Tx, { workspaceId, threadId }: Pick<TakeOver, 'workspaceId' | 'threadId'>) {
    const [held, around] = await Promise.all([
      lockThread(tx, workspaceId, threadId),
      readSurroundings(tx, workspaceId, threadId),
    ])
    if (!held) throw problem('not_found')
    if (held.kind !== 'embed' && held.kind !== 'channel')
      throw problem('conflict', 'Only a conversation of a chat widget or of a channel can be taken over.')
    return { held, around }
  }

  const begin = (held: Held, { form }: Surroundings): Deed => ({
    held,
    said: [],
    writes: [],
    form,
    executionId: null,
    started: 0,
  })

  /** Says and does what came of it, and sends it where somebody outside reads it. */
  async function finish(tx: Tx, deed: Deed, { voice }: Surroundings): Promise<Message[]> {
    const saved = await saveTurn(tx, deed.held, deed.said)
    for (const write of deed.writes) await write(tx)
    for (const message of saved) await news.announce(tx, deed.held, signed(message, voice?.names === true))
    return saved
  }

  /** A form that stands open is the assistant's; it is shown again when the conversation is handed back. */
  function join(deed: Deed, by: TakeOver['person'], { voice }: Surroundings): void {
    const { held } = deed
    if (held.taken_over_by === by.user_id) return
    deed.said.push(aside(texts.joined(voice?.names ? by.name : null)))
    carrying.closeForm(deed, 'replaced')
    held.state = { ...held.state, awaiting: false }
  }

  return {
    async takeOver(tx: Tx, { person, ...place }: TakeOver): Promise<void> {
      const { held, around } = await hold(tx, place)
      const deed = begin(held, around)
      join(deed, person, around)
      await finish(tx, deed, around)
      await setTakenOver(tx, held, person.user_id)
    },

    /** What a colleague writes where nobody has taken over takes over; whoever has stays the one who did. */
    async speakUp(tx: Tx, { person, text, requestKey, ...place }: SpeakUp): Promise<Message> {
      const { held, around } = await hold(tx, place)
      const before = requestKey && (await messagesOfRequest(tx, place.workspaceId, place.threadId, requestKey))
      if (before?.[0]) return before[0]
      const deed = begin(held, around)
      if (held.taken_over_by === null) join(deed, person, around)
      held.turn += 1
      held.state = { ...held.state, awaiting: false }
      const { user_id: author_id, name: author_name } = person
      deed.said.push({ role: 'user', author_id, author_name, text, request_key: requestKey ?? null })
      const saved = await finish(tx, deed, around)
      await setTakenOver(tx, held, held.taken_over_by ?? person.user_id)
      return saved.at(-1)!
    },

    /** What stood open is asked again. Where nobody has taken over there is nothing to hand back, and nothing is said. */
    async handBack(tx: Tx, place: Omit<TakeOver, 'person'>): Promise<void> {
      const { held, around } = await hold(tx, place)
      if (held.taken_over_by === null) return
      held.taken_over_by = null
      held.state = { ...held.state, awaiting: false }
      await news.dropClosed(tx, held)
      const deed = begin(held, around)
      deed.said.push(aside(texts.HANDED_BACK))
      for (const text of neededNow(held, around)) carrying.say(deed, text)
      carrying.remind(deed, around.offers)
      await finish(tx, deed, around)
      await setTakenOver(tx, held, null)
    },
  }
}

export type Takeover = ReturnType<typeof makeTakeover>

/** What was being gathered, where nothing else is asked first. */
function neededNow({ state }: Held, { offers }: Surroundings): string[] {
  const { gathering } = state
  const offer = offers.find(({ workflow_id }) => workflow_id === gathering?.workflow_id)
  if (!gathering || !offer || askedNow(state)) return []
  const step = nextStep(offer, gathering.values, [], false)
  return step.kind === 'gather' ? step.texts : []
}

/** In no turn: nobody asked for it. */
const aside = (text: string): NewMessage => ({ role: 'system', text, turn: 0 })

/** In a channel there is no other place for the name. */
const signed = (message: Message, names: boolean): Message =>
  names && message.role === 'user' ? { ...message, text: `${message.author_name}: ${message.text}` } : message

/** Whoever has taken over hears of it where the visitor begins to wait for them, and not of every line. */
export function tellHolder({ held, writes }: Deed): void {
  const { taken_over_by: holder, workspace_id: workspaceId, thread_id } = held
  if (holder === null || held.state.awaiting) return
  held.state = { ...held.state, awaiting: true }
  writes.push((tx) =>
    deliverEvent(tx, {
      workspaceId,
      kind: 'thread.visitor_wrote',
      title: 'A visitor waits for your answer',
      body: 'You have taken over the conversation; the assistant is silent until you hand it back.',
      data: { thread_id: toWire('thr', thread_id) },
      link: `/threads/${toWire('thr', thread_id)}`,
      to: [holder],
    }),
  )
}
