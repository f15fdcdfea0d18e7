import type { Definition, Json, JsonObject } from '#model/definition'
import { makeLru } from '#model/lru'
import type { Effect } from '#model/node'
import { jsonSize } from '#model/size'
import { wantsVariables } from '#model/variables'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { LARGE_BYTES, slices } from '#platform/slices'
import type { AreaCalls } from '../area-calls.ts'
import type { DatabaseClock } from '../clock.ts'
import { childEnd } from '../ends.ts'
import type { Hints } from '../hints.ts'
import type { StartRow } from '../journal/batch.ts'
import { type Journal, Refused } from '../journal/journal.ts'
import { NodeFailure } from '../node.ts'
import { nudge } from '../nudges.ts'
import { checkedText, isLarge, offload } from '../outputs.ts'
import type { PlatformFault } from '../platform-fault.ts'
import type { EngineCounts, EnginePorts } from '../ports.ts'
import { makeUnderstanding } from '../release.ts'
import { variablesAtStart } from '../variables.ts'
import { startChecks } from './checks.ts'
import { type HandOver, makeClaims } from './claims.ts'
import type { EffectDeps } from './effect-deps.ts'
import { makeEffects } from './effects.ts'
import { finishedRun } from './finished.ts'
import { type Identity, makeIdentities } from './identity.ts'
import { makeLive } from './live.ts'
import type { Leaving, Live, NodeAttempt } from './live-types.ts'
import { type Owned, ownedFromStart } from './owned.ts'
import { makeReader } from './owned-row.ts'
import { makePatience, PAUSES, type Pauses } from './patience.ts'
import { watchStandstill } from './standstill.ts'
import type { Store } from './store.ts'
import { ROOM_FOR_SUSPECTS, suspicion } from './suspects.ts'
import { startTicking, TICK } from './tick.ts'
import { makeTurns } from './turns.ts'

export type WorkerLimits = {
  /** Executions in memory at once. */
  capacity: number
  /** Running at once in one workspace. */
  perWorkspace: number
  /** Taken from one workspace before the next has its turn. */
  claimPerWorkspace: number
}

// 64 callers that start five-node executions as fast as they are acknowledged keep about 400 of them under way; a lower
// limit sends every other start through the queue, which costs three times as much.
export const defaultLimits: WorkerLimits = { capacity: 1024, perWorkspace: 512, claimPerWorkspace: 16 }

const DRAIN = 8 * SECOND
/** Silent for longer, a worker is not ready: others have declared it dead by then. */
const SILENT = 5 * SECOND
const PARKED = 10_000
const TAKE_UP = SECOND / 4

export type WorkerDeps = {
  db: Database
  store: Store
  ports: EnginePorts
  hints: Hints
  clock: DatabaseClock
  log: Logger
  limits: WorkerLimits
  startChild: EffectDeps['startChild']
  areaCalls: AreaCalls
  /** Which release this process is. */
  release: number
  /** Milliseconds between two ticks; others than half a second only in tests. */
  tickMs?: number | undefined
  /** Milliseconds between two looks at the waits of executions. */
  checkMs?: number | undefined
  /** Between two tries of what met trouble of the service; shorter ones only in tests. */
  pauses?: Pauses | undefined
  /** Executions that ended and whose end somebody wants to know. */
  tell(): void
  /** The rules of this workflow may have something to decide. */
  decideSoon(workspaceId: string, workflowId: string): void
}

export type Worker = {
  journal(): Journal
  loadDefinition(workspaceId: string, ref: string): Promise<Definition>
  /** Whether this release knows everything in it. */
  understands(definition: Definition): boolean
  /** Whether an execution started now may be this worker's from birth. */
  hasRoomFor(workspaceId: string): boolean
  /** Starts and owns it. False when its idempotency key or its id is taken. */
  begin(at: { workspaceId: string; executionId: string }, start: StartRow, definition: Definition): Promise<boolean>
  claimSoon(): void
  /** Somebody wrote to this execution, or queued it; to any, without an id. */
  nudged(executionId: string): void
  /** Where this execution was parked here and there is room for it: it may be claimed with the message that ends its wait. */
  offer(executionId: string): HandOver | undefined
  running(): number
  /** Disagreements between executions and what they wait for that this process has mended. */
  mended(): number
  /** Errors of the service itself that executions met here. */
  platformErrors(): EngineCounts['platform_errors']
  /** Whether it beats. */
  ready(): boolean
  stop(): Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())

/** What an execution gave itself and cannot be stored is refused as the database would refuse it. */
const storableText = (value: unknown): string => {
  try {
    return checkedText(value).text
  } catch (error) {
    if (error instanceof NodeFailure) throw new Refused(error.message)
    throw error
  }
}

