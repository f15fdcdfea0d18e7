import type { ExecutionError, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { advance, begin, type Happening, resume, type Step } from '../interpreter/advance.ts'
import { apply } from '../interpreter/apply.ts'
import type { Command } from '../interpreter/commands.ts'
import { emptyState, type Fact, type GraphState, hasEnded, type NodeState, nextDue } from '../interpreter/state.ts'
import { waitingFor } from '../interpreter/waiting.ts'
import type { Append, ItemRow, Move, StartRow } from '../journal/batch.ts'
import { Fenced, type Journal, Unknown } from '../journal/journal.ts'
import type { BlobRef, Signal, WaitingFor } from '../ports.ts'
import type { Abortable } from './abort.ts'
import { type Frame, splitPath } from './frame.ts'
import type { Owned } from './owned.ts'

// One execution in memory. Whatever happens to it goes through its mailbox; `pump` takes what is there, lets the
// interpreter advance, and hands everything that follows to the journal as one append. What the interpreter commands is
// carried out only when that append is durable. There is one append under way at a time.

export type InboxMessage = { n: number; payload: Signal }

export type LiveDeps = {
  journal: Journal
  clock(): number
  log: Logger
  /** Carries out a command; what comes of it is posted back. */
  carryOut(live: Live, frame: Frame, command: Command): void
  readInbox(live: Live, after: number): Promise<InboxMessage[]>
  /** It is out of memory: ended, parked, released or given up. */
  left(live: Live, how: 'ended' | 'parked' | 'released' | 'abandoned'): void
  /** The journal cannot be written by this worker any more. */
  lost(error: Error): void
  offloadResults(live: Live, results: unknown): Promise<BlobRef | undefined>
  appended(executionId: string): void
}

export type Work = {
  at: number
  facts: Fact[]
  items: ItemRow[]
  commands: { frame: Frame; command: Command }[]
  done: ((durable: boolean) => void)[]
  move?: Move
}

export type Live = {
  readonly owned: Owned
  readonly top: Frame
  readonly frames: Map<string, Frame>
  /** Maps under way, looked at after every advance: an item of theirs may have settled. */
  readonly maps: Set<(work: Work) => boolean>
  /** Effects under way by node path. */
  readonly effects: Map<string, Abortable>
  /** Resolves when what follows from it is durable (true), or this worker has no more say in the execution (false). */
  post(thunk: (work: Work) => void): Promise<boolean>
  tell(frame: Frame, happening: Happening): Promise<boolean>
  /** The same for whoever need not know when it is durable. */
  inform(frame: Frame, happening: Happening): void
  step(work: Work, frame: Frame, happenings: Happening[]): void
  open(work: Work, frame: Frame, step?: Step): void
  /** Counts what is under way; `then` follows when it is no longer. */
  busy(delta: 1 | -1, then?: () => void): void
  begin(start?: StartRow): Promise<{ started: boolean }>
  lookAtInbox(): void
  /** While item frames are being read back, messages to them must wait. */
  restoring(delta: 1 | -1): void
  /** Writes nothing more and is forgotten; the journal has all there is. */
  abandon(): void
  /** Goes back to the queue as soon as nothing runs. */
  release(): void
}

const GRACE = 10 * SECOND
const HOLD_TIMER = 1 * SECOND
const SNAPSHOT_EVERY = 1000
const MAX_TIMER = 2 ** 31 - 1

export const makeLive = (deps: LiveDeps, owned: Owned): Live => {
  const { journal, clock, log } = deps
  const top: Frame = { prefix: '', context: owned.context, state: owned.state ?? emptyState(), written: true }
  const frames = new Map<string, Frame>([['', top]])
  const effects = new Map<string, Abortable>()
  const maps = new Set<(work: Work) => boolean>()
  let mailbox: ((work: Work) => void)[] = []
  let waiters: ((durable: boolean) => void)[] = []
  let committing = false
  let gone = false
  let inFlight = 0
  let seen = owned.seen
  let read = owned.seen
  let reading = false
  let restoring = 0
  let snapshotSeq = owned.snapshotSeq
  let timer: NodeJS.Timeout | undefined
  let cancel: { n: number; data: JsonObject; timer: NodeJS.Timeout } | undefined
  let releasing = false
  let scheduled = false
  let lastAt = 0
  const deadline = owned.deadline

  const now = (): number => {
    lastAt = Math.max(lastAt, clock())
    return lastAt
  }

  const leave = (how: 'ended' | 'parked' | 'released' | 'abandoned'): void => {
    if (gone) return
    gone = true
    clearTimeout(timer)
    clearTimeout(cancel?.timer)
    for (const controller of effects.values()) controller.abort()
    effects.clear()
    for (const wake of waiters.splice(0)) wake(false)
    deps.left(live, how)
  }

  const journalFact = (work: Work, fact: Fact): void => {
    apply(top.state, fact)
    work.facts.push(fact)
  }

  /** Takes in what an advance of a frame gave: facts and commands of the whole execution, or the row of an item. */
  const open = (work: Work, frame: Frame, step?: Step): void => {
    if (!step) return
    frame.state = step.state
    for (const command of step.commands) work.commands.push({ frame, command })
    if (!frame.item) {
      work.facts.push(...step.facts)
      return
    }
    for (const fact of step.facts) {
      if (!fact.type.startsWith('approval.') && !fact.type.startsWith('clarification.')) continue
      const node_id = frame.prefix + String(fact.data.node_id)
      journalFact(work, { ...fact, data: { ...fact.data, node_id, in_map: true } })
    }
    const { index, path } = frame.item
    if (hasEnded(frame.state)) {
      frames.delete(frame.prefix)
      const { status, results, error } = frame.state
      const ok = status === 'succeeded'
      work.items.push({
        path,
        index,
        status: ok ? 'succeeded' : 'failed',
        output: ok ? (results ?? null) : null,
        ...(error && { error }),
      })
      frame.item.settled(frame)
      return
    }
    // A first attempt that may be repeated needs no row: without one, the item begins anew.
    const repeatable = (fact: Fact): boolean =>
      fact.type === 'node.started' && frame.context.effectOf(typeOf(frame, fact)) !== 'at_most_once'
    if (!frame.written && step.facts.every(repeatable)) return
    frame.written = true
    const waits = waitingFor(frame.state).length > 0
    work.items.push({
      path,
      index,
      status: waits ? 'waiting' : 'running',
      state: frame.state,
      dueAt: nextDue(frame.state),
    })
  }

  const typeOf = (frame: Frame, fact: Fact): string =>
    frame.context.graph.nodes.find((node) => node.id === fact.data.node_id)?.type ?? ''

  const step = (work: Work, frame: Frame, happenings: Happening[]): void => {
    if (frames.get(frame.prefix) !== frame) return
    open(work, frame, advance(frame.context, frame.state, happenings, work.at))
  }

  const dueAt = (): number | null => {
    let due = deadline ?? Number.POSITIVE_INFINITY
    for (const frame of frames.values()) due = Math.min(due, nextDue(frame.state) ?? due)
    return Number.isFinite(due) ? due : null
  }

  const allWaits = (): WaitingFor[] => {
    const waits: WaitingFor[] = []
    for (const frame of frames.values()) waits.push(...waitingFor(frame.state, frame.prefix))
    return waits.slice(0, 1000)
  }

  /** The end of the whole execution, as its row shows it. */
  const finishing = (work: Work): Move => {
    const { status, results, error } = top.state
    const told = owned.tellEnd || status !== 'succeeded' || owned.parent !== null || owned.metPeople
    const last = work.facts.findLast((fact) => fact.type === 'execution.succeeded')
    return {
      status,
      seen: cancel?.n ?? seen,
      ...(status === 'succeeded' && { results: results ?? null }),
      ...(last?.data.blob !== undefined && { resultsBlob: last.data.blob as unknown as BlobRef }),
      ...(error && { error: error as ExecutionError }),
      finishedAt: work.at,
      ...(told && { tellEnd: true }),
    }
  }

  const parking = (work: Work): Move | undefined => {
    if (inFlight > 0 || work.commands.length > 0 || mailbox.length > 0 || cancel || reading) return undefined
    const due = dueAt()
    if (releasing) return { status: 'queued', seen, snapshot: top.state }
    if (due !== null && due - work.at < HOLD_TIMER) return undefined
    const waits = allWaits()
    // A wait shorter than the hold is a timer in memory; something must be there to wait for.
    if (waits.length === 0) return undefined
    journalFact(work, {
      type: 'execution.waiting',
      at: work.at,
      data: { waiting_for: waits as unknown as JsonObject[] },
    })
    return { status: 'waiting', parking: true, seen, dueAt: due, waitingFor: waits, snapshot: top.state }
  }

  const setTimer = (): void => {
    clearTimeout(timer)
    const due = dueAt()
    if (due === null || gone) return
    timer = setTimeout(
      () => {
        void post((work) => {
          if (deadline !== null && deadline <= work.at) return step(work, top, [{ kind: 'timeout' }])
          for (const frame of [...frames.values()]) {
            const next = nextDue(frame.state)
            if (next !== null && next <= work.at) step(work, frame, [{ kind: 'time' }])
          }
        })
      },
      Math.min(MAX_TIMER, Math.max(1, due - clock())),
    )
  }

  const carryOut = (commands: Work['commands']): void => {
    for (const { frame, command } of commands) {
      if (gone || cancel) return
      // While it is being given back only what was announced as happening at most once is still done.
      if (releasing && !(command.do === 'run' && top.context.effectOf(command.type) === 'at_most_once')) continue
      deps.carryOut(live, frame, command)
    }
  }

  const commit = async (work: Work, start?: StartRow): Promise<boolean> => {
    committing = true
    const seq = top.state.seq - work.facts.length + 1
    const append: Append = {
      workspaceId: owned.workspaceId,
      executionId: owned.executionId,
      epoch: owned.epoch,
      seq,
      facts: work.facts,
      ...(work.items.length > 0 && { items: work.items }),
      ...(work.move && { move: work.move }),
      ...(start && { start }),
    }
    try {
      if (work.move?.results !== undefined) {
        const blob = await deps.offloadResults(live, work.move.results)
        const last = work.facts.findLast((fact) => fact.type === 'execution.succeeded')
        if (blob && last) {
          work.move.resultsBlob = blob
          last.data = { ...last.data, blob }
        }
      }
      const accepted = await journal.append(append)
      committing = false
      if (gone) return false
      if (work.move?.snapshot) snapshotSeq = top.state.seq
      if (start && !accepted.started) {
        leave('abandoned')
        return false
      }
      for (const done of work.done) done(true)
      if (work.facts.length > 0) deps.appended(owned.executionId)
      if (work.move && work.move.status !== 'running') {
        if (start || accepted.moved) {
          const { status } = work.move
          leave(status === 'waiting' ? 'parked' : status === 'queued' ? 'released' : 'ended')
          return true
        }
        // A message came first: it is not parked after all.
        if (work.move.parking) lookAtInbox()
        else leave('abandoned')
        return true
      }
      carryOut(work.commands)
      setTimer()
      schedule()
      return true
    } catch (error) {
      committing = false
      if (error instanceof Fenced || error instanceof Unknown) {
        for (const done of work.done) done(false)
        deps.lost(error)
        if (start) throw error
        return false
      }
      if (start) {
        leave('abandoned')
        throw error
      }
      return fallOver(seq, error as Error)
    }
  }

  /** The database refuses what it would write: the execution fails with that, rather than never ending. */
  const fallOver = async (seq: number, cause: Error): Promise<boolean> => {
    log.error({ err: cause, execution_id: owned.executionId }, 'an execution cannot be journalled and fails')
    const error = { code: 'not_storable', message: 'what the execution was to record could not be stored' }
    const state: GraphState = { ...top.state, seq, status: 'failed', error }
    try {
      await journal.append({
        workspaceId: owned.workspaceId,
        executionId: owned.executionId,
        epoch: owned.epoch,
        seq,
        facts: [{ type: 'execution.failed', at: now(), data: { error } }],
        move: { status: 'failed', seen, error, finishedAt: now(), tellEnd: true },
      })
      top.state = state
      leave('ended')
    } catch (again) {
      if (again instanceof Fenced || again instanceof Unknown) deps.lost(again)
      else leave('abandoned')
    }
    return false
  }

  const newWork = (): Work => ({ at: now(), facts: [], items: [], commands: [], done: [] })

  /** An item that failed can end an item of the map around it, so it takes a round per level. */
  const lookAtMaps = (work: Work): void => {
    for (let again = maps.size > 0; again; ) {
      again = false
      for (const look of [...maps]) again = look(work) || again
    }
  }

  const pump = (): void => {
    scheduled = false
    if (committing || gone) return
    const work = newWork()
    const thunks = mailbox
    mailbox = []
    work.done = waiters
    waiters = []
    const seenBefore = seen
    if (thunks.length > 0 && top.state.parked) journalFact(work, { type: 'execution.resumed', at: work.at, data: {} })
    for (const thunk of thunks) thunk(work)
    lookAtMaps(work)
    if (hasEnded(top.state)) work.move = finishing(work)
    else {
      const park = parking(work)
      if (park) work.move = park
      else if (seen !== seenBefore || top.state.seq - snapshotSeq >= SNAPSHOT_EVERY) {
        const snapshot = top.state.seq - snapshotSeq >= SNAPSHOT_EVERY ? { snapshot: top.state } : {}
        work.move = { status: 'running', seen, ...snapshot }
      }
    }
    if (work.facts.length > 0 || work.items.length > 0 || work.move) void commit(work)
    else {
      for (const done of work.done) done(true)
      carryOut(work.commands)
      setTimer()
    }
  }

  const schedule = (): void => {
    if (scheduled || committing || gone) return
    scheduled = true
    queueMicrotask(pump)
  }

  const post = (thunk: (work: Work) => void): Promise<boolean> => {
    if (gone) return Promise.resolve(false)
    mailbox.push(thunk)
    schedule()
    return new Promise((resolve) => waiters.push(resolve))
  }

  const finishCancel = (): void => {
    if (!cancel) return
    const { data } = cancel
    void post((work) => step(work, top, [{ kind: 'cancel', data }]))
  }

  const beginCancel = (n: number, data: JsonObject): void => {
    if (cancel) return
    cancel = { n, data, timer: setTimeout(finishCancel, GRACE) }
    for (const controller of effects.values()) controller.abort()
    if (inFlight === 0) finishCancel()
  }

  const deliver = (work: Work, { n, payload }: InboxMessage): void => {
    if (payload.type === 'cancel') {
      beginCancel(n, { by: payload.by, ...(payload.reason !== undefined && { reason: payload.reason }) })
      return
    }
    // Once a cancel is under way nothing after it is taken in: the journal's `seen` ends with the cancel.
    if (cancel) return
    seen = n
    if (payload.type === 'release') return
    const { prefix, node } = splitPath(payload.nodePath)
    const frame = frames.get(prefix)
    if (!frame) return
    const happening = happeningOf(payload, node)
    if (happening) step(work, frame, [happening])
  }

  const lookAtInbox = (): void => {
    if (reading || restoring > 0 || gone) return
    reading = true
    deps
      .readInbox(live, read)
      .then((messages) => {
        reading = false
        read = messages.at(-1)?.n ?? read
        return post((work) => {
          for (const message of messages) deliver(work, message)
        })
      })
      .catch((error: Error) => {
        reading = false
        log.warn({ err: error, execution_id: owned.executionId }, 'the inbox could not be read')
      })
  }

  const live: Live = {
    owned,
    top,
    frames,
    maps,
    effects,
    post,
    tell: (frame, happening) => post((work) => step(work, frame, [happening])),
    step,
    open,
    inform: (frame, happening) => {
      if (gone) return
      mailbox.push((work) => step(work, frame, [happening]))
      schedule()
    },
    busy: (delta, then) => {
      inFlight += delta
      then?.()
      if (inFlight > 0) return
      if (cancel) finishCancel()
      else schedule()
    },
    begin: async (start) => {
      const work = newWork()
      if (!owned.begun) {
        const kept = Object.entries(top.state.nodes)
        top.state = emptyState()
        const data = { trigger: { kind: owned.trigger.kind, id: owned.trigger.id } }
        journalFact(work, { type: 'execution.started', at: work.at, data })
        for (const [id, node] of kept) journalFact(work, keptFact(id, node, work.at))
        open(work, top, begin(top.context, work.at, top.state))
      } else if (top.state.parked) journalFact(work, { type: 'execution.resumed', at: work.at, data: {} })
      if (owned.begun) {
        for (const command of resume(top.context, top.state)) work.commands.push({ frame: top, command })
        const interrupted = work.commands.filter(
          ({ command }) => command.do === 'run' && top.context.effectOf(command.type) === 'at_most_once',
        )
        work.commands = work.commands.filter((entry) => !interrupted.includes(entry))
        for (const { command } of interrupted) step(work, top, [outcomeUnknown(command)])
        step(work, top, [{ kind: 'time' }])
      }
      restoring = work.commands.filter(({ command }) => command.do === 'map' && command.again).length
      if (restoring === 0) {
        read = owned.inbox.at(-1)?.n ?? seen
        for (const message of owned.inbox) deliver(work, message)
      }
      if (deadline !== null && deadline <= work.at) step(work, top, [{ kind: 'timeout' }])
      if (hasEnded(top.state)) work.move = finishing(work)
      else {
        const park = parking(work)
        if (park) work.move = park
        else if (seen !== owned.seen) work.move = { status: 'running', seen }
      }
      return { started: await commit(work, start) }
    },
    lookAtInbox,
    restoring: (delta) => {
      restoring += delta
      if (restoring === 0) lookAtInbox()
    },
    abandon: () => leave('abandoned'),
    release: () => {
      releasing = true
      schedule()
    },
  }
  return live
}

/** A result kept from the execution that is being retried: journalled anew, so that this journal alone says everything. */
const keptFact = (id: string, node: NodeState, at: number): Fact => {
  const { attempt, output, blob, port, error } = node
  const data: JsonObject = { node_id: id, attempt, kept: true }
  if (output !== undefined) data.output = output
  if (blob) data.blob = blob
  if (port !== undefined) data.port = port
  if (error) data.error = error
  const type = node.status === 'skipped' ? 'node.skipped' : node.status === 'failed' ? 'node.failed' : 'node.succeeded'
  return { type, at, data }
}

export const outcomeUnknown = (command: Command): Happening => ({
  kind: 'error',
  node: command.node,
  attempt: 'attempt' in command ? command.attempt : 1,
  error: {
    code: 'outcome_unknown',
    message: 'the worker died while this node ran; whether it took effect is not known, so it was not done again',
  },
  retryable: false,
})

const happeningOf = (signal: Signal, node: string): Happening | undefined => {
  switch (signal.type) {
    case 'approval.voted':
      return { kind: 'voted', node, data: signal.data }
    case 'approval.resolved':
      return { kind: 'resolved', node, outcome: signal.outcome, output: signal.output, data: signal.data }
    case 'clarification.answered':
      return { kind: 'answered', node, answer: signal.answer, data: signal.data }
    case 'node.failed':
      return { kind: 'refused', node, error: signal.error }
    case 'child.ended':
      return { kind: 'child', node, results: signal.results, error: signal.error }
    default:
      return undefined
  }
}
