import type { ExecutionError, Json, JsonObject } from '#model/definition'
import type { Effect, NodeDescriptor } from '#model/node'
import type { Logger } from '#platform/log'
import type { CallBounds } from './agents/call-bounds.ts'

export type LogLine = { level: 'debug' | 'info' | 'warn' | 'error'; message: string }

/** One attempt of one node, with its arguments already resolved to plain JSON. */
export type NodeCall = {
  workspaceId: string
  workflowId: string | null
  executionId: string
  /** The node's id, prefixed inside a map by `map-node[index].`. */
  nodePath: string
  attempt: number
  args: JsonObject
  /** `execution:node path:item`, the same on every attempt; passed on to providers as their idempotency key. */
  effectKey: string
  /** Whom the execution acts for, as stored when it started; they may have left since. */
  principalId: string | null
  /** The credentials that the node names in the definition itself: no expression can add one. */
  readonly credentialIds: ReadonlySet<string>
  /** The person who started the execution, if a person did. */
  startedBy: string | null
  /** What its requests carry, where runs are traced. */
  traceparent?: string | undefined
  /** The id of what began the execution, as the interface names it: `suite_…`, `whk_…`. */
  triggerId?: string | null
  /** The node's own `timeout_s`: the engine ends the attempt then. */
  timeoutS?: number | undefined
  signal: AbortSignal
  log: Logger
  /**
   * Keeps lines in the log of the run. `key` is the same whenever the same lines are written again, on a retry or after a crash: they
   * are kept once.
   */
  say?(key: string, lines: LogLine[]): Promise<void>
  /** Shown live as `node.progress`; lossy, never needed for correctness. */
  progress(data: Json): void
  /**
   * Does `work` once and journals what it gave before resolving; after a crash the attempt that takes over gets the
   * journalled result instead of doing it again. `name` is unique within the attempt and the same on every attempt.
   */
  step<T extends Json>(name: string, work: () => Promise<T>): Promise<T>
  /**
   * Opens a gate of this node, or finds the one with the same payload. Throws `Suspended` while it is open. With `editable` the payload
   * is a call, whose arguments people may edit within it.
   */
  openGate?(gate: JsonObject, editable?: CallBounds): Promise<{ outcome: string; output: Json }>
  /** What a workflow that the node names takes, for whom the execution acts. */
  describeWorkflow?(workflowId: string): Promise<WorkflowDescription>
  /**
   * Runs a workflow that the definition of the node names, once for each `key`, and gives how it ended. Throws `Suspended` while it
   * runs.
   */
  runWorkflow?(key: string, wanted: { workflow_id: string; input: JsonObject }): Promise<WorkflowEnd>
}

export type WorkflowDescription = { name: string; description: string | null; inputs: Json }
export type WorkflowEnd = { results: Json; error: ExecutionError | null }

export type NodeResult = { output: Json; port?: string; usage?: JsonObject }

/**
 * Thrown by a node: becomes the node's error. `retryable` false calls it permanent: it is tried again only where the policy
 * names its code. `nothingDone` lets even what may happen at most once be tried again. `retryAfterS` is what the target asked
 * to wait.
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
    super(message)
    this.code = code
    this.details = options.details
    this.retryable = options.retryable ?? true
    this.nothingDone = options.nothingDone ?? false
    this.retryAfterS = options.retryAfterS
  }
}

/** What a suspended node waits for; ids as the interface names them. */
export type SuspendedOn =
  | { kind: 'approval'; data: JsonObject; dueAt: number | null }
  | { kind: 'execution'; execution_id: string }

/**
 * Thrown by a node that cannot go on before a gate is resolved or another execution has ended. Nothing failed: the node waits, and
 * then runs again as the same attempt, with the steps that it has journalled.
 */
export class Suspended extends Error {
  readonly on: SuspendedOn

  constructor(on: SuspendedOn) {
    super('the node waits')
    this.on = on
  }
}

/**
 * Thrown by a node that may happen at most once, around what it met before its effect: trouble of the service is then tried
 * again instead of leaving the outcome unknown.
 */
export class NotBegun extends Error {
  constructor(cause: unknown) {
    super('the effect was not begun', { cause })
  }
}

/** A kind the worker runs outside the interpreter: one file in `nodes/` each. */
export type NodeKind = {
  descriptor: NodeDescriptor
  /** Where its arguments decide it; they are literals, so that it is known before the node runs. */
  effectOf?(args: JsonObject): Effect
  run(call: NodeCall): Promise<NodeResult>
  /** Why it cannot be used in this installation (a provider not configured), or null. */
  unavailable?(): string | null
  /** Why it cannot be used by workspaces that bring nothing of their own; shown by the registry. */
  unavailableByDefault?(): string | null
}
