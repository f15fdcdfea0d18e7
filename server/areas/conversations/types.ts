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

/** The caller's transaction, if the turn does not open its own. The context of a request is one. */
export type Within = { tx: Tx; afterCommit(work: () => void): void }

/** Set if the caller watches the assistant write. `after` is the last frame that the caller has. */
export type Watching = { after: string | null; send(event: 'text' | 'reset', data: object, id?: string): void }

export type Incoming = {
  workspaceId: string
  /** Only without a model: no transaction may stay open while a model runs. */
  within?: Within
  threadId: string
  /** Checked first. If it returns false, the thread does not exist for the caller. */
  isTheirs?(thread: Thread): boolean
  author: Author
  origin: Origin
  text: string
  /** Files that the author sent with the message and is allowed to use. */
  files?: FileValue[]
  /** A stored clip that belongs to the message. */
  audioId?: string
  /** Identifies the delivery. A repeated delivery with the same key gets the same turn and has no further effect. */
  requestKey?: Buffer
  /** Used for dates such as "tomorrow at nine". UTC if the author's time zone is unknown. */
  timeZone?: string
  /** The page and the language of the person who writes. */
  visit?: Omit<Visit, 'time_zone'>
  signal?: AbortSignal
  /** Set if the author receives the answer while it is written. */
  stream?: Watching
}

/** The first message, which starts its conversation. */
export type FirstMessage = Omit<Incoming, 'threadId' | 'isTheirs'> & {
  open: NewThread & { kind: 'embed' | 'gather' }
  /** Checked for a repeated delivery that has already started this thread. */
  isTheirs(thread: Thread): boolean
}

export type FormAction = Omit<Incoming, 'text' | 'files' | 'audioId' | 'timeZone' | 'visit'> & {
  action: 'submit' | 'cancel'
  formId: string
  values?: JsonObject
}

/**
 * An answer to a question of an execution, by the id of the question. Without an id, it answers the first open
 * question.
 */
export type Respond = Omit<Incoming, 'text' | 'files' | 'audioId' | 'timeZone' | 'visit' | 'requestKey' | 'signal'> & {
  executionId: string
  clarificationId?: string | undefined
  response: Json
}

export type MessageRole = 'assistant' | 'visitor' | 'user' | 'system'

export type Message = {
  message_id: string
  role: MessageRole
  /** The id of the author, if a member of the workspace wrote the message. */
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
  /** The message as stored. An action on a form is also stored as a message. */
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

/** A message of the assistant outside a turn (a question, a gate, a result), posted in the transaction of its cause. */
export type Posted = { thread: Thread; message: Message }

/** A colleague takes part in a conversation with a visitor. */
export type TakeOver = { workspaceId: string; threadId: string; person: { user_id: string; name: string } }
/** `closes` is true if the colleague closes the conversation with it. */
export type HandBack = Omit<TakeOver, 'person'> & { closes?: boolean }
export type SpeakUp = TakeOver & { text: string; requestKey?: Buffer }

/** The functions for other areas, which have already checked the caller's rights. */
export type Conversations = {
  /**
   * Opens a new thread with its greeting. For a channel, returns the existing thread for (config, external id) if
   * there is one.
   */
  openThread(tx: Tx, thread: NewThread): Promise<Thread>
  findThread(tx: Tx, workspaceId: string, threadId: string): Promise<Thread | undefined>
  /**
   * Stores a message and its answer in one transaction: the given transaction, or its own. Turns of one thread happen
   * one after the other. A thread without a template only stores the message. Throws `not_found` if the thread does
   * not exist.
   */
  takeMessage(incoming: Incoming): Promise<Turn>
  /** Returns true if a turn needs no model and can be part of its caller's transaction. */
  answersAtOnce(): boolean
  /**
   * Submits or cancels a form. Throws `form_closed`, `invalid` with paths under `/values`, or `unknown_reference` at
   * `/form_id`.
   */
  takeAction(action: FormAction): Promise<Turn>
  /** Returns the messages that match the list query. */
  searchMessages(
    tx: Tx,
    workspaceId: string,
    threadId: string,
    asked: ListInput,
  ): Promise<{ items: (Message & { seq: number })[]; next_cursor: string | null }>
  /** Returns the messages after `seq`, oldest first. */
  listMessages(
    tx: Tx,
    workspaceId: string,
    threadId: string,
    page: { after: number; limit: number },
  ): Promise<(Message & { seq: number })[]>
  openForm(tx: Tx, workspaceId: string, threadId: string): Promise<Form | null>
  /**
   * Lets a colleague take over; the assistant no longer answers. Throws `conflict` if the conversation has no
   * visitor.
   */
  takeOver(tx: Tx, taking: TakeOver): Promise<void>
  handBack(tx: Tx, place: HandBack): Promise<void>
  /** Sends a colleague's message. It takes over the conversation if no colleague has. */
  speakUp(tx: Tx, message: SpeakUp): Promise<Message>
  /**
   * Registers a listener for messages that are posted outside a turn, so that gateway channels can send them. The
   * listener writes its outbox row in the same transaction.
   */
  onPosted(listener: (tx: Tx, posted: Posted) => Promise<void>): void
}
