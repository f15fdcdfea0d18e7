import { SECOND } from '../clock.ts'
import type { Logger } from '../log.ts'
import { makeBoundedFetch } from '../outgoing/bounded.ts'
import { msUntilNextCheck } from '../periodic-check.ts'
import { type Attributes, encodeMetrics, encodeTraces, type Metrics, type Span } from './otlp.ts'

// Sends spans and metrics to an OTLP collector over HTTP. Telemetry is dropped rather than delaying anything else: a
// collector that does not answer costs a bounded number of spans in memory and a line in the log. Spans that the
// collector refuses permanently are dropped, so that the spans after them are sent.

const FLUSH_EVERY = 2 * SECOND
const MAX_WAITING = 20_000
const MAX_BATCH = 2_000
const MAX_ANSWER = 64 * 1024
const ANSWER_WITHIN = 10 * SECOND
const WARN_EVERY = 60 * SECOND
/** The statuses that the OTLP specification allows to retry. Any other refusal is permanent. */
const RETRIED = new Set([429, 502, 503, 504])

class Refused extends Error {
  readonly isPermanent: boolean
  constructor(status: number) {
    super(`the collector answered ${status}`)
    this.isPermanent = !RETRIED.has(status)
  }
}

export type ExporterOptions = {
  /** The base URL, without `/v1/traces`. */
  endpoint: string
  headers: Record<string, string>
  resource: Attributes
  log: Logger
  /** Returns the metrics counted so far, or undefined if nothing has changed. */
  metrics(): Metrics | undefined
}

export function makeExporter(options: ExporterOptions) {
  const { resource, log } = options
  const base = options.endpoint.replace(/\/+$/, '')
  const fetch = makeBoundedFetch({ maxBytes: MAX_ANSWER, timeoutMs: ANSWER_WITHIN })
  let waiting: Span[] = []
  let dropped = 0
  let warnedAt = Number.NEGATIVE_INFINITY
  let sending: Promise<void> = Promise.resolve()
  let isQueued = false

  async function post(path: string, body: Buffer): Promise<void> {
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { ...options.headers, 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(body),
    })
    await response.arrayBuffer()
    if (!response.ok) throw new Refused(response.status)
  }

  const complain = (error: unknown): void => {
    if (performance.now() - warnedAt < WARN_EVERY) return
    warnedAt = performance.now()
    log.warn({ err: error, dropped }, 'telemetry could not be sent')
  }

  async function send(): Promise<void> {
    isQueued = false
    try {
      while (waiting.length > 0) {
        const batch = waiting.slice(0, MAX_BATCH)
        await post('/v1/traces', encodeTraces(resource, batch)).catch((error: unknown) => {
          if (!(error instanceof Refused && error.isPermanent)) throw error
          dropped += batch.length
          complain(error)
        })
        waiting = waiting.slice(batch.length)
      }
      const metrics = options.metrics()
      if (metrics) await post('/v1/metrics', encodeMetrics(resource, metrics))
    } catch (error) {
      complain(error)
    }
  }

  const flush = (): Promise<void> => {
    if (!isQueued) {
      isQueued = true
      sending = sending.then(send)
    }
    return sending
  }
  const timer = setInterval(() => void flush(), msUntilNextCheck(FLUSH_EVERY))
  timer.unref()

  return {
    add(spans: Span[]): void {
      if (waiting.length + spans.length > MAX_WAITING) {
        dropped += spans.length
        return
      }
      waiting.push(...spans)
    },
    flush,
    async stop(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}
