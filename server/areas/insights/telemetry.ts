import { createHash } from 'node:crypto'
import type { FinishedRun } from '#engine/finished-run'
import { readTraceparent, writeTraceparent } from '#model/traceparent'
import type { Config } from '#platform/config'
import { toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import { makeExporter } from '#platform/telemetry/exporter'
import type { Attributes, Metrics, Span } from '#platform/telemetry/otlp'

// An execution is a trace, and each of its nodes is a span. Both are created when the execution ends. The id of the
// trace is the id of the execution, so that one can be found by the other, unless the caller sent its own trace.

/** The bounds of the histogram in milliseconds. */
const BOUNDS = [10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000, 600_000, 3_600_000] as const

const traceIdOf = (executionId: string): Buffer => Buffer.from(executionId.replaceAll('-', ''), 'hex')
const spanIdOf = (executionId: string, node: string): Buffer =>
  createHash('sha256').update(`${executionId} ${node}`).digest().subarray(0, 8)

/** Returns the trace of an execution: the caller's trace, or its own. */
function traceOf({ executionId, traceparent }: Pick<FinishedRun, 'executionId' | 'traceparent'>) {
  const caller = readTraceparent(traceparent)
  return caller
    ? {
        traceId: Buffer.from(caller.traceId, 'hex'),
        parent: Buffer.from(caller.spanId, 'hex'),
        sampled: caller.sampled,
      }
    : { traceId: traceIdOf(executionId), parent: undefined, sampled: true }
}

/**
 * Returns the traceparent for a request of a node. Its parent is the span of the node, or of the map or loop around the
 * node.
 */
export const traceparentOf = ({
  executionId,
  traceparent,
  nodePath,
}: Pick<FinishedRun, 'executionId' | 'traceparent'> & { nodePath: string }): string => {
  const { traceId, sampled } = traceOf({ executionId, traceparent })
  const node = nodePath.replace(/[#[].*$/s, '')
  return writeTraceparent({
    traceId: traceId.toString('hex'),
    spanId: spanIdOf(executionId, node).toString('hex'),
    sampled,
  })
}

/**
 * Returns the spans of an execution. Attributes contain only the code of an error, because messages may quote data of
 * tenants.
 */
export function spansOf(run: FinishedRun): Span[] {
  const { traceId, parent, sampled } = traceOf(run)
  // The caller does not record this trace.
  if (!sampled) return []
  const root = spanIdOf(run.executionId, '')
  const attributes: Attributes = {
    'heddle.execution_id': toWire('exe', run.executionId),
    'heddle.workspace_id': toWire('ws', run.workspaceId),
    ...(run.workflowId !== null && { 'heddle.workflow_id': toWire('wf', run.workflowId) }),
    ...(run.versionId !== null && { 'heddle.version_id': toWire('wfv', run.versionId) }),
    ...(run.parentExecutionId !== null && { 'heddle.parent_execution_id': toWire('exe', run.parentExecutionId) }),
    'heddle.trigger': run.trigger.kind,
    'heddle.status': run.status,
  }
  const failed = run.status === 'failed' || run.status === 'timed_out'
  const nodes = run.nodes.flatMap((node): Span[] => {
    if (node.startedAt === null) return []
    return [
      {
        traceId,
        spanId: spanIdOf(run.executionId, node.id),
        parentSpanId: root,
        name: node.id,
        startedAt: node.startedAt,
        finishedAt: node.finishedAt ?? run.finishedAt,
        attributes: {
          'heddle.node_id': node.id,
          'heddle.node_type': node.type,
          'heddle.status': node.status,
          'heddle.attempt': node.attempt,
        },
        ...(node.errorCode !== null && { error: node.errorCode }),
      },
    ]
  })
  return [
    {
      traceId,
      spanId: root,
      ...(parent && { parentSpanId: parent }),
      name: 'execution',
      startedAt: run.startedAt,
      finishedAt: run.finishedAt,
      attributes,
      ...(failed && { error: run.error?.code ?? run.status }),
    },
    ...nodes,
  ]
}

/** Counts executions of this process by status, with their durations, since the process started. */
export function makeRunMetrics(now = Date.now) {
  const since = now()
  const byStatus = new Map<string, { counts: number[]; sum: number }>()
  let isChanged = false
  return {
    note(run: Pick<FinishedRun, 'status' | 'startedAt' | 'finishedAt'>): void {
      const ms = Math.max(0, run.finishedAt - run.startedAt)
      const known = byStatus.get(run.status) ?? { counts: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0 }
      const at = BOUNDS.findIndex((bound) => ms <= bound)
      known.counts[at === -1 ? BOUNDS.length : at]! += 1
      known.sum += ms
      byStatus.set(run.status, known)
      isChanged = true
    },
    read(): Metrics | undefined {
      if (!isChanged) return undefined
      isChanged = false
      const points = [...byStatus].map(([status, { counts, sum }]) => ({
        attributes: { 'heddle.status': status },
        counts: [...counts],
        sum,
      }))
      return {
        since,
        at: now(),
        counters: [
          {
            name: 'heddle.executions',
            unit: '{execution}',
            points: points.map(({ attributes, counts }) => ({ attributes, value: counts.reduce((a, b) => a + b, 0) })),
          },
        ],
        histograms: [{ name: 'heddle.execution.duration', unit: 'ms', bounds: BOUNDS, points }],
      }
    },
  }
}

/** Parses `name=value,name=value`, the notation of OpenTelemetry's environment variable. */
export function headersOf(text: string | null): Record<string, string> {
  const pairs = (text ?? '').split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim()
    return at > 0 && name !== '' ? [[name, decoded(pair.slice(at + 1).trim())]] : []
  })
  return Object.fromEntries(pairs)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export type Telemetry = { note(run: FinishedRun): void; stop(): Promise<void> }

/** Returns undefined if the operator has configured no collector. Then nothing is created or counted. */
export function makeTelemetry({ config, log }: { config: Config; log: Logger }): Telemetry | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === null) return undefined
  const metrics = makeRunMetrics()
  const exporter = makeExporter({
    endpoint,
    headers: headersOf(config.OTEL_EXPORTER_OTLP_HEADERS),
    resource: { 'service.name': config.OTEL_SERVICE_NAME },
    log,
    metrics: metrics.read,
  })
  return {
    note(run) {
      exporter.add(spansOf(run))
      metrics.note(run)
    },
    stop: exporter.stop,
  }
}
