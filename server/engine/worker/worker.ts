import type { Definition, JsonObject } from '#model/definition'
import { makeLru } from '#model/lru'
import type { Effect } from '#model/node'
import { wantsVariables } from '#model/variables'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { AreaCalls } from '../area-calls.ts'
import type { DatabaseClock } from '../clock.ts'
import type { Hints } from '../hints.ts'
import type { StartRow } from '../journal/batch.ts'
import { Refused } from '../journal/failures.ts'
import type { Journal } from '../journal/journal.ts'
import { NodeFailure } from '../node.ts'
import { isLarge, offload, textInSlices } from '../outputs.ts'
import type { PlatformFault } from '../platform-fault.ts'
import type { EngineCounts, EnginePorts } from '../ports.ts'
import { makeUnderstanding } from '../release.ts'
import { variablesAtStart } from '../variables.ts'
import { startChecks } from './checks.ts'
import { makeChildren } from './children.ts'
import { type HandOver, makeClaims } from './claims.ts'
import type { EffectDeps } from './effect-deps.ts'
import { makeEffects } from './effects.ts'
import { finishedRun } from './finished.ts'
import { type Identity, makeIdentities } from './identity.ts'
import { makeLive } from './live.ts'
import type { Leaving, Live, LiveDeps } from './live-types.ts'
import { makeLives, type WorkerLimits } from './lives.ts'
import { type Owned, ownedFromStart } from './owned.ts'
import { makeReader } from './owned-row.ts'
import { makePatience, PAUSES, type Patience, type Pauses } from './patience.ts'
import { watchStandstill } from './standstill.ts'
import type { Store } from './store.ts'
import { suspicion } from './suspects.ts'
import { startTicking, TICK } from './tick.ts'
import { makeTurns } from './turns.ts'
import { makeUnbegun } from './unbegun.ts'

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
const storableText = async (value: unknown, workspaceId: string): Promise<string> => {
  try {
    return await textInSlices(value, workspaceId)
  } catch (error) {
    if (error instanceof NodeFailure) throw new Refused(error.message)
    throw error
  }
}

const effectsOf =
  ({ nodes }: EnginePorts) =>
  (type: string, args?: JsonObject): Effect =>
    nodes[type]?.effectOf?.(args ?? {}) ?? nodes[type]?.descriptor.effect ?? 'pure'

const patienceOf = ({ log, clock, store, pauses }: WorkerDeps, count: (kind: PlatformFault['kind']) => void) =>
  makePatience({
    log,
    clock: clock.now,
    notePlatformWait: store.notePlatformWait,
    forgetPlatformWait: store.forgetPlatformWait,
    count,
    pauses: pauses ?? PAUSES,
  })

const carryOutWith = ({ db, store, ports, log, areaCalls, clock, startChild }: WorkerDeps, patience: Patience) =>
  makeEffects({
    ports,
    log,
    patience,
    areaCalls,
    clock: clock.now,
    readItems: (live, path, from) => store.items(live.owned.executionId, path, from),
    startChild,
    ...makeChildren({ db, store, ports }),
  })

const offloadTo =
  ({ blobs }: EnginePorts, patience: Patience): LiveDeps['offload'] =>
  async (live, value, node, always) => {
    const text = await storableText(value, live.owned.workspaceId)
    const put = () => offload(blobs, live.owned, text, always)
    if (node === undefined || !(always || isLarge(text))) return put()
    return patience(live, { frame: live.top, node, evenWhenStopped: true }, put)
  }

const variablesFor = async (ports: EnginePorts, workspaceId: string, start: StartRow, definition: Definition) =>
  wantsVariables(definition)
    ? variablesAtStart(ports, workspaceId, definition, start.snapshot?.vars, { isChild: (start.depth ?? 0) > 0 })
    : undefined

/** What is claimed next does not wait for one that has much to compute before it goes on. */
const takeUp = async (live: Live, log: Logger): Promise<void> => {
  const begun = live.begin()
  const isLate = await Promise.race([begun.then(() => false), pause(TAKE_UP).then(() => true)])
  if (!isLate) return
  begun.catch((error: Error) => {
    log.error({ err: error, execution_id: live.owned.executionId }, 'an execution could not be taken up')
    live.abandon()
  })
}

