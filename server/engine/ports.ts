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

// The engine knows no area. What it needs of them is `EnginePorts`, connected by app.ts; what it offers is `Engine`.
// Ids are uuids here; they become TypeIDs only inside the `data` of journal events, which people and sockets see.

/** Where a definition stands: `version:<uuid>`, `system:<slug>`, `adhoc:<uuid>` or `trial:<uuid>`. What it names never changes. */
export type DefinitionRef = string

/** What to execute, as the area that owns the workflow resolved it at the moment of the start. */
export type StartTarget = {
  definitionRef: DefinitionRef
  workflowId: string | null
  versionId: string | null
  systemSlug?: string | null
  /** The workflow's `settings.timeout_s`. */
  timeoutS?: number | null
  /** Rules in the workflow's settings that decide when it begins: exact over all workers. Null where it has none. */
  flow?: Flow | null
  /** In whose name it acts: who activated the version. Derived from the version where it is not stored. */
  principalId?: string | null
}

/** What a caller gives an execution to be found and ordered by. */
export type StartLabels = {
  /** −10 to 10; a higher one goes first. */
  priority?: number | undefined
  tags?: string[] | undefined
  metadata?: JsonObject | undefined
  /** The time of the schedule that it runs for. */
  scheduledAt?: Date | undefined
  scheduleId?: string | undefined
  /** The trace of the caller that it belongs to, where runs are traced. */
  traceparent?: string | undefined
}

export type Start = StartTarget & {
  /** Minted when absent; a start sent twice with the same id is one execution. */
  executionId?: string
  workspaceId: string
  input: Json
  trigger: { kind: TriggerKind; id: string | null }
  /** The person who started it, if a person did. */
  startedBy: string | null
  /** Who and what led to it, nearest first; the person who started it where absent. */
  initiatedBy?: Initiator[]
  idempotency?: { credentialHash: Buffer; keyHash: Buffer; bodySha256: Buffer }
  /** `ended` is called for this execution even when it succeeds (it always is for any other end). */
  tellEnd?: boolean
  labels?: StartLabels | undefined
  /** It begins then, or this number of seconds after it was asked for; at once where that has passed. */
  startAt?: Date | undefined
  startInS?: number | undefined
  /** Stands in for the key of the concurrency setting. */
  concurrencyKey?: string | undefined
}

/** `replayed`: the idempotency key was used before with the same body; the answer is rendered from this execution id. */
export type Started = { executionId: string; status: ExecutionStatus; replayed: boolean }

export type { BlobRef } from './blob-ref.ts'
export type { Initiator } from './initiator.ts'
export type { TriggerKind } from './trigger-kind.ts'
export type { ExecutionEvent, ExecutionEventType, ExecutionView, NodeUsage, NodeView, WaitingFor } from './views.ts'

/**
 * What the outside tells a waiting execution. `nodePath` is the one given when the gate or question was opened.
 * `data` is journalled as the event's data and seen by people (ids in wire form).
 */
export type Signal =
  | { type: 'approval.voted'; nodePath: string; data: JsonObject }
  /** Somebody edited the call that the gate asks about: another gate stands in its place. */
  | { type: 'approval.edited'; nodePath: string; data: JsonObject }
  | { type: 'approval.resolved'; nodePath: string; outcome: 'approved' | 'rejected'; output: Json; data: JsonObject }
  | { type: 'clarification.answered'; nodePath: string; answer: Json; data: JsonObject }
  /** An event came, or nobody waits for it any longer and the node goes on without one. */
  | { type: 'event.received'; nodePath: string; output: Json; data: JsonObject }
  /** A question or gate that ended without an answer (`on_due: fail`, nobody left who could vote). */
  | { type: 'node.failed'; nodePath: string; error: { code: string; message: string; details?: Json } }
  | {
      type: 'cancel'
      by: string | null
      reason?: string
      /** A rule of the workflow sends it away; `other` is the execution that stands in its place. */
      rule?: { code: 'duplicate' | 'debounced' | 'skipped' | 'replaced'; message: string; other: string | null }
    }
  | ({ type: 'child.ended'; nodePath: string; childId: string } & ChildEnd)
  /** What the node waits for may be over, or gone: it is asked for again. */
  | { type: 'check'; nodePath: string }
  /** The worker that owned the execution at this epoch recorded the start of this node, at most, and did not begin its effect. */
  | { type: 'not_begun'; nodePath: string; attempt: number; epoch: number }

