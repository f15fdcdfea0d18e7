import type { ExecutionError, Json, JsonObject } from '#model/definition'
import type { BlobRef } from '../blob-ref.ts'
import type { SuspendedOn } from '../node.ts'
import type { RequestKind } from './state.ts'

export type Failure = { code: string; message: string; details?: Json }

/** A message from outside to a graph. A message about a node that no longer waits for it changes nothing. */
export type GraphMessage =
  | { kind: 'done'; node: string; attempt: number; output: Json; blob?: BlobRef; port?: string; usage?: JsonObject }
  | {
      kind: 'error'
      node: string
      attempt: number
      error: Failure
      retryable: boolean
      nothingDone?: boolean
      retryAfterS?: number
      /** A child execution called its failure permanent. */
      isPermanent?: boolean
    }
  /** The attempt continues when the gate or execution that it waits for has ended. */
  | { kind: 'suspended'; node: string; attempt: number; on: SuspendedOn }
  | { kind: 'step'; node: string; name: string; result: Json }
  | { kind: 'progress'; node: string; data: JsonObject }
  | { kind: 'chunk'; node: string; from: number; to: number; data: JsonObject }
  /** `turns` iterations of a loop have ended. `until`: the next iteration waits until then. */
  | { kind: 'turns'; node: string; attempt: number; turns: number; until?: number }
  | { kind: 'opened'; node: string; people: RequestKind; data: JsonObject; dueAt: number | null }
  | { kind: 'postponed'; node: string; people: RequestKind; dueAt: number | null }
  | { kind: 'voted'; node: string; data: JsonObject }
  | { kind: 'edited'; node: string; data: JsonObject }
  | { kind: 'resolved'; node: string; outcome: 'approved' | 'rejected'; output: Json; data: JsonObject }
  | { kind: 'answered'; node: string; answer: Json; data: JsonObject }
  | { kind: 'received'; node: string; output: Json; data: JsonObject }
  | { kind: 'refused'; node: string; error: Failure }
  /** An execution that a node started while it ran has ended. */
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
  /** The gate, question or execution that the node waits for may have ended or may no longer exist. */
  | { kind: 'check'; node: string }
  | { kind: 'time' }
  /** `notStarted`: no node has started, so there is nothing for the `finally` nodes to release. */
  | { kind: 'cancel'; data: JsonObject; notStarted?: boolean }
  | { kind: 'timeout' }
  /** The time limit of the `finally` nodes. */
  | { kind: 'grace'; until: number }
