import type { FileValue } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { ListInput } from '#platform/http/list'
import type { Citation } from './agent/types.ts'
import type { Visit } from './state.ts'

// A conversation of any kind: a widget on a site, a thread of colleagues, a messaging channel, or the guided collection of
// a workflow's inputs. One engine answers all of them.

export type ThreadKind = 'thread' | 'embed' | 'channel' | 'gather'

/** The author of a message. The caller has checked their rights. */
export type Author =
  | { kind: 'person'; userId: string; name: string }
  | { kind: 'visitor' }
  /** A person on the other side of a gateway channel. */
  | { kind: 'external'; id: string; name: string }

/** The origin of executions that the conversation starts. `id` is a wire id (`emb_…`, `chan_…`, `usr_…`). */
export type Origin = { kind: 'embed' | 'channel' | 'user'; id: string | null }

/** The transaction that the turn is part of, where it does not open its own. A request's context is one. */
export type Within = { tx: Tx; afterCommit(work: () => void): void }

/** Where the caller watches the assistant write. `after` is the last frame that it has. */
export type Watching = { after: string | null; send(event: 'text' | 'reset', data: object, id?: string): void }

export type Incoming = {
  workspaceId: string
  /** Only without a model: no transaction stays open while a model answers. */
  within?: Within
  threadId: string
  /** Checked first. Where it returns false the thread does not exist for the caller. */
  isTheirs?(thread: Thread): boolean
  author: Author
  origin: Origin
  text: string
  /** Files that the author has sent with it, and that they have the right to give. */
  files?: FileValue[]
  /** A stored clip that belongs to the message. */
  audioId?: string
  /** Identifies the delivery. A repetition with the same key gets the same turn, and nothing happens twice. */
  requestKey?: Buffer
  /** For "tomorrow at nine"; UTC where the author's is unknown. */
  timeZone?: string
  /** The page and the language of the person who writes. */
  visit?: Omit<Visit, 'time_zone'>
  signal?: AbortSignal
  /** The author is shown the answer while it is written. */
  stream?: Watching
}

/** The first message of a conversation that begins with it. */
export type FirstMessage = Omit<Incoming, 'threadId' | 'isTheirs'> & {
  open: NewThread & { kind: 'embed' | 'gather' }
  /** Checked for a repeated delivery that already began this thread. */
  isTheirs(thread: Thread): boolean
}

export type FormAction = Omit<Incoming, 'text' | 'files' | 'audioId' | 'timeZone' | 'visit'> & {
  action: 'submit' | 'cancel'
  formId: string
  values?: JsonObject
}

/** An answer to a question of an execution, by its id; to the first open one where none is named. */
export type Respond = Omit<Incoming, 'text' | 'files' | 'audioId' | 'timeZone' | 'visit' | 'requestKey' | 'signal'> & {
  executionId: string
  clarificationId?: string | undefined
  response: Json
}

export type MessageRole = 'assistant' | 'visitor' | 'user' | 'system'

export type Message = {
  message_id: string
  role: MessageRole
  /** The person, where a person of the workspace wrote it. */
  author_id: string | null
  author_name: string | null
  text: string
  audio_id: string | null
  execution_id: string | null
  /** The passages that the text refers to by number. */
  citations?: Citation[] | null
  created_at: Date
}

/** `schema` is a JSON Schema of an object; `values` holds the known values. */
export type Form = { form_id: string; title: string; schema: Json; values: JsonObject }

/** The result of a message: the stored messages, the answers, and what is open now. */
export type Turn = {
  thread: Thread
  /** The message as stored. An action on a form reads as a message too. */
  message: Message
  messages: Message[]
  form: Form | null
  /** The execution that this turn started. */
  execution_id: string | null
  /** The last execution that the conversation started. */
  last_execution_id: string | null
  /** For `gather`: the known inputs, the missing ones, and whether the execution was started. */
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
  | { kind: 'thread'; title: string; templateId: string | null; createdBy: string; visit?: Visit }
  | { kind: 'embed'; templateId: string; visitorId: string; visit?: Visit }
  | { kind: 'gather'; workflowId: string; visitorId: string; visit?: Visit }
  | { kind: 'channel'; templateId: string; configId: string; externalId: string; title?: string }
)

/** A message of the assistant outside a turn (a question, a gate, a result), in the transaction of its cause. */
export type Posted = { thread: Thread; message: Message }

/** A colleague takes part in a conversation with a visitor. */
export type TakeOver = { workspaceId: string; threadId: string; person: { user_id: string; name: string } }
export type SpeakUp = TakeOver & { text: string; requestKey?: Buffer }

/** What other areas call. They have checked the caller's rights. */
export type Conversations = {
  /** A new thread with its greeting; for a channel, the one that exists for (config, external id). */
  openThread(tx: Tx, thread: NewThread): Promise<Thread>
  findThread(tx: Tx, workspaceId: string, threadId: string): Promise<Thread | undefined>
  /**
   * Stores a message and its answer in one transaction: the given one, or its own. Turns of one thread happen one after the
   * other. A thread without a template only stores. Throws `not_found` where the thread is gone.
   */
  takeMessage(incoming: Incoming): Promise<Turn>
  /** True where a turn needs no model and can be part of its caller's transaction. */
  answersAtOnce(): boolean
  /** Submits or cancels a form: `form_closed`, `invalid` with paths under `/values`, `unknown_reference` at `/form_id`. */
  takeAction(action: FormAction): Promise<Turn>
  /** Those that the query of a list asks for. */
  searchMessages(
    tx: Tx,
    workspaceId: string,
    threadId: string,
    asked: ListInput,
  ): Promise<{ items: (Message & { seq: number })[]; next_cursor: string | null }>
  /** Oldest first, after `seq`. */
  listMessages(
    tx: Tx,
    workspaceId: string,
    threadId: string,
    page: { after: number; limit: number },
  ): Promise<(Message & { seq: number })[]>
  openForm(tx: Tx, workspaceId: string, threadId: string): Promise<Form | null>
  /** A colleague takes over and the assistant is silent. Throws `conflict` where the conversation has no visitor. */
  takeOver(tx: Tx, taking: TakeOver): Promise<void>
  handBack(tx: Tx, place: Omit<TakeOver, 'person'>): Promise<void>
  /** A colleague's message. It takes over where nobody has. */
  speakUp(tx: Tx, message: SpeakUp): Promise<Message>
  /**
   * Gateway channels send messages that are posted outside a turn. The listener writes its outbox row in the same
   * transaction.
   */
  onPosted(listener: (tx: Tx, posted: Posted) => Promise<void>): void
}
