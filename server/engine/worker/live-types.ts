import type { ExecutionStatus, JsonObject } from '#model/definition'
import type { Logger } from '#platform/log'
import type { Resumed } from '../interpreter/again.ts'
import type { Command } from '../interpreter/commands.ts'
import type { Happening } from '../interpreter/happening.ts'
import type { Held } from '../interpreter/held.ts'
import type { Fact } from '../interpreter/state.ts'
import type { ItemRow, Move, StartRow } from '../journal/batch.ts'
import type { Journal } from '../journal/journal.ts'
import type { BlobRef } from '../ports.ts'
import type { Abortable } from './abort.ts'
import type { Frame } from './frame.ts'
import type { InboxMessage, Owned } from './owned.ts'
import type { Turns } from './turns.ts'

export type Leaving = 'ended' | 'parked' | 'released' | 'abandoned'

export type NodeAttempt = { nodePath: string; attempt: number }

export type LiveDeps = {
  journal: Journal
  clock(): number
  log: Logger
  /** Carries out a command; what comes of it is posted back. */
  carryOut(live: Live, frame: Frame, command: Command): void
  readInbox(live: Live, after: number): Promise<InboxMessage[]>
  /** It is out of memory: ended, parked, released or given up. */
  left(live: Live, how: Leaving): void
  /** It went further since it was taken over: it is not what ended its workers. */
  cleared(live: Live): void
  /** The journal cannot be written by this worker any more. */
  lost(error: Error): void
  /** Their starts may be recorded, and their effects, which may happen at most once, were not begun. */
  notBegun(live: Live, nodes: NodeAttempt[]): void
  /**
   * For as long as it takes where the node is given whose value it is (empty: the execution's own). What is not large stays where
   * it is, unless it is not to.
   */
  offload(live: Live, value: unknown, node: string | undefined, always: boolean): Promise<BlobRef | undefined>
  turns: Turns
  appended(executionId: string, ended?: ExecutionStatus): void
}

export type Work = {
  at: number
  facts: Fact[]
  /** By the prefix of their frames: an item that advances twice in one append is written once, as it then stands. */
  items: Map<string, ItemRow>
  commands: { frame: Frame; command: Command }[]
  done: ((durable: boolean) => void)[]
  /** Frames whose passes wait for their turn to compute. */
  unfinished: Set<Frame>
  /** Outputs that go to the blob store before any of this is journalled. */
  large: { frame: Frame; node: string }[]
  /** Items of maps and turns of loops begun with it. */
  begun: number
  move?: Move
}

export type Live = {
  readonly owned: Owned
  readonly top: Frame
  readonly frames: Map<string, Frame>
  /** Maps and loops under way, looked at after every advance: an item or turn of theirs may have settled. */
  readonly maps: Set<(work: Work) => boolean>
  /** Effects under way by node path. */
  readonly effects: Map<string, Abortable>
  /** Resolves when what follows from it is durable (true), or this worker has no more say in the execution (false). */
  post(thunk: (work: Work) => void): Promise<boolean>
  tell(frame: Frame, happening: Happening): Promise<boolean>
  /** The same for a caller that need not know when it is durable. */
  inform(frame: Frame, happening: Happening): void
  step(work: Work, frame: Frame, happenings: Happening[]): void
  open(work: Work, frame: Frame): void
  /** What an item read back was doing, computed in turn with everybody else. */
  resume(frame: Frame): Promise<Resumed[]>
  /** Steps that were computed for it outside the interpreter. */
  charge(steps: number): void
  /** Counts what is under way; `then` follows when it is no longer. */
  busy(delta: 1 | -1, then?: () => void): void
  begin(start?: StartRow): Promise<{ started: boolean }>
  lookAtInbox(): void
  /** Everything that was sent before this call is delivered when it resolves. */
  readInbox(): Promise<void>
  /** While item frames are being read back, messages to them must wait. */
  restoring(delta: 1 | -1): void
  /**
   * Waits. False where the execution has left this worker, is to be given back or (unless that is no matter) to be stopped;
   * then at once.
   */
  pause(ms: number, evenWhenStopped: boolean): Promise<boolean>
  /** It is to go back to the queue. */
  isReleasing(): boolean
  /** It has left this worker. */
  isGone(): boolean
  /** What the other graphs of the execution hold. */
  heldBeside(frame: Frame): Held
  /** Whether the worker before this one said that it did not begin the effect. */
  wasNotBegun(node: NodeAttempt): boolean
  /** Writes nothing more and is forgotten; the journal has all there is. */
  abandon(): void
  /** Goes back to the queue as soon as nothing runs. */
  release(): void
}

/** What the parts of a live execution share. Only they touch it; everybody else sees `Live`. */
export type Self = {
  readonly deps: LiveDeps
  readonly owned: Owned
  readonly top: Frame
  readonly frames: Map<string, Frame>
  readonly maps: Set<(work: Work) => boolean>
  readonly effects: Map<string, Abortable>
  mailbox: ((work: Work) => void)[]
  waiters: ((durable: boolean) => void)[]
  committing: boolean
  gone: boolean
  /** Effects under way. */
  inFlight: number
  /** The last message taken in, and the last one read. */
  seen: number
  read: number
  reading: Promise<void> | undefined
  /** Messages that were read, in their order, from the first one on whose node does not wait yet. */
  held: InboxMessage[]
  restoring: number
  snapshotSeq: number
  timer: NodeJS.Timeout | undefined
  cancel: { n: number; data: JsonObject; timer: NodeJS.Timeout } | undefined
  /** It was cancelled before any of its nodes began. */
  notBegun: boolean
  releasing: boolean
  /** Ends each pause under way, so that a loop that pauses looks whether it is still wanted. */
  readonly pauses: Set<() => void>
  now(): number
  /** Lets the mailbox be looked at, unless that is already on its way. */
  schedule(): void
  leave(how: Leaving): void
  live: Live
}
