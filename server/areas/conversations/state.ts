import type { FileValue } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'

// The state of a conversation. It is stored in the thread's row, so any process can take the next turn.

export type OpenQuestion = {
  clarification_id: string
  /** The execution that asks: the one the conversation started, or one of its sub-workflows. */
  execution_id: string
  /** The one the conversation started. */
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
   * Executions whose end was not told yet. `answering`: the turn of an assistant that waits for the end and tells it in its own
   * words; until it lets go, the conversation does not post it.
   */
  running: { execution_id: string; title: string; answering?: string }[]
  /** The workflows of the last menu: a number means one of them. */
  offered: string[]
  /** The last started execution, with its input. */
  started: { execution_id: string; workflow_id: string; values: JsonObject } | null
  /** The colleague who took over was notified that the visitor wrote, and has not answered yet. */
  awaiting: boolean
  /** Files that were sent and that no workflow has taken yet, oldest first. */
  files: FileValue[]
  /** Where the person is, as their last message said. */
  visit: Visit | null
  /** The language of the template: read with the thread, for people whose own is not known. */
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

/** The question that the next message is taken to answer. */
export const askedNow = ({ questions }: State): OpenQuestion | undefined => questions.find(({ aside }) => !aside)

/** Rows that were written before a field existed lack it. */
export const readState = (stored: Partial<State>): State => ({ ...emptyState, ...stored })
