import { bytes, double, fixed64, integer, message, packedDoubles, packedFixed64, text } from './protobuf.ts'

// Encodes the OTLP messages that the exporter sends, with the field numbers of opentelemetry-proto 1.x.

export type Attributes = Record<string, string | number | boolean>

export type Span = {
  traceId: Uint8Array
  spanId: Uint8Array
  parentSpanId?: Uint8Array
  name: string
  /** Milliseconds since 1970. */
  startedAt: number
  finishedAt: number
  attributes: Attributes
  /** The reason for the failure. Absent if the span did not fail. */
  error?: string
}

export type Counter = { name: string; unit: string; points: { attributes: Attributes; value: number }[] }
export type Histogram = {
  name: string
  unit: string
  bounds: readonly number[]
  points: { attributes: Attributes; counts: readonly number[]; sum: number }[]
}
export type Metrics = { since: number; at: number; counters: Counter[]; histograms: Histogram[] }

const nanoseconds = (ms: number): bigint => BigInt(Math.max(0, Math.round(ms * 1000))) * 1000n

function anyValue(value: string | number | boolean): Buffer {
  if (typeof value === 'string') return text(1, value)
  if (typeof value === 'boolean') return integer(2, value ? 1 : 0)
  return Number.isSafeInteger(value) && value >= 0 ? integer(3, value) : double(4, value)
}

const attributes = (field: number, all: Attributes): Buffer[] =>
  Object.entries(all).map(([key, value]) => message(field, text(1, key), message(2, anyValue(value))))

const resource = (all: Attributes): Buffer => message(1, ...attributes(1, all))
const SCOPE = message(1, text(1, 'heddle'))

const INTERNAL = 1
const ERROR = 2

const encodeSpan = (span: Span): Buffer =>
  message(
    2,
    bytes(1, span.traceId),
    bytes(2, span.spanId),
    ...(span.parentSpanId ? [bytes(4, span.parentSpanId)] : []),
    text(5, span.name),
    integer(6, INTERNAL),
    fixed64(7, nanoseconds(span.startedAt)),
    fixed64(8, nanoseconds(Math.max(span.startedAt, span.finishedAt))),
    ...attributes(9, span.attributes),
    ...(span.error === undefined ? [] : [message(15, text(2, span.error), integer(3, ERROR))]),
  )

/** Returns an ExportTraceServiceRequest. */
export const encodeTraces = (of: Attributes, spans: readonly Span[]): Buffer =>
  message(1, resource(of), message(2, SCOPE, ...spans.map(encodeSpan)))

const CUMULATIVE = 2

const times = ({ since, at }: Metrics): Buffer[] => [fixed64(2, nanoseconds(since)), fixed64(3, nanoseconds(at))]

const encodeCounter = ({ name, unit, points }: Counter, of: Metrics): Buffer =>
  message(
    2,
    text(1, name),
    text(3, unit),
    message(
      7,
      ...points.map((point) => message(1, ...times(of), double(4, point.value), ...attributes(7, point.attributes))),
      integer(2, CUMULATIVE),
      integer(3, 1),
    ),
  )

const encodeHistogram = ({ name, unit, bounds, points }: Histogram, of: Metrics): Buffer =>
  message(
    2,
    text(1, name),
    text(3, unit),
    message(
      9,
      ...points.map(({ attributes: its, counts, sum }) =>
        message(
          1,
          ...times(of),
          fixed64(4, BigInt(counts.reduce((a, b) => a + b, 0))),
          double(5, sum),
          packedFixed64(6, counts),
          packedDoubles(7, bounds),
          ...attributes(9, its),
        ),
      ),
      integer(2, CUMULATIVE),
    ),
  )

/** Returns an ExportMetricsServiceRequest. */
export const encodeMetrics = (of: Attributes, metrics: Metrics): Buffer =>
  message(
    1,
    resource(of),
    message(
      2,
      SCOPE,
      ...metrics.counters.map((counter) => encodeCounter(counter, metrics)),
      ...metrics.histograms.map((histogram) => encodeHistogram(histogram, metrics)),
    ),
  )