export const makeWorker = async (deps: WorkerDeps): Promise<Worker> => {
  const { db, store, ports, hints, clock, log, limits } = deps
  const lives = makeLives(limits)
  const turns = makeTurns()
  /** The workspaces of executions that were parked here: claimed by name, they go on sooner. */
  const parked = makeLru<string>(PARKED)
  let stopping = false

  const effectOf = effectsOf(ports)
  const understanding = makeUnderstanding(ports.nodes)
  const platformErrors = { database: 0, storage: 0, load: 0 }
  const count = (kind: PlatformFault['kind']): void => {
    platformErrors[kind] += 1
  }
  const patience = patienceOf(deps, count)
  const carryOut = carryOutWith(deps, patience)

  const standstill = watchStandstill()
  const unbegun = makeUnbegun(store)
  const identities = await makeIdentities({
    db,
    store,
    log,
    standstill,
    beforeHandOver: unbegun.tell,
    onGivenUp: lives.abandonAll,
    onRenewed: () => claims.soon(),
  })

  const cleared = ({ owned }: Live): void => {
    const wasSuspect = suspicion(owned.crashes) > 0
    owned.crashes = 0
    if (wasSuspect) claims.soon()
  }

  const left = (live: Live, how: Leaving): void => {
    const { owned } = live
    lives.remove(live)
    const told = live.top.state.status !== 'succeeded' || owned.tellEnd || owned.metPeople
    if (how === 'ended' && told) deps.tell()
    if (how === 'ended' && ports.finished) ports.finished(finishedRun(live, clock.now()))
    if (how === 'parked') parked.set(owned.executionId, owned.workspaceId)
    // Its place may be free.
    if (how !== 'abandoned' && owned.isGated && owned.workflowId) deps.decideSoon(owned.workspaceId, owned.workflowId)
    if (claims.queueKnown()) claims.soon()
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
          unbegun.note({ workspaceId, executionId, epoch, nodes }),
        offload: offloadTo(ports, patience),
        turns,
        appended: hints.appended,
      },
      owned,
    )
    lives.add(live)
    return live
  }

  const claims = makeClaims({
    store,
    log,
    count,
    identities,
    limits,
    room: lives.room,
    suspectRoom: lives.suspectRoom,
    someAtLimit: lives.someAtLimit,
    read: makeReader({
      ports,
      loadDefinition: ports.loadDefinition,
      effectOf,
      now: clock.now,
      understanding,
      isOld: async () => (await store.newestRelease()) > deps.release,
      loaded: lives.loaded,
    }),
    takeUp: (owned, of) => takeUp(adopt(owned, of), log),
    decideSoon: deps.decideSoon,
  })
  const ticking = await startTicking({
    store,
    log,
    clock,
    identities,
    claims,
    lives: lives.all,
    standstill,
    tell: deps.tell,
    decideSoon: deps.decideSoon,
    every: deps.tickMs ?? TICK,
  })

  const checks = startChecks({ db, store, ports, log, tell: deps.tell })
  const hasRoomFor = (workspaceId: string): boolean =>
    !stopping && !identities.renewing() && !claims.queueKnown() && lives.hasRoomFor(workspaceId)

  return {
    journal: () => identities.current().journal,
    loadDefinition: ports.loadDefinition,
    understands: understanding.ofDefinition,
    hasRoomFor,
    begin: async (at, start, definition) => {
      const vars = await variablesFor(ports, at.workspaceId, start, definition)
      const owned = ownedFromStart({ ...at, clock: clock.now() }, start, definition, vars, effectOf, ports.callbackUrl)
      return (await adopt(owned, identities.current()).begin(start)).started
    },
    claimSoon: claims.soon,
    nudged: (executionId) => {
      const live = lives.all.get(executionId)
      const workspaceId = parked.get(executionId)
      if (live) live.lookAtInbox()
      else if (workspaceId !== undefined && hasRoomFor(workspaceId)) claims.one({ workspaceId, executionId })
      else claims.soon()
    },
    offer: (executionId) => {
      const workspaceId = parked.get(executionId)
      const isHere = lives.all.has(executionId) || claims.isArriving(executionId)
      return workspaceId !== undefined && !isHere && hasRoomFor(workspaceId) ? claims.handOver() : undefined
    },
    running: () => lives.all.size,
    mended: checks.mended,
    platformErrors: () => ({ ...platformErrors }),
    ready: () => !stopping && performance.now() - ticking.beatAt() < SILENT,
    stop: async () => {
      stopping = true
      await checks.stop()
      await claims.stop()
      // It beats until it has nothing left: others would take a worker that drains for longer than three seconds for dead.
      await lives.drain()
      await ticking.stop()
      await identities.stop()
      standstill.stop()
    },
  }
}
