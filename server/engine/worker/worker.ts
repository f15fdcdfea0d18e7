import type { Definition, JsonObject } from '#model/definition'
import { makeLru } from '#model/lru'
import type { Effect } from '#model/node'
import { readsVariables } from '#model/variables'
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
import { type EngineCounts, type EnginePorts, noCounts } from '../ports.ts'
import { makeReleaseSupport } from '../release.ts'
import { variablesAtStart } from '../variables.ts'
import { makeChildren } from './children.ts'
import { type HandOver, makeClaims } from './claims.ts'
import type { EffectDeps } from './effect-deps.ts'
import { makeEffects } from './effects.ts'
import { finishedRun } from './finished-run.ts'
import { type Identity, makeIdentities } from './identity.ts'
import { makeLive } from './live.ts'
import { makeLiveExecutions, type WorkerLimits } from './live-executions.ts'
import type { LeaveReason, Live, LiveDeps } from './live-types.ts'
import { type Owned, ownedFromStart } from './owned.ts'
import { makeReader } from './owned-row.ts'
import { makePlatformRetry, type PlatformRetry, RETRY_PAUSES, type RetryPauses } from './platform-retry.ts'
import { watchStalls } from './stall-watch.ts'
import type { Store } from './store.ts'
import { suspicion } from './suspects.ts'
import { startTicking, TICK } from './tick.ts'
import { makeTurns } from './turns.ts'
import { makeUnstartedReports } from './unstarted-reports.ts'
import { startWaitChecks } from './wait-checks.ts'

/** After this time without a heartbeat, a worker is not ready: other workers have declared it dead by then. */
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
  /** The release number of this process. */
  release: number
  /** Milliseconds between two ticks. Half a second by default; only tests set it. */
  tickMs?: number | undefined
  /** The pauses between retries after a fault of the platform. Only tests set shorter ones. */
  pauses?: RetryPauses | undefined
  /** Called when executions have ended whose end must be reported. */
  reportEnds(): void
  /** Called when the rules of this workflow may have something to decide. */
  decideSoon(workspaceId: string, workflowId: string): void
}

export type Worker = {
  journal(): Journal
  loadDefinition(workspaceId: string, ref: string): Promise<Definition>
  /** Checks whether this release knows everything in the definition. */
  understands(definition: Definition): boolean
  /** Checks whether this worker can own a new execution from its start. */
  hasRoomFor(workspaceId: string): boolean
  /** Starts and owns the execution. Returns false if its idempotency key or its id already exists. */
  begin(at: { workspaceId: string; executionId: string }, start: StartRow, definition: Definition): Promise<boolean>
  claimSoon(): void
  /** Called when this execution was queued or received a message. Without an id, any execution may be affected. */
  nudged(executionId: string): void
  /**
   * Returns a hand-over if this execution was parked here and there is room for it: it can be claimed with the
   * message that ends its wait.
   */
  offer(executionId: string): HandOver | undefined
  running(): number
  counts(): EngineCounts
  /** Checks whether the worker sends heartbeats. */
  ready(): boolean
  stop(): Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())

/** Serializes a value of the execution. Throws as the database would if the value cannot be stored. */
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

const platformRetryOf = ({ log, clock, store, pauses }: WorkerDeps, count: (kind: PlatformFault['kind']) => void) =>
  makePlatformRetry({
    log,
    clock: clock.now,
    notePlatformWait: store.notePlatformWait,
    forgetPlatformWait: store.forgetPlatformWait,
    count,
    pauses: pauses ?? RETRY_PAUSES,
  })

const commandExecutorOf = (
  { db, store, ports, log, areaCalls, clock, startChild }: WorkerDeps,
  platformRetry: PlatformRetry,
) =>
  makeEffects({
    ports,
    log,
    platformRetry,
    areaCalls,
    clock: clock.now,
    readItems: (live, path, from) => store.items(live.owned.executionId, path, from),
    startChild,
    ...makeChildren({ db, store, ports }),
  })

const offloadTo =
  ({ blobs }: EnginePorts, platformRetry: PlatformRetry): LiveDeps['offload'] =>
  async (live, value, node, always) => {
    const text = await storableText(value, live.owned.workspaceId)
    const put = () => offload(blobs, live.owned, text, always)
    if (node === undefined || !(always || isLarge(text))) return put()
    return platformRetry(live, { frame: live.top, node, evenWhenStopped: true }, put)
  }

const variablesFor = async (ports: EnginePorts, workspaceId: string, start: StartRow, definition: Definition) =>
  readsVariables(definition)
    ? variablesAtStart(ports, workspaceId, definition, start.snapshot?.vars, { isChild: (start.depth ?? 0) > 0 })
    : undefined

/** The next claim does not wait for an execution that has much to compute before it continues. */
const takeUp = async (live: Live, log: Logger): Promise<void> => {
  const begun = live.begin()
  // An execution that cannot be taken up is put back into the queue, so it must not keep its place here.
  begun.catch(() => live.abandon())
  const isLate = await Promise.race([begun.then(() => false), pause(TAKE_UP).then(() => true)])
  if (!isLate) return
  begun.catch((error: Error) => {
    log.error({ err: error, execution_id: live.owned.executionId }, 'an execution could not be started or resumed')
  })
}

