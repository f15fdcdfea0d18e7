import { Gauge, type Registry } from 'prom-client'
import type { Engine, EngineHealth } from '#engine/ports'
import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'

const KEPT = 10 * SECOND

const figures: Record<string, [help: string, of: (health: EngineHealth) => number]> = {
  queued: ['Executions that wait for a worker', (health) => health.queued],
  oldest_queued_seconds: ['For how long the oldest of them has waited', (health) => health.oldest_queued_s],
  running: ['Executions that a worker has', (health) => health.running],
  waiting: ['Executions that are parked', (health) => health.waiting],
  poison: ['Executions that are parked after five crashes', (health) => health.poison],
  workers: ['Workers that are alive', (health) => health.workers.filter(({ alive }) => alive).length],
}

/** The work of the whole installation, read at most once in ten seconds, however often it is scraped. */
export function addEngineFigures(
  registry: Registry,
  engine: Pick<Engine, 'health'>,
  log: Logger,
  now: () => number = () => performance.now(),
): void {
  let known: { at: number; health: Promise<EngineHealth | undefined> } | undefined
  const health = (): Promise<EngineHealth | undefined> => {
    if (known && now() - known.at < KEPT) return known.health
    const reading = engine.health().catch((error: Error) => {
      log.warn({ err: error }, 'the metrics say nothing of the engine')
      return undefined
    })
    known = { at: now(), health: reading }
    return reading
  }
  for (const [name, [help, of]] of Object.entries(figures))
    new Gauge({
      name: `heddle_engine_${name}`,
      help,
      registers: [registry],
      async collect() {
        const found = await health()
        // What is not known is left out: a nought, or what was true once, would look like a fact.
        if (found) this.set(of(found))
        else this.remove()
      },
    })
}
