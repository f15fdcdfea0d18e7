import type { Json, JsonObject } from '#model/definition'

// Where a conversation stands; kept in its row, so that whoever answers next goes on from here.

export type OpenQuestion = {
  clarification_id: string
  /** The execution that asks: the one the conversation started, or one that it started in turn. */
  execution_id: string
  /** The one the conversation started. */
  root_id: string
  question: string
  schema: Json
  /** For an answer of several fields: what is known of it, and which was asked for last. */
  values?: JsonObject
  asked?: string
  /** Whoever it is for wanted to do something else first. */
  aside?: boolean
}

export type State = {
  /** The workflow whose inputs are being gathered, what is known of them, and what was asked for last. */
  gathering: { workflow_id: string; values: JsonObject; asked: string | null } | null
  /** Questions of executions that this conversation may answer, oldest first. */
  questions: OpenQuestion[]
  /** Executions that have not ended. */
  running: { execution_id: string; title: string }[]
  /** The workflows of the menu that was shown last: a number means one of them. */
  offered: string[]
  /** What was started last, with its input. */
  started: { execution_id: string; workflow_id: string; values: JsonObject } | null
  /** Whoever has taken over was told that the visitor wrote, and has not answered yet. */
  awaiting: boolean
}

export const emptyState: State = {
  gathering: null,
  questions: [],
  running: [],
  offered: [],
  started: null,
  awaiting: false,
}

/** The question that the next words are taken to answer. */
export const askedNow = ({ questions }: State): OpenQuestion | undefined => questions.find(({ aside }) => !aside)

/** Rows written before a field existed do not have it. */
export const readState = (stored: Partial<State>): State => ({ ...emptyState, ...stored })
