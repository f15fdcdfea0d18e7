import type { ExecutionStatus, JsonObject } from '#model/definition'
import type { Logger } from '#platform/log'
import type { Command } from '../interpreter/commands.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import type { OutputSize } from '../interpreter/output-size.ts'
import type { ResumedCommand } from '../interpreter/resume-command.ts'
import type { JournalEvent } from '../interpreter/state.ts'
import type { ItemRow, RowUpdate, StartRow } from '../journal/batch.ts'
import type { Journal } from '../journal/journal.ts'
import type { BlobRef } from '../ports.ts'
import type { Abortable } from './abort.ts'
import type { Frame } from './frame.ts'
import type { InboxMessage, Owned } from './owned.ts'
import type { Turns } from './turns.ts'

export type LeaveReason = 'ended' | 'parked' | 'released' | 'abandoned'

export type NodeAttempt = { nodePath: string; attempt: number }

export type LiveDeps = {
  journal: Journal
  clock(): number
  log: Logger
  /** Executes a command. Its result is posted back. */
  executeCommand(live: Live, frame: Frame, command: Command): void
  readInbox(live: Live, after: number): Promise<InboxMessage[]>
  /** Called when the execution has left memory: ended, parked, released or abandoned. */
  onLeft(live: Live, how: LeaveReason): void
  /** Called when the execution progressed after a takeover, so it is not what killed its workers. */
  onProgress(live: Live): void
  /** Called when this worker can no longer write the journal. */
  onJournalLost(error: Error): void
  /** Reports nodes whose start may be recorded, but whose `at_most_once` effects were not started. */
  reportNotStarted(live: Live, nodes: NodeAttempt[]): void
  /**
   * Stores a large value in the blob store. If `node` is given (empty: the execution itself), it is retried for as
   * long as it takes. A value that is not large is stored only with `always`.
   */
  offload(live: Live, value: unknown, node: string | undefined, always: boolean): Promise<BlobRef | undefined>
  turns: Turns
  onAppended(executionId: string, ended?: ExecutionStatus): void
}

export type Work = {
  at: number
  events: JournalEvent[]
  /** By frame prefix, so that an item that advances twice in one append is written once, with its last state. */
  items: Map<string, ItemRow>
  commands: { frame: Frame; command: Command }[]
  done: ((durable: boolean) => void)[]
  /** Frames whose passes wait for the next slice. */
  unfinished: Set<Frame>
  /** Outputs that are stored in the blob store before this work is journalled. */
  large: { frame: Frame; node: string }[]
  /** The number of items and iterations that were started with this work. */
  begun: number
  rowUpdate?: RowUpdate
}

/** `isEarly`: it may be applied while an append is being written. */
export type Mail = { apply(work: Work): void; isEarly: boolean }

export type Live = {
  readonly owned: Owned
  readonly top: Frame
  readonly frames: Map<string, Frame>
  /**
   * Running maps and loops. They are called after every advance, because one of their items or iterations may have
   * settled.
   */
  readonly maps: Set<(work: Work) => boolean>
  /** Running effects, by node path. */
  readonly effects: Map<string, Abortable>
  /** Resolves to true when the results are durable, or to false if this worker no longer owns the execution. */
  post(thunk: (work: Work) => void): Promise<boolean>
  send(frame: Frame, message: GraphMessage): Promise<boolean>
  /** As `send`, for a caller that does not need to know when the result is durable. */
  sendUnawaited(frame: Frame, message: GraphMessage): void
  step(work: Work, frame: Frame, messages: GraphMessage[]): void
  open(work: Work, frame: Frame): void
  /** Returns the commands of an item that was read back, computed in slices. */
  resume(frame: Frame): Promise<ResumedCommand[]>
  /** Charges steps that were computed for the execution outside the interpreter. */
  charge(steps: number): void
  /** Counts running effects. `then` is called when an effect has ended. */
  busy(delta: 1 | -1, then?: () => void): void
  begin(start?: StartRow): Promise<{ started: boolean }>
  checkInbox(): void
  /** When the promise resolves, every message sent before this call is delivered. */
  readInbox(): Promise<void>
  /** Messages to item frames must wait while the frames are being read back. */
  restoring(delta: 1 | -1): void
  /**
   * Waits. Returns false, immediately, if the execution is no longer on this worker, is being released, or is being stopped
   * (unless `evenWhenStopped`).
   */
  pause(ms: number, evenWhenStopped: boolean): Promise<boolean>
  /** Checks whether the execution is to go back to the queue. */
  isReleasing(): boolean
  /** Checks whether the execution is no longer on this worker. */
  isGone(): boolean
  /** Returns the size of the other graphs of the execution. */
  otherGraphsSize(frame: Frame): OutputSize
  /** Checks whether the previous worker reported that it did not start the effect. */
  wasNotStarted(node: NodeAttempt): boolean
  /** Writes nothing more and removes the execution from memory. The journal is complete. */
  abandon(): void
  /** Releases the execution to the queue as soon as nothing runs. */
  release(): void
}

/** The shared state of the parts of a live execution. Other code uses `Live`. */
export type Self = {
  readonly deps: LiveDeps
  readonly owned: Owned
  readonly top: Frame
  readonly frames: Map<string, Frame>
  readonly maps: Set<(work: Work) => boolean>
  readonly effects: Map<string, Abortable>
  mailbox: Mail[]
  waiters: ((durable: boolean) => void)[]
  committing: boolean
  /** An append is being written that the execution does not have to wait for in memory. */
  appending: boolean
  /** What was computed during the present append. */
  ahead: Work | undefined
  gone: boolean
  /** The number of running effects. */
  inFlight: number
  /** The last message that was processed, and the last one that was read. */
  seen: number
  read: number
  reading: Promise<void> | undefined
  /** Messages that were read but not processed, in order, starting with the first one whose node does not wait yet. */
  held: InboxMessage[]
  restoring: number
  snapshotSeq: number
  timer: NodeJS.Timeout | undefined
  cancel: { n: number; data: JsonObject; timer: NodeJS.Timeout } | undefined
  /** The execution was cancelled before any of its nodes started. */
  cancelledBeforeStart: boolean
  releasing: boolean
  /** Ends each running pause, so that a paused loop checks whether it is still needed. */
  readonly pauses: Set<() => void>
  now(): number
  /** Schedules processing of the mailbox, unless it is already scheduled. */
  schedule(): void
  leave(how: LeaveReason): void
  live: Live
}
