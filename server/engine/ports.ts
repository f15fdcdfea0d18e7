import type { Definition, ExecutionError, ExecutionStatus, Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Blobs } from '#providers/blobs/index'
import type { CallBounds } from './agents/call-bounds.ts'
import type { FinishedRun } from './finished-run.ts'
import type { Flow } from './flow/rules.ts'
import type { EngineFigures, EngineHealth } from './health.ts'
import type { Initiator } from './initiator.ts'
import type { LogLine, NodeKind, WorkflowDescription } from './node.ts'
import type { ReadNode } from './node-view.ts'
import type { TriggerKind } from './trigger-kind.ts'
import type { ExecutionEvent, ExecutionView } from './views.ts'

// The engine knows no area. `EnginePorts` is what the engine needs from the areas, and app.ts connects them. `Engine`
// is what the engine offers. Ids are UUIDs here. They become TypeIDs only in the `data` of journal events, which
// users and sockets see.

/**
 * The reference to a definition: `version:<uuid>`, `system:<slug>`, `adhoc:<uuid>` or `trial:<uuid>`. A reference
 * always names the same definition.
 */
export type DefinitionRef = string

/** What to execute, as resolved at the time of the start by the area that owns the workflow. */
export type StartTarget = {
  definitionRef: DefinitionRef
  workflowId: string | null
  versionId: string | null
  systemSlug?: string | null
  /** The workflow's `settings.timeout_s`. */
  timeoutS?: number | null
  /**
   * Rules in the workflow's settings that decide when the execution starts. They are exact across all workers. Null
   * if there are none.
   */
  flow?: Flow | null
  /**
   * The person the execution acts for: the one who activated the version. Derived from the version if it is not
   * stored.
   */
  principalId?: string | null
}

/** The labels by which a caller finds and orders executions. */
export type StartLabels = {
  /** −10 to 10. A higher priority goes first. */
  priority?: number | undefined
  tags?: string[] | undefined
  metadata?: JsonObject | undefined
  /** The scheduled time for which the execution was started. */
  scheduledAt?: Date | undefined
  scheduleId?: string | undefined
  /** The trace of the caller, if executions are traced. */
  traceparent?: string | undefined
}

export type Start = StartTarget & {
  /** Generated if absent. A start that is sent twice with the same id is one execution. */
  executionId?: string
  workspaceId: string
  input: Json
  trigger: { kind: TriggerKind; id: string | null }
  /** The person who started the execution, if a person did. */
  startedBy: string | null
  /** The people and things that led to the execution, nearest first. If absent, the person who started it. */
  initiatedBy?: Initiator[]
  idempotency?: { credentialHash: Buffer; keyHash: Buffer; bodySha256: Buffer }
  /** Calls `ended` for this execution even if it succeeds. For every other end, `ended` is always called. */
  tellEnd?: boolean
  labels?: StartLabels | undefined
  /**
   * The start time, or the number of seconds to wait after the request. The execution starts at once if the time has
   * passed.
   */
  startAt?: Date | undefined
  startInS?: number | undefined
  /** Replaces the key of the concurrency setting. */
  concurrencyKey?: string | undefined
}

/**
 * `replayed`: the idempotency key was used before with the same body, and the response describes the execution of
 * that start.
 */
export type Started = { executionId: string; status: ExecutionStatus; replayed: boolean }

export type { BlobRef } from './blob-ref.ts'
export type { Initiator } from './initiator.ts'
export type { TriggerKind } from './trigger-kind.ts'
export type { ExecutionEvent, ExecutionEventType, ExecutionView, NodeUsage, NodeView, WaitingFor } from './views.ts'

/**
 * A message to a waiting execution. `nodePath` is the path given when the gate or question was opened. `data` is
 * journalled as the data of the event, and users see it (ids in their public form).
 */
export type Signal =
  | { type: 'approval.voted'; nodePath: string; data: JsonObject }
  /** A user edited the tool call of the gate. A new gate replaces the gate. */
  | { type: 'approval.edited'; nodePath: string; data: JsonObject }
  | { type: 'approval.resolved'; nodePath: string; outcome: 'approved' | 'rejected'; output: Json; data: JsonObject }
  | { type: 'clarification.answered'; nodePath: string; answer: Json; data: JsonObject }
  /** The event arrived, or the wait ended without an event and the node continues. */
  | { type: 'event.received'; nodePath: string; output: Json; data: JsonObject }
  /** A question or gate ended without an answer (`on_due: fail`, or no voter is left). */
  | { type: 'node.failed'; nodePath: string; error: { code: string; message: string; details?: Json } }
  | {
      type: 'cancel'
      by: string | null
      reason?: string
      /** A rule of the workflow cancels the execution. `other` is the execution that replaces it. */
      rule?: { code: 'duplicate' | 'debounced' | 'skipped' | 'replaced'; message: string; other: string | null }
    }
  | ({ type: 'child.ended'; nodePath: string; childId: string } & ChildEnd)
  /** What the node waits for may have ended or may no longer exist. The node requests it again. */
  | { type: 'check'; nodePath: string }
  /**
   * The worker that owned the execution in this epoch recorded at most the start of this node, and did not start its
   * effect.
   */
  | { type: 'not_begun'; nodePath: string; attempt: number; epoch: number }

