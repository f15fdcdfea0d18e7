import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import type { NewMessage } from './message-store.ts'
import { historyOf } from './message-store.ts'
import type { LockedThread } from './thread-store.ts'
import type { Author } from './types.ts'

// A workflow can receive the conversation that started it: a property of its inputs with `"x-source": "conversation"`.
// The service sets the property. People are not asked for it, and neither a visitor nor a model can set it.

const MAX_HISTORY = 100

const isConversation = (schema: Json | undefined): boolean =>
  isObject(schema) && own(schema, 'x-source') === 'conversation'

/** Returns the property that receives the conversation, and the inputs without this property. */
export function splitInputs(inputs: Json | null): { inputs: Json | null; conversationField: string | null } {
  const properties = isObject(inputs) ? own(inputs, 'properties') : undefined
  if (!isObject(inputs) || !isObject(properties)) return { inputs, conversationField: null }
  const field = Object.keys(properties).find((name) => isConversation(properties[name]))
  if (field === undefined) return { inputs, conversationField: null }
  const required = own(inputs, 'required')
  return {
    inputs: {
      ...inputs,
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => name !== field)),
      ...(Array.isArray(required) && { required: required.filter((name) => name !== field) }),
    },
    conversationField: field,
  }
}

/** `unsaved` contains the messages of the turn that are written at its end. */
export async function conversationOf(
  tx: Tx,
  thread: LockedThread,
  author: Author,
  unsaved: NewMessage[],
): Promise<JsonObject> {
  const saved = await historyOf(tx, thread.workspace_id, thread.thread_id, MAX_HISTORY)
  const { page = null, locale = null, time_zone = null } = thread.state.visit ?? {}
  return {
    thread_id: toWire('thr', thread.thread_id),
    kind: thread.kind,
    history: [
      ...saved.map(({ role, text, created_at }) => ({ role, text, at: created_at.toISOString() })),
      ...unsaved.map(({ role, text }) => ({ role, text, at: null })),
    ].slice(-MAX_HISTORY),
    sender: senderOf(thread, author),
    page: page && { url: page.url, title: page.title ?? null },
    locale,
    time_zone,
  }
}

const senderOf = ({ visitor_id }: LockedThread, author: Author): JsonObject => {
  switch (author.kind) {
    case 'person':
      return { kind: 'person', id: toWire('usr', author.userId), name: author.name }
    case 'visitor':
      return { kind: 'visitor', id: visitor_id, name: null }
    case 'external':
      return { kind: 'channel', id: author.id, name: author.name }
  }
}
