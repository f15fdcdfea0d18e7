import type { Definition } from '#model/definition'
import { RELEASE } from '#model/release'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { newId, toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import { areaCallsFor } from './area-calls.ts'
import { makeDatabaseClock } from './clock.ts'
import { makeDefinitions } from './definitions.ts'
import { makeEnds } from './ends.ts'
import { makeDeciding, onFlowHinted } from './flow/deciding.ts'
import { readFigures, readHealth } from './health.ts'
import { makeHints } from './hints.ts'
import { initiatorsOfRow, joinInitiators } from './initiators.ts'
import { makeStartQueue } from './journal/queue.ts'
import { nudge, onNudged } from './nudges.ts'
import { hydrate, offload } from './outputs.ts'
import type {
  Engine,
  EnginePorts,
  ExecutionView,
  ReleaseOutcome,
  Retry,
  Signal,
  SignalOutcome,
  Started,
  StartLabels,
} from './ports.ts'
import { makeReadTurns, readEvents, readExecution, readInput, readState } from './read.ts'
import { makeReadNode } from './read-node.ts'
import { seedFor } from './retry.ts'
import { defaultQueueLimits, type InnerStart, makeStarter, type QueueLimits } from './start.ts'
import { hasBadText } from './text.ts'
import { handOver } from './worker/hand-over.ts'
import type { Pauses } from './worker/patience.ts'
import { type Labelled, makeStore } from './worker/store.ts'
import { defaultLimits, makeWorker, type Worker, type WorkerLimits } from './worker/worker.ts'

export type EngineOptions = {
  db: Database
  ports: EnginePorts
  log: Logger
  /** An API process starts and reads executions; only a worker executes them. */
  role?: 'all' | 'api'
  limits?: Partial<WorkerLimits>
  queue?: Partial<QueueLimits>
  /** Which release this is; another one only in tests. */
  release?: number
  /** Milliseconds between two ticks of the worker; others than half a second only in tests. */
  tickMs?: number
  /** Milliseconds between two looks at the waits of executions. */
  checkMs?: number
  /** Between two tries of what met trouble of the service; shorter ones only in tests. */
  pauses?: Pauses
}

/** Workers that are told of it look for whatever is queued. */
const ANY = ''

const labelsOf = ({ priority, tags, metadata, scheduled_at }: Labelled): StartLabels => ({
  ...(priority !== null && { priority }),
  ...(tags && { tags }),
  ...(metadata && { metadata }),
  ...(scheduled_at && { scheduledAt: scheduled_at }),
})

const ENDED = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])