/** How a sub-workflow ended. `isPermanent`: the same run would fail in the same way. */
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
  /** The version to use: that of the retried execution when absent. */
  target?: StartTarget
  /** The rules of its workflow, where it keeps its version. */
  flow?: Flow | null
  /** The id of the new execution; minted when absent. */
  retryId?: string
  startedBy: string | null
  trigger: { kind: TriggerKind; id: string | null }
  idempotency?: Start['idempotency']
}

export type EngineCounts = {
  /** Disagreements between executions and what they wait for that were mended. */
  mended: number
  /** Errors of the service itself (its database, its storage, its load) that executions met and that were tried again. */
  platform_errors: { database: number; storage: number; load: number }
}

/** What the engine offers. */
export type Engine = {
  /** Durable when it resolves. Refuses with `overloaded` (this process) or `queue_full` (the workspace). */
  start(start: Start): Promise<Started>
  startMany(starts: Start[]): Promise<Started[]>
  /** What a start with this key began within a day; `idempotency_key_reused` where the body is another. */
  startedBefore(workspaceId: string, key: NonNullable<Start['idempotency']>): Promise<Started | undefined>
  /**
   * In the caller's own transaction; idempotent by `key`. Once that is committed, the execution goes on.
   */
  signal(tx: Tx, to: { workspaceId: string; executionId: string; key: string }, signal: Signal): Promise<SignalOutcome>
  /** Likewise, where nobody needs to know what became of it: it travels with the commit. */
  send(
    tx: Tx,
    to: { workspaceId: string; executionId: string; key: string },
    signal: Signal,
    /** It is the last message of this transaction, and to one execution alone: where the execution was parked here it goes on at once. */
    options?: { isLast: boolean },
  ): void
  cancel(tx: Tx, to: { workspaceId: string; executionId: string }, by: string | null): Promise<SignalOutcome>
  /** An operator lets a poison execution run again. */
  release(tx: Tx, to: { workspaceId: string; executionId: string }): Promise<ReleaseOutcome>
  /** A new execution linked by `retry_of`; settled nodes upstream of the restart point keep their results. */
  retry(retry: Retry): Promise<Started>
  /** The execution once it has ended, or its present view after `ms`. */
  waitFor(
    workspaceId: string,
    executionId: string,
    ms: number,
    signal?: AbortSignal,
  ): Promise<ExecutionView | undefined>
  readExecution(workspaceId: string, executionId: string): Promise<ExecutionView | undefined>
  /** The input of an execution as JSON text, however large it is. */
  readInput(workspaceId: string, executionId: string): Promise<string | undefined>
  /** No more than its status; undefined where there is no such execution. */
  statusOf(workspaceId: string, executionId: string): Promise<ExecutionStatus | undefined>
  /** One node: its arguments, each attempt, and a page of its items or turns. Undefined where there is no such node. */
  readNode: ReadNode
  readEvents(workspaceId: string, executionId: string, after: number, limit: number): Promise<ExecutionEvent[]>
  /** Called (with the ids it concerns) soon after events were journalled here or elsewhere; a hint for sockets. */
  onAppended(listener: (executionIds: string[], here: boolean) => void): () => void
  /** Called with executions whose end this process has journalled, however they ended. */
  onEnded(listener: (ends: { executionId: string; status: ExecutionStatus }[]) => void): () => void
  health(): Promise<EngineHealth>
  figures(): Promise<EngineFigures>
  /** What this process has counted since it started. */
  counts(): EngineCounts
  /** Whether the worker of this process does its work; always, where it has none. */
  ready(): boolean
  /** The worker of this process parks or releases everything and claims nothing more; what is started here is queued. */
  retire(): Promise<void>
  /** Parks or releases everything and stops claiming, within 10 s. */
  stop(): Promise<void>
}

