import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { noPeers, type Peers } from '../peers.ts'
import type { AnyRoute } from './route.ts'

const METRICS = 'metrics'

type Admitted = { atWork: number; waiting: number }

/** Prometheus metrics of this process. */
export function makeMetrics(peers: Peers = noPeers) {
  const registry = new Registry()
  if (peers.count > 1) registry.setDefaultLabels({ process: String(peers.index) })
  collectDefaultMetrics({ register: registry })
  const seconds = new Histogram({
    name: 'heddle_http_request_seconds',
    help: 'Time from the first byte of a request to its response',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const overloaded = new Counter({
    name: 'heddle_http_overloaded_total',
    help: 'Requests refused because the service was overloaded',
    registers: [registry],
  })
  new Gauge({
    name: 'heddle_http_requests',
    help: 'Requests in progress, and requests that wait in the queue',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { atWork, waiting } = admitted()
      this.set({ state: 'at_work' }, atWork)
      this.set({ state: 'waiting' }, waiting)
    },
  })
  let admitted: () => Admitted = () => ({ atWork: 0, waiting: 0 })
  peers.onRequest(METRICS, () => registry.metrics())
  return {
    registry,
    /** Returns the metrics of all processes of this program. Each sample is labelled with its process. */
    async text(): Promise<string> {
      const [own, others] = await Promise.all([registry.metrics(), peers.requestAll(METRICS)])
      return others.length === 0 ? own : mergeMetrics([own, ...(others as string[])])
    },
    /** Sets the source of the numbers of requests at work and waiting. */
    watchAdmission(figures: () => Admitted): void {
      admitted = figures
    },
    observe: (route: AnyRoute, status: number, took: number): void =>
      seconds.observe({ operation: route.operation, status: String(status) }, took),
    overloaded: (): void => overloaded.inc(),
  }
}

export type Metrics = ReturnType<typeof makeMetrics>

/** Merges texts: the samples of a metric must be adjacent, with one help line. */
export function mergeMetrics(texts: string[]): string {
  const families = new Map<string, string[]>()
  for (const text of texts)
    for (const family of text.split(/^(?=# HELP )/m)) {
      const [help = '', type = '', ...samples] = family.trimEnd().split('\n')
      const known = families.get(help) ?? [help, type]
      known.push(...samples)
      families.set(help, known)
    }
  return `${[...families.values()].map((lines) => lines.join('\n')).join('\n\n')}\n`
}
