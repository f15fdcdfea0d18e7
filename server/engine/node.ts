import type { ExecutionError, Json, JsonObject } from '#model/definition'
import type { Effect, NodeDescriptor } from '#model/node'
import { toStorableText } from '#model/storable'
import type { Logger } from '#platform/log'
import type { CallBounds } from './agents/call-bounds.ts'

export type LogLine = { level: 'debug' | 'info' | 'warn' | 'error'; message: string }

/** One attempt of one node, with its arguments already resolved to plain JSON. */
export type NodeCall = {
  workspaceId: string
  workflowId: string | null
  executionId: string
  /** The node's id. Inside a map it has the prefix `map-node[index].`. */
  nodePath: string
  attempt: number
  args: JsonObject
  /** `execution:node path:item`, the same on every attempt. Providers receive it as their idempotency key. */
  effectKey: string
  /** The person the execution acts for, as stored when it started. The person may have left since. */
  principalId: string | null
  /** The credentials that the definition of the node names. No expression can add one. */
  readonly credentialIds: ReadonlySet<string>
  /** The person who started the execution, if a person did. */
  startedBy: string | null
  /** The trace context for the requests of the node, if the execution is traced. */
  traceparent?: string | undefined
  /** The id of the trigger of the execution in its public form: `suite_…`, `whk_…`. */
  triggerId?: string | null
  /** The node's own `timeout_s`, after which the engine ends the attempt. */
  timeoutS?: number | undefined
  signal: AbortSignal
  log: Logger
  /**
   * Writes lines to the log of the execution. `key` must be the same when the same lines are written again, on a
   * retry or after a crash. The lines are then stored once.
   */
  say?(key: string, lines: LogLine[]): Promise<void>
  /** Shown live as `node.progress`. It may be lost, and is never needed for correctness. */
  progress(data: Json): void
  /**
   * Does `work` once and journals its result before resolving. After a crash, the attempt that takes over receives
   * the journalled result instead of repeating the work. `name` is unique within the attempt and the same on every
   * attempt.
   */
  step<T extends Json>(name: string, work: () => Promise<T>): Promise<T>
  /**
   * Opens a gate of this node, or finds the gate with the same payload. Throws `Suspended` while the gate is open.
   * With `editable`, the payload is a tool call whose arguments people may edit within these bounds.
   */
  openGate?(gate: JsonObject, editable?: CallBounds): Promise<{ outcome: string; output: Json }>
  /** Describes the inputs of a workflow that the node names, with the rights of the person the execution acts for. */
  describeWorkflow?(workflowId: string): Promise<WorkflowDescription>
  /**
   * Runs a workflow that the definition of the node names, once for each `key`, and returns how it ended. Throws
   * `Suspended` while the workflow runs.
   */
  runWorkflow?(key: string, wanted: { workflow_id: string; input: JsonObject }): Promise<WorkflowEnd>
}

/**
 * Returns the call with other fields, for a node that runs another one as its tool. A copy made with `...` would lack
 * what a call computes only when it is read.
 */
export const callWith = (call: NodeCall, changes: Partial<NodeCall>): NodeCall =>
  Object.create(call, Object.getOwnPropertyDescriptors(changes)) as NodeCall

export type WorkflowDescription = { name: string; description: string | null; inputs: Json }
export type WorkflowEnd = { results: Json; error: ExecutionError | null }

export type NodeResult = { output: Json; port?: string; usage?: JsonObject }

/**
 * Thrown by a node, and becomes the node's error. `retryable: false` means that the failure is permanent: it is
 * retried only if the policy names its code. `nothingDone` allows a retry even for a node with the effect
 * `at_most_once`. `retryAfterS` is the number of seconds that the target asked to wait.
 */
export class NodeFailure extends Error {
  readonly code: string
  readonly details: Json | undefined
  readonly retryable: boolean
  readonly nothingDone: boolean
  readonly retryAfterS: number | undefined

  constructor(
    code: string,
    message: string,
    options: {
      details?: Json | undefined
      retryable?: boolean
      nothingDone?: boolean
      retryAfterS?: number | undefined
    } = {},
  ) {
    // The message may quote any text of another server, and it is stored in more places than the journal.
    super(toStorableText(message))
    this.code = code
    this.details = options.details
    this.retryable = options.retryable ?? true
    this.nothingDone = options.nothingDone ?? false
    this.retryAfterS = options.retryAfterS
  }
}

/** What a suspended node waits for. The ids are in their public form. */
export type SuspendedOn =
  | { kind: 'approval'; data: JsonObject; dueAt: number | null }
  | { kind: 'execution'; execution_id: string }

/**
 * Thrown by a node that cannot continue until a gate is resolved or another execution ends. It is not a failure: the
 * node waits and then runs again as the same attempt, with its journalled steps.
 */
export class Suspended extends Error {
  readonly on: SuspendedOn

  constructor(on: SuspendedOn) {
    super('the node waits')
    this.on = on
  }
}

/**
 * Thrown by a node with the effect `at_most_once`, around an error that occurred before its effect. A fault of the
 * platform is then retried instead of leaving the outcome unknown.
 */
export class NotStarted extends Error {
  constructor(cause: unknown) {
    super('the effect was not begun', { cause })
  }
}

/** A node kind that the worker runs outside the interpreter. Each has its own file in `nodes/`. */
export type NodeKind = {
  descriptor: NodeDescriptor
  /**
   * Returns the effect if the arguments determine it. These arguments are literals, so the effect is known before the
   * node runs.
   */
  effectOf?(args: JsonObject): Effect
  run(call: NodeCall): Promise<NodeResult>
  /** Returns the reason why the kind cannot be used in this installation (a provider is not configured), or null. */
  unavailable?(): string | null
  /** Returns the reason why workspaces without their own credentials cannot use the kind. The registry shows it. */
  unavailableByDefault?(): string | null
}