/** One wait of an execution on people, from the `approval` or `clarification` node. */
export type PeopleWait = {
  workspaceId: string
  executionId: string
  workflowId: string | null
  versionId: string | null
  nodePath: string
  nodeId: string
  /** The node's arguments, resolved. */
  args: JsonObject
  /** The payload is a call of a tool: within what people who vote may edit its arguments. */
  editable?: CallBounds
  startedBy: string | null
  /** Who and what led to the execution, nearest first. */
  initiatedBy: Initiator[]
  input: Json
}

/**
 * `data` is journalled with `approval.opened` / `clarification.asked` and shown in `waiting_for`. `settled`: it was opened
 * before and is over; the engine goes on with that, whether or not the message that said so was read.
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

/** What the engine needs of the areas. */
export type EnginePorts = {
  /** Cached by the engine for as long as it likes: what a reference names never changes. */
  loadDefinition(workspaceId: string, ref: DefinitionRef): Promise<Definition>
  /**
   * For `subworkflow` of `executionId`: which version to run, the input checked against its `inputs`. Throws `NodeFailure`.
   * `workflow_id` and `version_id` come as the author wrote them (wire ids or a system slug).
   */
  resolveWorkflow(
    workspaceId: string,
    wanted: { workflow_id: string; version_id?: string; input: Json; executionId: string },
  ): Promise<StartTarget>
  /** What a workflow takes, for a node of `executionId` that may run it. Throws `NodeFailure`. */
  describeWorkflow(
    workspaceId: string,
    wanted: { workflow_id: string; executionId: string },
  ): Promise<WorkflowDescription>
  /** The variables of the workspace: those of these names, or all. */
  readVariables(workspaceId: string, names: string[] | null): Promise<JsonObject>
  /** The workflow's `settings.finally_grace_s` or its default, in seconds. */
  finallyGrace(workspaceId: string, workflowId: string | null): Promise<number>
  /** Idempotent by (executionId, nodePath): called again after a crash, it answers with the same gate. */
  openGate(wait: PeopleWait): Promise<Opened>
  askQuestion(wait: PeopleWait): Promise<Opened>
  /** For `wait.event`; likewise. */
  awaitEvent(wait: PeopleWait): Promise<Opened>
  /** What a request of this node carries as `traceparent`; absent where runs are not traced. */
  traceOf?(run: { executionId: string; traceparent: string | null; nodePath: string }): string
  /** Lines that a node wrote to the log of its run. Written twice under the same `key`, they are there once. Never throws. */
  keepLog?(
    at: { workspaceId: string; executionId: string; nodePath: string },
    key: string,
    lines: LogLine[],
  ): Promise<void>
  /** Where the outside answers a `wait.event` node; the same whenever it is asked. */
  callbackUrl(of: { workspaceId: string; executionId: string; nodePath: string }): string
  /**
   * The wait's `dueAt` has passed on the database's clock. What follows comes back as a signal; or it is given more
   * time (escalation).
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
   * The node at `path` ended without what it had asked (it took too long), and the execution goes on: its gate or question is
   * void. A path that ends with `[` or `.` stands for everything below it, in a map or in one of its items.
   */
  overtaken(wait: { workspaceId: string; executionId: string; path: string }): Promise<void>
  /**
   * After any end but success, and after success where `tellEnd` was asked or a gate or question was opened: close
   * what is still open, start the error workflow, tell the owners. At least once, so idempotent by execution id.
   */
  ended(execution: EndedExecution): Promise<void>
  /** Once for every run that ends here, for figures; lost with the process. It must not throw, nor take any time. */
  finished?(run: FinishedRun): void
  blobs: Blobs
  nodes: Record<string, NodeKind>
}
