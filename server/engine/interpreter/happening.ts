import type { ExecutionError, Json, JsonObject } from '#model/definition'
import type { BlobRef } from '../blob-ref.ts'
import type { SuspendedOn } from '../node.ts'
import type { Asking } from './state.ts'

export type Failure = { code: string; message: string; details?: Json }

/** What the outside world tells a graph. One about a node that no longer waits for it changes nothing. */
export type Happening =
  | { kind: 'done'; node: string; attempt: number; output: Json; blob?: BlobRef; port?: string; usage?: JsonObject }
  | {
      kind: 'error'
      node: string
      attempt: number
      error: Failure
      retryable: boolean
      nothingDone?: boolean
      retryAfterS?: number
      /** What failed inside it called that permanent. */
      isPermanent?: boolean
    }
  /** The attempt goes on when what it waits for is over. */
  | { kind: 'suspended'; node: string; attempt: number; on: SuspendedOn }
  | { kind: 'step'; node: string; name: string; result: Json }
  | { kind: 'progress'; node: string; data: JsonObject }
  | { kind: 'chunk'; node: string; from: number; to: number; data: JsonObject }
  /** `turns` of a loop are over. `until`: the next one waits. */
  | { kind: 'turns'; node: string; attempt: number; turns: number; until?: number }
  | { kind: 'opened'; node: string; people: Asking; data: JsonObject; dueAt: number | null }
  | { kind: 'postponed'; node: string; people: Asking; dueAt: number | null }
  | { kind: 'voted'; node: string; data: JsonObject }
  | { kind: 'edited'; node: string; data: JsonObject }
  | { kind: 'resolved'; node: string; outcome: 'approved' | 'rejected'; output: Json; data: JsonObject }
  | { kind: 'answered'; node: string; answer: Json; data: JsonObject }
  | { kind: 'received'; node: string; output: Json; data: JsonObject }
  | { kind: 'refused'; node: string; error: Failure }
  /** An execution that a node started while it ran. */
  | { kind: 'ended'; node: string; execution: string }
  | {
      kind: 'child'
      node: string
      attempt: number
      results: Json
      blob?: BlobRef
      error: ExecutionError | null
      isPermanent?: boolean
    }
  /** What it waits for may be over, or gone. */
  | { kind: 'check'; node: string }
  | { kind: 'time' }
  /** `notBegun`: no node has run, so there is nothing for the `finally` nodes to release. */
  | { kind: 'cancel'; data: JsonObject; notBegun?: boolean }
  | { kind: 'timeout' }
  /** The time that the `finally` nodes have. */
  | { kind: 'grace'; until: number }
