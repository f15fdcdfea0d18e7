import { Counter, Gauge, type Registry } from 'prom-client'
import type { EngineFigures } from '#engine/health'
import type { Engine, EngineCounts } from '#engine/ports'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'

const KEPT = 10 * SECOND

const figures: Record<string, [help: string, of: (seen: EngineFigures) => number]> = {
  queued: ['Executions that wait for a worker', (seen) => seen.queued],
  oldest_queued_seconds: ['For how long the oldest of them has waited', (seen) => seen.oldest_queued_s],
  running: ['Executions that a worker has', (seen) => seen.running],
  waiting: ['Executions that are parked', (seen) => seen.waiting],
  poison: ['Executions that are parked after five crashes', (seen) => seen.poison],
  workers: ['Workers that are alive', (seen) => seen.workers.filter(({ alive }) => alive).length],
}

const counters: Record<string, [help: string, of: (counts: EngineCounts) => number]> = {
  mended: ['Inconsistent waits of executions that this process repaired', (counts) => counts.mended],
}

/**
 * Adds the engine's metrics of the whole installation. They are read at most once in ten seconds, regardless of the
 * number of scrapes.
 */
export function addEngineFigures(
  registry: Registry,
  engine: Pick<Engine, 'figures' | 'counts'>,
  log: Logger,
  now: () => number = () => performance.now(),
): void {
  let known: { at: number; figures: Promise<EngineFigures | undefined> } | undefined
  const read = (): Promise<EngineFigures | undefined> => {
    if (known && now() - known.at < KEPT) return known.figures
    const reading = engine.figures().catch((error: Error) => {
      log.warn({ err: error }, 'the metrics of the engine could not be read')
      return undefined
    })
    known = { at: now(), figures: reading }
    return reading
  }
  for (const [name, [help, of]] of Object.entries(figures))
    new Gauge({
      name: `heddle_engine_${name}`,
      help,
      registers: [registry],
      async collect() {
        const found = await read()
        // Unknown figures are left out: zero or an old value would look like a fact.
        if (found) this.set(of(found))
        else this.remove()
      },
    })
  for (const [name, [help, of]] of Object.entries(counters))
    new Counter({
      name: `heddle_engine_${name}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(of(engine.counts()))
      },
    })
  new Counter({
    name: 'heddle_engine_platform_errors_total',
    help: 'Internal errors of the service that executions in this process encountered; each is retried',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [kind, count] of Object.entries(engine.counts().platform_errors)) this.inc({ kind }, count)
    },
  })
  new Counter({
    name: 'heddle_engine_ended_total',
    help: 'Executions that ended in the worker of this process, by status',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [status, count] of Object.entries(engine.counts().ended)) this.inc({ status }, count)
    },
  })
}

/** Adds the connections of this process to the database: open ones, and callers that wait for one. */
export function addDatabaseFigures(registry: Registry, db: Pick<Database, 'appPool' | 'enginePool'>): void {
  const pools = { requests: db.appPool, engine: db.enginePool }
  new Gauge({
    name: 'heddle_database_connections',
    help: 'Connections of this process to the database, and callers that wait for one',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        this.set({ pool, state: 'used' }, totalCount - idleCount)
        this.set({ pool, state: 'idle' }, idleCount)
        this.set({ pool, state: 'awaited' }, waitingCount)
      }
    },
  })
}