export const startEngine = async (options: EngineOptions): Promise<Engine> => {
  const { db, log } = options
  // Kept for readers and the worker alike.
  const ports = { ...options.ports, loadDefinition: makeDefinitions(options.ports) }
  const store = makeStore(db)
  const { release = RELEASE } = options
  await store.noteRelease(release)
  const clock = makeDatabaseClock()
  const hints = await makeHints({ db, log })
  const areaCalls = areaCallsFor(db.appPool.options.max)
  const readTurns = makeReadTurns()
  const ends = makeEnds({ db, store, ports, areaCalls, log })
  let starter: ReturnType<typeof makeStarter>
  const deciding = makeDeciding({
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
          checkMs: options.checkMs,
          pauses: options.pauses,
          limits: { ...defaultLimits, ...options.limits },
          startChild: (child) => starter.start(child, Number.POSITIVE_INFINITY),
          tell: ends.tell,
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
  const stopListening = worker && (await onNudged(db, worker.nudged))
  const stopListeningToFlows = worker && (await onFlowHinted(db, deciding.soon))

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
      // Looked at after the listener is there: an end between the two would go unnoticed.
      try {
        const status = await store.statusOf(workspaceId, executionId)
        const left = until - performance.now()
        if (!status || ENDED.has(status) || left <= 0 || signal?.aborted) return await view(workspaceId, executionId)
        const timer = setTimeout(resolve, Math.min(left, SECOND))
        signal?.addEventListener('abort', () => resolve(), { once: true })
        await promise
        clearTimeout(timer)
      } finally {
        off()
      }
    }
  }

  const retry = async (wanted: Retry): Promise<Started> => {
    const found = await readState(db, readTurns, wanted.workspaceId, wanted.executionId, { whole: true })
    if (!found) throw problem('not_found')
    if (!ENDED.has(found.row.status)) {
      throw problem('not_retryable', 'The execution is still under way. Cancel it first, or wait for its end.')
    }
    const row = await store.startOf(wanted.workspaceId, wanted.executionId)
    if (!row) throw problem('not_found')
    const load = (ref: string): Promise<Definition> => ports.loadDefinition(wanted.workspaceId, ref)
    const target = wanted.target ?? {
      definitionRef: row.definition_ref,
      workflowId: row.workflow_id,
      versionId: row.version_id,
      systemSlug: row.system_slug,
      timeoutS: row.timeout_s,
      flow: wanted.flow ?? null,
      principalId: row.principal_id,
    }
    const [oldDefinition, definition] = await Promise.all([load(row.definition_ref), load(target.definitionRef)])
    const executionId = wanted.retryId ?? newId()
    const kept = seedFor({ definition: oldDefinition, state: found.state }, definition, wanted.from)
    const snapshot = await hydrate(ports.blobs, kept)
    // Blobs go with the week of the execution that made them, so the new one gets its own.
    for (const [id, node] of Object.entries(snapshot.nodes)) {
      if (!node.blob) continue
      const blob = await offload(
        ports.blobs,
        { workspaceId: wanted.workspaceId, executionId },
        JSON.stringify(node.output),
        true,
      )
      if (blob) snapshot.nodes[id] = { ...node, blob }
    }
    return startAndHint({
      ...target,
      executionId,
      workspaceId: wanted.workspaceId,
      input: found.row.input,
      trigger: wanted.trigger,
      startedBy: wanted.startedBy,
      initiatedBy: joinInitiators(
        wanted.startedBy === null
          ? []
          : [{ kind: 'retry', id: toWire('usr', wanted.startedBy), user_id: wanted.startedBy }],
        initiatorsOfRow(found.row),
      ),
      retryOf: wanted.executionId,
      snapshot,
      labels: labelsOf(row),
      ...(wanted.idempotency && { idempotency: wanted.idempotency }),
    })
  }

  const storable = (message: Signal): string => {
    const text = JSON.stringify(message)
    if (!hasBadText(text)) return text
    throw problem('malformed', 'The message holds NUL characters or halves of surrogate pairs, which cannot be stored.')
  }

  const SIGNAL = 'select engine.signal($1, $2, $3, $4::json) as outcome'
  const signal: Engine['signal'] = async (tx, to, message) => {
    const values = [to.workspaceId, to.executionId, to.key, storable(message)]
    const { outcome } = await tx.row<{ outcome: SignalOutcome }>(SIGNAL, values)
    if (outcome === 'accepted') nudge(tx, to.executionId)
    return outcome
  }

  const releasePoison: Engine['release'] = async (tx, { workspaceId, executionId }) => {
    const { outcome } = await tx.row<{ outcome: ReleaseOutcome }>('select engine.release($1, $2) as outcome', [
      workspaceId,
      executionId,
    ])
    if (outcome === 'accepted') nudge(tx, executionId)
    return outcome
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
    signal,
    send: (tx, to, message, { isLast } = { isLast: false }) => {
      const values = [to.workspaceId, to.executionId, to.key, storable(message)]
      const offer = isLast ? worker?.offer(to.executionId) : undefined
      if (offer) return handOver(db, tx, offer, values)
      tx.send(SIGNAL, values)
      nudge(tx, to.executionId)
    },
    cancel: (tx, to, by) => signal(tx, { ...to, key: 'cancel' }, { type: 'cancel', by }),
    release: releasePoison,
    retry,
    waitFor,
    readExecution: view,
    readInput: (workspaceId, executionId) => readInput(db, workspaceId, executionId),
    statusOf: store.statusOf,
    readNode: makeReadNode({ db, blobs: ports.blobs, loadDefinition: ports.loadDefinition, inTurn: readTurns }),
    readEvents: (workspaceId, executionId, after, limit) => readEvents(db, workspaceId, executionId, after, limit),
    onAppended: hints.on,
    health: () => readHealth(db),
    figures: () => db.engine(readFigures),
    counts: () => ({
      mended: worker?.mended() ?? 0,
      platform_errors: worker?.platformErrors() ?? { database: 0, storage: 0, load: 0 },
    }),
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