export const makeWorker = async (deps: WorkerDeps): Promise<Worker> => {
  const { db, store, ports, hints, clock, log, limits } = deps
  const liveExecutions = makeLiveExecutions(limits)
  const turns = makeTurns()
  /** The workspaces of executions that were parked here. They are claimed by id, so they continue sooner. */
  const parked = makeLru<string>(PARKED)
  let stopping = false

  const effectOf = effectsOf(ports)
  const understanding = makeReleaseSupport(ports.nodes)
  const { platform_errors: platformErrors, ended } = noCounts()
  const count = (kind: PlatformFault['kind']): void => {
    platformErrors[kind] += 1
  }
  const platformRetry = platformRetryOf(deps, count)
  const executeCommand = commandExecutorOf(deps, platformRetry)

  const stallWatch = watchStalls()
  const unstartedReports = makeUnstartedReports(store)
  const identities = await makeIdentities({
    db,
    store,
    log,
    stallWatch,
    beforeHandOver: unstartedReports.send,
    onGivenUp: liveExecutions.abandonAll,
    onRenewed: () => claims.soon(),
  })

  const cleared = ({ owned }: Live): void => {
    const wasSuspect = suspicion(owned.crashes) > 0
    owned.crashes = 0
    if (wasSuspect) claims.soon()
  }

  const left = (live: Live, how: LeaveReason): void => {
    const { owned } = live
    liveExecutions.remove(live)
    const isReported = live.top.state.status !== 'succeeded' || owned.tellEnd || owned.mayHaveOpenedRequests
    if (how === 'ended' && isReported) deps.reportEnds()
    if (how === 'ended') ended[live.top.state.status as keyof typeof ended] += 1
    if (how === 'ended' && ports.finished) ports.finished(finishedRun(live, clock.now()))
    if (how === 'parked') parked.set(owned.executionId, owned.workspaceId)
    // The place of the execution may be free now.
    if (how !== 'abandoned' && owned.isGated && owned.workflowId) deps.decideSoon(owned.workspaceId, owned.workflowId)
    if (claims.queueKnown()) claims.soon()
  }

  const adopt = (owned: Owned, of: Identity): Live => {
    const live = makeLive(
      {
        journal: of.journal,
        clock: clock.now,
        log,
        executeCommand,
        readInbox: ({ owned: { executionId } }, seen) => store.inboxAfter(executionId, seen),
        onLeft: left,
        onProgress: cleared,
        onJournalLost: (error) => {
          log.warn({ err: error }, 'the worker was declared dead and starts again')
          if (of === identities.current()) identities.renew()
        },
        reportNotStarted: ({ owned: { workspaceId, executionId, epoch } }, nodes) =>
          unstartedReports.add({ workspaceId, executionId, epoch, nodes }),
        offload: offloadTo(ports, platformRetry),
        turns,
        onAppended: hints.appended,
      },
      owned,
    )
    liveExecutions.add(live)
    return live
  }

  const claims = makeClaims({
    ...deps,
    now: clock.now,
    count,
    identities,
    room: liveExecutions.room,
    shareOf: liveExecutions.shareOf,
    suspectRoom: liveExecutions.suspectRoom,
    someAtLimit: liveExecutions.someAtLimit,
    read: makeReader({
      ports,
      loadDefinition: ports.loadDefinition,
      effectOf,
      now: clock.now,
      understanding,
      isOld: async () => (await store.newestRelease()) > deps.release,
      loaded: liveExecutions.loaded,
    }),
    takeUp: (owned, of) => takeUp(adopt(owned, of), log),
  })
  const ticking = await startTicking({
    store,
    log,
    clock,
    identities,
    claims,
    liveExecutions: liveExecutions.all,
    stallWatch,
    reportEnds: deps.reportEnds,
    decideSoon: deps.decideSoon,
    every: deps.tickMs ?? TICK,
  })

  const checks = startWaitChecks({ db, store, ports, log, reportEnds: deps.reportEnds })
  const hasRoomFor = (workspaceId: string): boolean =>
    !stopping && !identities.renewing() && !claims.queueKnown() && liveExecutions.hasRoomFor(workspaceId)

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
      const live = liveExecutions.all.get(executionId)
      const workspaceId = parked.get(executionId)
      if (live) live.checkInbox()
      else if (workspaceId !== undefined && hasRoomFor(workspaceId)) claims.one({ workspaceId, executionId })
      else claims.soon()
    },
    offer: (executionId) => {
      const workspaceId = parked.get(executionId)
      const isHere = liveExecutions.all.has(executionId) || claims.isArriving(executionId)
      return workspaceId !== undefined && !isHere && hasRoomFor(workspaceId) ? claims.handOver() : undefined
    },
    running: () => liveExecutions.all.size,
    counts: () => ({ mended: checks.mended(), platform_errors: { ...platformErrors }, ended: { ...ended } }),
    ready: () => !stopping && performance.now() - ticking.beatAt() < SILENT,
    stop: async () => {
      stopping = true
      await checks.stop()
      await claims.stop()
      // Heartbeats continue while the worker drains: other workers would declare it dead after three seconds.
      await liveExecutions.drain()
      await ticking.stop()
      await identities.stop()
      stallWatch.stop()
    },
  }
}
