import { RELEASE } from '#model/release'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { areaCallsFor } from './area-calls.ts'
import { makeDatabaseClock } from './clock.ts'
import { makeDefinitions } from './definitions.ts'
import { makeEndReports } from './end-reports.ts'
import { makeFlowDecider, onFlowHinted } from './flow/decider.ts'
import { readFigures, readHealth } from './health.ts'
import { makeHints } from './hints.ts'
import { makeStartQueue } from './journal/queue.ts'
import { nudge, onNudged } from './nudges.ts'
import { type Engine, type EnginePorts, type ExecutionView, noCounts, type Started } from './ports.ts'
import { makeReadTurns, readEvents, readExecution, readInput } from './read.ts'
import { makeReadNode } from './read-node.ts'
import { isEnded, retryExecution } from './retrying.ts'
import { makeSignalling } from './signalling.ts'
import { defaultQueueLimits, type InnerStart, makeStarter, type QueueLimits } from './start.ts'
import { defaultLimits, type WorkerLimits } from './worker/live-executions.ts'
import type { RetryPauses } from './worker/platform-retry.ts'
import { makeStore } from './worker/store.ts'
import { makeWorker, type Worker } from './worker/worker.ts'

export type EngineOptions = {
  db: Database
  ports: EnginePorts
  log: Logger
  /** An API process starts and reads executions; only a worker executes them. */
  role?: 'all' | 'api'
  limits?: Partial<WorkerLimits>
  queue?: Partial<QueueLimits>
  /** The release number of this process. Only tests set it. */
  release?: number
  /** Milliseconds between two ticks of the worker. Half a second by default; only tests set it. */
  tickMs?: number
  /** The pauses between retries after a fault of the platform. Only tests set shorter ones. */
  pauses?: RetryPauses
}

/** The hint that makes workers claim any queued execution. */
const ANY = ''

export const startEngine = async (options: EngineOptions): Promise<Engine> => {
  const { db, log } = options
  // Readers and the worker share this cache.
  const ports = { ...options.ports, loadDefinition: makeDefinitions(options.ports) }
  const store = makeStore(db)
  const { release = RELEASE } = options
  const clock = makeDatabaseClock()
  const [hints] = await Promise.all([makeHints({ db, log }), store.noteRelease(release)])
  const areaCalls = areaCallsFor(db.appPool.options.max)
  const readTurns = makeReadTurns()
  const ends = makeEndReports({ db, store, ports, areaCalls, log })
  let starter: ReturnType<typeof makeStarter>
  const deciding = makeFlowDecider({
    db,
    store,
    log,
    queued: () => (worker ? worker.claimSoon() : nudge(db, ANY)),
  })
  const worker: Worker | undefined =
    options.role === 'api'
      ? undefined
      : await makeWorker({
          db,
          store,
          ports,
          areaCalls,
          hints,
          clock,
          log,
          release,
          tickMs: options.tickMs,
          pauses: options.pauses,
          limits: { ...defaultLimits, ...options.limits },
          startChild: (child) => starter.start(child, Number.POSITIVE_INFINITY),
          reportEnds: ends.report,
          decideSoon: deciding.soon,
        })
  const queue = makeStartQueue({ pool: db.enginePool, log })
  starter = makeStarter({
    worker,
    store,
    queue,
    limits: { ...defaultQueueLimits, ...options.queue },
    decideSoon: deciding.soon,
  })
  const [stopListening, stopListeningToFlows] = worker
    ? await Promise.all([onNudged(db, worker.nudged), onFlowHinted(db, deciding.soon)])
    : []

  const startAndHint = async (wanted: InnerStart): Promise<Started> => {
    const started = await starter.start(wanted)
    if (started.status === 'queued' && !worker) nudge(db, started.executionId)
    return started
  }

  const view = (workspaceId: string, executionId: string): Promise<ExecutionView | undefined> =>
    readExecution(db, readTurns, ports.loadDefinition, workspaceId, executionId)

  const waitFor: Engine['waitFor'] = async (workspaceId, executionId, ms, signal) => {
    const until = performance.now() + ms
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const off = hints.on((ids) => {
        if (ids.includes(executionId) || ids.includes('*')) resolve()
      })
      // Read the status only after the listener is added; an end before that would otherwise go unnoticed.
      try {
        const status = await store.statusOf(workspaceId, executionId)
        const left = until - performance.now()
        if (!status || isEnded(status) || left <= 0 || signal?.aborted) return await view(workspaceId, executionId)
        const timer = setTimeout(resolve, Math.min(left, SECOND))
        signal?.addEventListener('abort', () => resolve(), { once: true })
        await promise
        clearTimeout(timer)
      } finally {
        off()
      }
    }
  }

  let retired: Promise<void> | undefined
  const retire = (): Promise<void> => {
    retired ??= (async () => {
      await stopListening?.()
      await stopListeningToFlows?.()
      await worker?.stop()
    })()
    return retired
  }

  return {
    start: startAndHint,
    startMany: (starts) => Promise.all(starts.map(startAndHint)),
    startedBefore: (workspaceId, key) => starter.startedBefore(workspaceId, key),
    ...makeSignalling(db, worker),
    retry: (wanted) => retryExecution({ db, store, ports, readTurns, start: startAndHint }, wanted),
    waitFor,
    readExecution: view,
    readInput: (workspaceId, executionId) => readInput(db, workspaceId, executionId),
    statusOf: store.statusOf,
    readNode: makeReadNode({ db, blobs: ports.blobs, loadDefinition: ports.loadDefinition, inTurn: readTurns }),
    readEvents: (workspaceId, executionId, after, limit) => readEvents(db, workspaceId, executionId, after, limit),
    onAppended: hints.on,
    onEnded: hints.onEnded,
    health: () => readHealth(db),
    figures: () => db.engine(readFigures),
    counts: () => worker?.counts() ?? noCounts(),
    ready: () => worker?.ready() ?? true,
    retire,
    stop: async () => {
      await retire()
      await deciding.stop()
      await ends.stop()
      await hints.stop()
    },
  }
}
