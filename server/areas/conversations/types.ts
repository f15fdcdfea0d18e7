import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'

// A conversation, wherever it is held: a widget on somebody's site, a thread of colleagues, a messaging channel, or the
// guided gathering of a workflow's inputs. One engine answers all of them.

export type ThreadKind = 'thread' | 'embed' | 'channel' | 'gather'

/** Who says something. Whether they may was settled before. */
export type Author =
  | { kind: 'person'; userId: string; name: string }
  | { kind: 'visitor' }
  /** Somebody on the other side of a gateway channel. */
  | { kind: 'external'; id: string; name: string }

/** What executions that the conversation starts say about their origin. `id` is a wire id (`emb_…`, `chan_…`, `usr_…`). */
export type Origin = { kind: 'embed' | 'channel' | 'user'; id: string | null }

/** The transaction that a turn is part of, where it does not open its own; a request's context is one. */
export type Within = { tx: Tx; afterCommit(work: () => void): void }

export type Incoming = {
  workspaceId: string
  /** Without a model only: nobody holds a transaction while a model thinks. */
  within?: Within
  threadId: string
  /** Asked of the thread before anything else; where it says no, there is no such thread. */
  isTheirs?(thread: Thread): boolean
  author: Author
  origin: Origin
  text: string
  /** A persisted clip that belongs to the message. */
  audioId?: string
  /** Identifies the delivery; the same key again is answered with the same turn, and nothing happens twice. */
  requestKey?: Buffer
  /** For "tomorrow at nine"; UTC where the author's is unknown. */
  timeZone?: string
  signal?: AbortSignal
}

/** The first message of a conversation that begins with it. */
export type FirstMessage = Omit<Incoming, 'threadId' | 'isTheirs'> & {
  open: NewThread & { kind: 'embed' | 'gather' }
  /** Asked of the thread that this very delivery began before its answer was lost. */
  isTheirs(thread: Thread): boolean
}

export type FormAction = Omit<Incoming, 'text' | 'audioId' | 'timeZone'> & {
  action: 'submit' | 'cancel'
  formId: string
  values?: JsonObject
}

/** An answer to a question of an execution, by its id; the first open one where none is named. */
export type Respond = Omit<Incoming, 'text' | 'audioId' | 'timeZone' | 'requestKey' | 'signal'> & {
  executionId: string
  clarificationId?: string | undefined
  response: Json
}

export type MessageRole = 'assistant' | 'visitor' | 'user' | 'system'

export type Message = {
  message_id: string
  role: MessageRole
  /** The person, where one of the workspace wrote it. */
  author_id: string | null
  author_name: string | null
  text: string
  audio_id: string | null
  execution_id: string | null
  created_at: Date
}

/** `schema` is a JSON Schema of an object; `values` is what is known already. */
export type Form = { form_id: string; title: string; schema: Json; values: JsonObject }

/** What came of a message: what was stored of it, what is answered, and what stands open now. */
export type Turn = {
  thread: Thread
  /** What was said, as stored; an action on a form reads as a message too. */
  message: Message
  messages: Message[]
  form: Form | null
  /** What this turn started. */
  execution_id: string | null
  /** What the conversation started last. */
  last_execution_id: string | null
  /** For `gather`: what is known of the inputs, what is missing, and whether the execution was started. */
  gathered: { values: JsonObject; missing: string[]; complete: boolean }
}

export type Thread = {
  workspace_id: string
  thread_id: string
  kind: ThreadKind
  title: string | null
  template_id: string | null
  workflow_id: string | null
  visitor_id: string | null
  config_id: string | null
  external_id: string | null
  created_by: string | null
}

export type NewThread = { workspaceId: string } & (
  | { kind: 'thread'; title: string; templateId: string | null; createdBy: string }
  | { kind: 'embed'; templateId: string; visitorId: string }
  | { kind: 'gather'; workflowId: string; visitorId: string }
  | { kind: 'channel'; templateId: string; configId: string; externalId: string; title?: string }
)

/** Something the assistant said outside a turn (a question, a gate, a result). In the transaction that makes it true. */
export type Posted = { thread: Thread; message: Message }

/** A colleague takes part in a conversation with somebody outside. */
export type TakeOver = { workspaceId: string; threadId: string; person: { user_id: string; name: string } }
export type SpeakUp = TakeOver & { text: string; requestKey?: Buffer }

/** What the other areas use. Who may call was settled by them. */
export type Conversations = {
  /** A new thread with its greeting; for a channel, the one that exists for (config, external id). */
  openThread(tx: Tx, thread: NewThread): Promise<Thread>
  findThread(tx: Tx, workspaceId: string, threadId: string): Promise<Thread | undefined>
  /**
   * Stores a message and answers it, both in one transaction: the one it is given, or its own. Turns of one thread happen one
   * after the other. A thread without a template only stores. Throws `not_found` where the thread is gone.
   */
  takeMessage(incoming: Incoming): Promise<Turn>
  /** True where a turn needs no model, and can be part of its caller's transaction. */
  answersAtOnce(): boolean
  /** Submits or cancels a form: `form_closed`, `invalid` with paths under `/values`, `unknown_reference` at `/form_id`. */
  takeAction(action: FormAction): Promise<Turn>
  /** Oldest first, after `seq`. */
  listMessages(
    tx: Tx,
    workspaceId: string,
    threadId: string,
    page: { after: number; limit: number },
  ): Promise<(Message & { seq: number })[]>
  openForm(tx: Tx, workspaceId: string, threadId: string): Promise<Form | null>
  /** The assistant is silent from now on: a colleague talks. `conflict` where it is no conversation with somebody outside. */
  takeOver(tx: Tx, taking: TakeOver): Promise<void>
  handBack(tx: Tx, place: Omit<TakeOver, 'person'>): Promise<void>
  /** What a colleague says there; it takes over where nobody has. */
  speakUp(tx: Tx, said: SpeakUp): Promise<Message>
  /** Gateway channels send what is posted outside a turn: the listener writes its outbox row in the same transaction. */
  onPosted(listener: (tx: Tx, posted: Posted) => Promise<void>): void
}