/** How a sub-workflow ended. `isPermanent`: the same execution would fail in the same way. */
export type ChildEnd = { results: Json; error: ExecutionError | null; isPermanent?: boolean }

/** How a gate or question ended. */
export type Settled = Extract<
  Signal,
  { type: 'approval.resolved' | 'clarification.answered' | 'event.received' | 'node.failed' }
>

export type ReleaseOutcome = 'accepted' | 'not_poison' | 'unknown'

export type SignalOutcome = 'accepted' | 'duplicate' | 'ended' | 'unknown'

export type Retry = {
  workspaceId: string
  executionId: string
  from: 'start' | 'failed' | (string & {})
  /** The version to use. If absent, the version of the retried execution. */
  target?: StartTarget
  /** The rules of the workflow, if the retry keeps its version. */
  flow?: Flow | null
  /** The id of the new execution. Generated if absent. */
  retryId?: string
  startedBy: string | null
  trigger: { kind: TriggerKind; id: string | null }
  idempotency?: Start['idempotency']
}

export type EngineCounts = {
  /** The number of repaired inconsistencies between executions and what they wait for. */
  mended: number
  /** The number of platform faults (database, storage, load) that executions met and that were retried. */
  platform_errors: { database: number; storage: number; load: number }
  /** The number of executions that ended in this worker, by status. */
  ended: Record<'succeeded' | 'failed' | 'cancelled' | 'timed_out', number>
}

export const noCounts = (): EngineCounts => ({
  mended: 0,
  platform_errors: { database: 0, storage: 0, load: 0 },
  ended: { succeeded: 0, failed: 0, cancelled: 0, timed_out: 0 },
})

/** The functions that the engine offers. */
export type Engine = {
  /**
   * The start is durable when the promise resolves. Throws `overloaded` (this process) or `queue_full` (the
   * workspace).
   */
  start(start: Start): Promise<Started>
  startMany(starts: Start[]): Promise<Started[]>
  /**
   * Returns the execution that was started with this key within the last day. Throws `idempotency_key_reused` if the
   * body differs.
   */
  startedBefore(workspaceId: string, key: NonNullable<Start['idempotency']>): Promise<Started | undefined>
  /**
   * Sends a message in the transaction of the caller. Idempotent by `key`. The execution continues after the commit.
   */
  signal(tx: Tx, to: { workspaceId: string; executionId: string; key: string }, signal: Signal): Promise<SignalOutcome>
  /** As `signal`, if the outcome is not needed: the message is sent with the commit. */
  send(
    tx: Tx,
    to: { workspaceId: string; executionId: string; key: string },
    signal: Signal,
    /**
     * `isLast`: this is the last message of the transaction, and all its messages go to one execution. If that
     * execution is parked in this process, it continues at once.
     */
    options?: { isLast: boolean },
  ): void
  cancel(tx: Tx, to: { workspaceId: string; executionId: string }, by: string | null): Promise<SignalOutcome>
  /** Lets a poisoned execution run again, on request of an operator. */
  release(tx: Tx, to: { workspaceId: string; executionId: string }): Promise<ReleaseOutcome>
  /** Starts a new execution linked by `retry_of`. Settled nodes upstream of the restart point keep their results. */
  retry(retry: Retry): Promise<Started>
  /** Returns the execution when it has ended, or its current view after `ms` milliseconds. */
  waitFor(
    workspaceId: string,
    executionId: string,
    ms: number,
    signal?: AbortSignal,
  ): Promise<ExecutionView | undefined>
  readExecution(workspaceId: string, executionId: string): Promise<ExecutionView | undefined>
  /** Returns the input of an execution as JSON text, however large it is. */
  readInput(workspaceId: string, executionId: string): Promise<string | undefined>
  /** Returns only the status. Undefined if there is no such execution. */
  statusOf(workspaceId: string, executionId: string): Promise<ExecutionStatus | undefined>
  /**
   * Returns one node: its arguments, each attempt, and a page of its items or iterations. Undefined if there is no
   * such node.
   */
  readNode: ReadNode
  readEvents(workspaceId: string, executionId: string, after: number, limit: number): Promise<ExecutionEvent[]>
  /**
   * The listener is called with the ids soon after events were journalled by this or another process. It is a hint
   * for sockets.
   */
  onAppended(listener: (executionIds: string[], here: boolean) => void): () => void
  /** The listener is called with executions whose end this process has journalled, with any status. */
  onEnded(listener: (ends: { executionId: string; status: ExecutionStatus }[]) => void): () => void
  health(): Promise<EngineHealth>
  figures(): Promise<EngineFigures>
  /** Returns the counters of this process since it started. */
  counts(): EngineCounts
  /** Checks whether the worker of this process is working. Always true if the process has no worker. */
  ready(): boolean
  /**
   * The worker of this process parks or releases all executions and claims no more. Executions that are started here
   * are queued.
   */
  retire(): Promise<void>
  /** Parks or releases all executions and stops claiming, within 10 s. */
  stop(): Promise<void>
}

