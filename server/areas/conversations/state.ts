import type { FileValue } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'

// The state of a conversation. It is stored in the row of the thread, so any process can handle the next turn.

export type OpenQuestion = {
  clarification_id: string
  /** The execution that asks: the execution that the conversation started, or one of its sub-workflows. */
  execution_id: string
  /** The execution that the conversation started. */
  root_id: string
  question: string
  schema: Json
  /** For an answer with several fields: the known values, and the field that was asked for last. */
  values?: JsonObject
  asked?: string
  /** The person set the question aside to do something else first. */
  aside?: boolean
}

export type Visit = { page?: { url: string; title?: string | undefined }; locale?: string; time_zone?: string }

export type State = {
  /** The workflow whose inputs are being collected, the known values, and the field that was asked for last. */
  gathering: { workflow_id: string; values: JsonObject; asked: string | null } | null
  /** Open questions that this conversation may answer, oldest first. */
  questions: OpenQuestion[]
  /**
   * Executions whose end was not posted yet. `answering` is the turn of an assistant that waits for the end and
   * reports it in its own words. Until the assistant releases the execution, the conversation does not post the end.
   */
  running: { execution_id: string; title: string; answering?: string }[]
  /** The workflows of the last menu. A number in a message selects one of them. */
  offered: string[]
  /** The last started execution, with its input. */
  started: { execution_id: string; workflow_id: string; values: JsonObject } | null
  /** True if the colleague who took over was notified that the visitor wrote, and has not answered yet. */
  awaiting: boolean
  /** Files that were sent and that no workflow has used yet, oldest first. */
  files: FileValue[]
  /** The page, language and time zone of the person's last message. */
  visit: Visit | null
  /** The language of the template, for people whose own language is unknown. */
  house: string | null
}

export const emptyState: State = {
  gathering: null,
  questions: [],
  running: [],
  offered: [],
  started: null,
  awaiting: false,
  files: [],
  visit: null,
  house: null,
}

/** Returns the question that the next message is assumed to answer. */
export const askedNow = ({ questions }: State): OpenQuestion | undefined => questions.find(({ aside }) => !aside)

/** Adds defaults for fields that did not exist when the row was written. */
export const readState = (stored: Partial<State>): State => ({ ...emptyState, ...stored })