export const makeWorker = async (deps: WorkerDeps): Promise<Worker> => {
  const { db, store, ports, hints, clock, log, limits } = deps
  const lives = new Map<string, Live>()
  const turns = makeTurns()
  const perWorkspace = new Map<string, number>()
  /** The workspaces of executions that were parked here: claimed by name, they go on sooner. */
  const parked = makeLru<string>(PARKED)
  let stopping = false
  let emptied: (() => void) | undefined

  const effectOf = (type: string, args?: JsonObject): Effect => {
    const kind = ports.nodes[type]
    return kind?.effectOf?.(args ?? {}) ?? kind?.descriptor.effect ?? 'pure'
  }
  const { loadDefinition } = ports
  const understanding = makeUnderstanding(ports.nodes)
  const platformErrors = { database: 0, storage: 0, load: 0 }
  const count = (kind: PlatformFault['kind']): void => {
    platformErrors[kind] += 1
  }
  const { notePlatformWait, forgetPlatformWait } = store
  const patience = makePatience({
    log,
    clock: clock.now,
    notePlatformWait,
    forgetPlatformWait,
    count,
    pauses: deps.pauses ?? PAUSES,
  })
  const carryOut = makeEffects({
    ports,
    log,
    patience,
    areaCalls: deps.areaCalls,
    clock: clock.now,
    readItems: (live, path, from) => store.items(live.owned.executionId, path, from),
    startChild: deps.startChild,
    findChild: async (workspaceId, executionId) => {
      const child = await store.findChild(workspaceId, executionId)
      if (!child) return undefined
      const { status } = child
      if (status === 'queued' || status === 'running' || status === 'waiting') return { ended: null }
      return { ended: await childEnd(ports.blobs, { ...child, status }) }
    },
    cancelChild: async (workspaceId, executionId) => {
      const reason = 'its parent no longer waits for it'
      await store.signal(workspaceId, executionId, 'cancel', { type: 'cancel', by: null, reason })
      nudge(db, executionId)
    },
  })

  const standstill = watchStandstill()
  const unbegun: { workspaceId: string; executionId: string; epoch: number; nodes: NodeAttempt[] }[] = []
  /** Once all appends of the old name have heard what became of them. */
  const tellUnbegun = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    for (let one = unbegun[0]; one; one = unbegun[0]) {
      for (const node of one.nodes) {
        const key = `not_begun:${node.nodePath}:${node.attempt}:${one.epoch}`
        const said = { type: 'not_begun' as const, ...node, epoch: one.epoch }
        await store.signal(one.workspaceId, one.executionId, key, said)
      }
      unbegun.shift()
    }
  }
  const identities = await makeIdentities({
    db,
    store,
    log,
    standstill,
    beforeHandOver: tellUnbegun,
    onGivenUp: () => {
      for (const live of [...lives.values()]) live.abandon()
    },
    onRenewed: () => claims.soon(),
  })

  const forget = ({ owned }: Live): void => {
    lives.delete(owned.executionId)
    const running = (perWorkspace.get(owned.workspaceId) ?? 1) - 1
    if (running === 0) perWorkspace.delete(owned.workspaceId)
    else perWorkspace.set(owned.workspaceId, running)
  }

  const cleared = ({ owned }: Live): void => {
    const wasSuspect = suspicion(owned.crashes) > 0
    owned.crashes = 0
    if (wasSuspect) claims.soon()
  }

  const left = (live: Live, how: Leaving): void => {
    const { owned } = live
    if (lives.get(owned.executionId) === live) forget(live)
    const told = live.top.state.status !== 'succeeded' || owned.tellEnd || owned.metPeople
    if (how === 'ended' && told) deps.tell()
    if (how === 'ended' && ports.finished) ports.finished(finishedRun(live, clock.now()))
    if (how === 'parked') parked.set(owned.executionId, owned.workspaceId)
    // Its place may be free.
    if (how !== 'abandoned' && owned.isGated && owned.workflowId) deps.decideSoon(owned.workspaceId, owned.workflowId)
    if (claims.queueKnown()) claims.soon()
    if (lives.size === 0) emptied?.()
  }

  const adopt = (owned: Owned, of: Identity): Live => {
    const live = makeLive(
      {
        journal: of.journal,
        clock: clock.now,
        log,
        carryOut,
        readInbox: ({ owned: { executionId } }, seen) => store.inboxAfter(executionId, seen),
        left,
        cleared,
        lost: (error) => {
          log.warn({ err: error }, 'the worker lost its say and begins anew')
          if (of === identities.current()) identities.renew()
        },
        notBegun: ({ owned: { workspaceId, executionId, epoch } }, nodes) =>
          void unbegun.push({ workspaceId, executionId, epoch, nodes }),
        offload: async (of, value, node, always) => {
          if (jsonSize(value as Json, LARGE_BYTES) > LARGE_BYTES) await slices.next(of.owned.workspaceId)
          const text = storableText(value)
          const put = () => offload(ports.blobs, of.owned, text, always)
          if (node === undefined || !(always || isLarge(text))) return put()
          return patience(of, { frame: of.top, node, evenWhenStopped: true }, put)
        },
        turns,
        appended: hints.appended,
      },
      owned,
    )
    lives.set(owned.executionId, live)
    perWorkspace.set(owned.workspaceId, (perWorkspace.get(owned.workspaceId) ?? 0) + 1)
    return live
  }

  /** What is claimed next does not wait for one that has much to compute before it goes on. */
  const takeUp = async (live: Live): Promise<void> => {
    const begun = live.begin()
    const isLate = await Promise.race([begun.then(() => false), pause(TAKE_UP).then(() => true)])
    if (!isLate) return
    begun.catch((error: Error) => {
      log.error({ err: error, execution_id: live.owned.executionId }, 'an execution could not be taken up')
      live.abandon()
    })
  }

  const claims = makeClaims({
    store,
    log,
    count,
    identities,
    limits,
    room: () => limits.capacity - lives.size,
    // Counted anew each time: a count that is kept and goes wrong once would keep all of that kind waiting for ever.
    suspectRoom: () =>
      [...lives.values()].reduce((room, { owned }) => room - suspicion(owned.crashes), ROOM_FOR_SUSPECTS),
    someAtLimit: () => [...perWorkspace.values()].some((running) => running >= limits.perWorkspace),
    read: makeReader({
      ports,
      loadDefinition,
      effectOf,
      now: clock.now,
      understanding,
      isOld: async () => (await store.newestRelease()) > deps.release,
      loaded: () =>
        [...lives.values()].map(({ owned }) => ({ workspaceId: owned.workspaceId, bytes: owned.loadedBytes })),
    }),
    takeUp: (owned, of) => takeUp(adopt(owned, of)),
    decideSoon: deps.decideSoon,
  })
  const ticking = await startTicking({
    store,
    log,
    clock,
    identities,
    claims,
    lives,
    standstill,
    tell: deps.tell,
    decideSoon: deps.decideSoon,
    every: deps.tickMs ?? TICK,
  })

  const checks = startChecks({ db, store, ports, log, tell: deps.tell, every: deps.checkMs })

  const hasRoomFor = (workspaceId: string): boolean =>
    !stopping &&
    !identities.renewing() &&
    !claims.queueKnown() &&
    lives.size < limits.capacity &&
    (perWorkspace.get(workspaceId) ?? 0) < limits.perWorkspace

  const drain = async (): Promise<void> => {
    const empty = new Promise<void>((resolve) => {
      emptied = resolve
      if (lives.size === 0) resolve()
    })
    for (const live of lives.values()) live.release()
    const deadline = new Promise<void>((resolve) => {
      setTimeout(resolve, DRAIN).unref()
    })
    await Promise.race([empty, deadline])
    for (const live of [...lives.values()]) live.abandon()
  }

  return {
    journal: () => identities.current().journal,
    loadDefinition,
    understands: understanding.ofDefinition,
    hasRoomFor,
    begin: async (at, start, definition) => {
      const vars = wantsVariables(definition)
        ? await variablesAtStart(ports, at.workspaceId, definition, start.snapshot?.vars, {
            isChild: (start.depth ?? 0) > 0,
          })
        : undefined
      const owned = ownedFromStart({ ...at, clock: clock.now() }, start, definition, vars, effectOf, ports.callbackUrl)
      return (await adopt(owned, identities.current()).begin(start)).started
    },
    claimSoon: claims.soon,
    nudged: (executionId) => {
      const live = lives.get(executionId)
      const workspaceId = parked.get(executionId)
      if (live) live.lookAtInbox()
      else if (workspaceId !== undefined && hasRoomFor(workspaceId)) claims.one({ workspaceId, executionId })
      else claims.soon()
    },
    offer: (executionId) => {
      const workspaceId = parked.get(executionId)
      const isHere = lives.has(executionId) || claims.isArriving(executionId)
      return workspaceId !== undefined && !isHere && hasRoomFor(workspaceId) ? claims.handOver() : undefined
    },
    running: () => lives.size,
    mended: checks.mended,
    platformErrors: () => ({ ...platformErrors }),
    ready: () => !stopping && performance.now() - ticking.beatAt() < SILENT,
    stop: async () => {
      stopping = true
      await checks.stop()
      await claims.stop()
      // It beats until it has nothing left: others would take a worker that drains for longer than three seconds for dead.
      await drain()
      await ticking.stop()
      await identities.stop()
      standstill.stop()
    },
  }
}