/** A wait of an execution for people, from the `approval` or `clarification` node. */
export type WaitRequest = {
  workspaceId: string
  executionId: string
  workflowId: string | null
  versionId: string | null
  nodePath: string
  nodeId: string
  /** 1 for the first attempt of the node. */
  attempt: number
  /** The resolved arguments of the node. */
  args: JsonObject
  /** Set if the payload is a tool call: the bounds within which voters may edit its arguments. */
  editable?: CallBounds
  startedBy: string | null
  /** The people and things that led to the execution, nearest first. */
  initiatedBy: Initiator[]
  input: Json
}

/**
 * `data` is journalled with `approval.opened` or `clarification.asked`, and shown in `waiting_for`. `settled`: the
 * request was opened before and has ended. The engine continues with this result, whether or not the message about it
 * was read.
 */
export type Opened = { data: JsonObject; dueAt?: Date | null; settled?: Settled }

export type EndedExecution = {
  workspaceId: string
  executionId: string
  workflowId: string | null
  versionId: string | null
  systemSlug: string | null
  status: 'succeeded' | 'failed' | 'cancelled' | 'timed_out'
  results: Json
  error: ExecutionError | null
  trigger: { kind: TriggerKind; id: string | null }
  startedBy: string | null
  initiatedBy: Initiator[]
  principalId: string | null
  finishedAt: Date
}

/** The functions that the engine needs from the areas. */
export type EnginePorts = {
  /** The engine may cache the result without limit: a reference always names the same definition. */
  loadDefinition(workspaceId: string, ref: DefinitionRef): Promise<Definition>
  /**
   * Resolves the version to run for a `subworkflow` node of `executionId`, and checks the input against its `inputs`.
   * Throws `NodeFailure`. `workflow_id` and `version_id` are as the author wrote them (public ids or a system slug).
   */
  resolveWorkflow(
    workspaceId: string,
    wanted: { workflow_id: string; version_id?: string; input: Json; executionId: string },
  ): Promise<StartTarget>
  /** Describes the inputs of a workflow for a node of `executionId` that may run it. Throws `NodeFailure`. */
  describeWorkflow(
    workspaceId: string,
    wanted: { workflow_id: string; executionId: string },
  ): Promise<WorkflowDescription>
  /** Returns the variables of the workspace: those with these names, or all. */
  readVariables(workspaceId: string, names: string[] | null): Promise<JsonObject>
  /** Returns the workflow's `settings.finally_grace_s` or the default, in seconds. */
  finallyGrace(workspaceId: string, workflowId: string | null): Promise<number>
  /** Idempotent by (executionId, nodePath): called again after a crash, it returns the same gate. */
  openGate(wait: WaitRequest): Promise<Opened>
  askQuestion(wait: WaitRequest): Promise<Opened>
  /** For `wait.event`. Idempotent in the same way. */
  awaitEvent(wait: WaitRequest): Promise<Opened>
  /** Returns the `traceparent` for requests of this node. Absent if executions are not traced. */
  traceOf?(run: { executionId: string; traceparent: string | null; nodePath: string }): string
  /**
   * Stores lines that a node wrote to the log of its execution. Lines with the same `key` are stored once. Never
   * throws.
   */
  keepLog?(
    at: { workspaceId: string; executionId: string; nodePath: string },
    key: string,
    lines: LogLine[],
  ): Promise<void>
  /** Returns the URL at which a caller answers a `wait.event` node. It is always the same for the same node. */
  callbackUrl(of: { workspaceId: string; executionId: string; nodePath: string }): string
  /**
   * Called when `dueAt` of the wait has passed on the database clock. The area replies with a signal, or returns a
   * later `dueAt` (escalation).
   */
  due(wait: {
    workspaceId: string
    executionId: string
    nodePath: string
    kind: 'approval' | 'clarification' | 'event'
  }): Promise<{
    dueAt: Date | null
  }>
  /**
   * The node at `path` ended without an answer (it exceeded its timeout) and the execution continues, so its gate or
   * question is void. A path that ends with `[` or `.` includes everything below it, in a map or in one of its items.
   */
  closeAbandoned(wait: { workspaceId: string; executionId: string; path: string }): Promise<void>
  /**
   * Called after every end except success, and after success if `tellEnd` was set or a gate or question was opened.
   * Closes what is still open, starts the error workflow and notifies the owners. It is called at least once, so it
   * must be idempotent by execution id.
   */
  ended(execution: EndedExecution): Promise<void>
  /**
   * Called once for every execution that ends in this process, for statistics. Calls are lost with the process. It
   * must not throw or block.
   */
  finished?(run: FinishedRun): void
  blobs: Blobs
  nodes: Record<string, NodeKind>
}
