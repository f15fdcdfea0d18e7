import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { BlobRef, Engine, ExecutionView, NodeUsage, WaitingFor } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { jsonSize } from '#model/size'
import { toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import type { Execution, SimpleExecution } from './schema.ts'

// An execution may have 64 MiB of outputs. Reading it stays cheap because large parts are returned as addresses.

/** Larger inputs and results are returned as addresses. */
const MAX_INLINE_RESULTS = 1 << 20
/** A larger node output is returned as an address, regardless of where the engine stores it. */
const MAX_INLINE_OUTPUT = 32 * 1024
/**
 * The maximum size of all node outputs in one response. Outputs beyond it are returned as addresses, unless they have
 * at most MAX_WAIT_FIELD bytes.
 */
const MAX_INLINE_OUTPUTS = 512 * 1024
/** The maximum size of all waits in one response. If it is exceeded, their large fields are omitted. */
const MAX_WAITS = 1 << 20
const MAX_WAIT_FIELD = 2048
const PACE_BYTES = 512 * 1024

type Named = { sha256: string; bytes: number }

export const blobAddress = (executionId: string, blob: Named): Json => ({
  $blob: `/api/workflows/executions/${toWire('exe', executionId)}/blobs/${blob.sha256}`,
  bytes: blob.bytes,
})

/** Describes a value that is stored in the row or journal as a blob that can be fetched. */
const named = (value: Json): Named & { text: string } => {
  const text = JSON.stringify(value)
  return { sha256: createHash('sha256').update(text).digest('hex'), bytes: Buffer.byteLength(text), text }
}

const isLargerThan = (value: Json, limit: number): boolean => jsonSize(value, limit) > limit

/** Shortens the waits. A question may have a megabyte, and an execution may have many questions. */
export function briefWaits(waits: WaitingFor[]): WaitingFor[] {
  if (!isLargerThan(waits as unknown as Json, MAX_WAITS)) return waits
  return waits.map((wait) => {
    const fields = Object.entries(wait)
    const large = fields.filter(([, value]) => isLargerThan(value as Json, MAX_WAIT_FIELD)).map(([field]) => field)
    if (large.length === 0) return wait
    const kept = Object.fromEntries(fields.filter(([field]) => !large.includes(field)))
    return { ...kept, left_out: large } as unknown as WaitingFor
  })
}

const NO_USAGE = { input_tokens: 0, output_tokens: 0, cost: 0, calls: 0, unpriced_calls: 0 }

/** Adds up the usage. The cost is the sum of the known costs, or null if none is known. */
function sumOf(usage: NodeUsage[]): Execution['usage'] {
  const [first, ...others] = usage
  if (first === undefined) return NO_USAGE
  const { node_id: _node, ...sum } = others.reduce(
    (a, b) => ({
      node_id: null,
      input_tokens: a.input_tokens + b.input_tokens,
      output_tokens: a.output_tokens + b.output_tokens,
      cost: a.cost === null ? b.cost : a.cost + (b.cost ?? 0),
      calls: a.calls + b.calls,
      unpriced_calls: a.unpriced_calls + b.unpriced_calls,
    }),
    first,
  )
  return sum
}

const withUsage = <N extends { node_id: string }>(nodes: N[], usage: NodeUsage[]): N[] => {
  if (usage.length === 0) return nodes
  const byNode = new Map(usage.map(({ node_id, ...counted }) => [node_id, counted]))
  return nodes.map((node) => {
    const counted = byNode.get(node.node_id)
    return counted ? { ...node, usage: counted } : node
  })
}

/** Returns the address from which the caller can fetch a value that is too large for the response. */
type Address = (blob: Named) => Json

/** Yields to the event loop after every half megabyte. */
function makePace(): (bytes: number) => Promise<void> {
  let left = PACE_BYTES
  return async (bytes) => {
    left -= bytes
    if (left > 0) return
    left = PACE_BYTES
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export function makeViews(blobs: Blobs, engine: () => Pick<Engine, 'readInput'>) {
  /**
   * If the blob store does not respond, the execution is still shown, and its results are an address regardless of
   * size.
   */
  const inline = async (blob: BlobRef, addressOf: Address): Promise<Json> => {
    let bytes: Buffer | undefined
    try {
      bytes = await blobs.get(blob.key)
    } catch {
      return addressOf(blob)
    }
    return bytes === undefined ? { $blob: null, bytes: blob.bytes, gone: true } : (JSON.parse(bytes.toString()) as Json)
  }

  const resultsOf = async (view: ExecutionView, addressOf: Address): Promise<Json> => {
    if (view.results_blob === null) return view.results
    return view.results_blob.bytes <= MAX_INLINE_RESULTS
      ? inline(view.results_blob, addressOf)
      : addressOf(view.results_blob)
  }

  const inputOf = (view: ExecutionView, addressOf: Address): Json =>
    view.large_input ? addressOf(view.large_input) : view.input

  type NodeWithOutput = Omit<ExecutionView['nodes'][number], 'blob'>

  /** Hashing fifteen megabytes takes a tenth of a second, so this function yields to the event loop. */
  async function shownNodes(view: ExecutionView, addressOf: Address): Promise<NodeWithOutput[]> {
    const shown: NodeWithOutput[] = []
    const pace = makePace()
    let room = MAX_INLINE_OUTPUTS
    for (const { blob, ...node } of view.nodes) {
      const size = blob || node.output === undefined ? 0 : jsonSize(node.output, MAX_INLINE_OUTPUT)
      if (blob) shown.push({ ...node, output: addressOf(blob) })
      else if (size > MAX_INLINE_OUTPUT || (size > MAX_WAIT_FIELD && size > room)) {
        shown.push({ ...node, output: addressOf(named(node.output ?? null)) })
        await pace(size)
      } else {
        room -= size
        shown.push(node)
      }
    }
    return shown
  }

  return {
    async whole(view: ExecutionView): Promise<Execution> {
      const {
        workspace_id: _workspace,
        system_slug,
        results_blob: _blob,
        large_input: _input,
        nodes: _nodes,
        usage,
        ...rest
      } = view
      const addressOf: Address = (blob) => blobAddress(view.execution_id, blob)
      return {
        ...rest,
        workflow_id: view.workflow_id ?? system_slug,
        trial: view.trigger.kind === 'trial',
        input: inputOf(view, addressOf),
        results: await resultsOf(view, addressOf),
        waiting_for: briefWaits(view.waiting_for),
        usage: sumOf(usage),
        nodes: withUsage(await shownNodes(view, addressOf), usage),
      }
    },

    /** Returns the value that a `$blob` address names. Undefined if this execution does not refer to it. */
    async blob(view: ExecutionView, sha256: string): Promise<Readable | string | undefined> {
      const kept = [view.results_blob, ...view.nodes.map(({ blob }) => blob ?? null)].find(
        (blob) => blob?.sha256 === sha256,
      )
      if (kept) return blobs.stream(kept.key)
      if (view.large_input?.sha256 === sha256) return engine().readInput(view.workspace_id, view.execution_id)
      const pace = makePace()
      for (const { output } of view.nodes) {
        if (output === undefined || !isLargerThan(output, MAX_WAIT_FIELD)) continue
        const one = named(output)
        if (one.sha256 === sha256) return one.text
        await pace(one.bytes)
      }
      return undefined
    },

    /** Returns results of any size, for callers that see nothing else of the execution. */
    async results(view: ExecutionView): Promise<Readable | string | undefined> {
      return view.results_blob === null ? JSON.stringify(view.results) : blobs.stream(view.results_blob.key)
    },

    /** `resultsAt`: the address from which the caller can fetch larger results with its own credential. */
    async simple(view: ExecutionView, resultsAt: string): Promise<SimpleExecution> {
      const asked = view.waiting_for.find(({ kind }) => kind === 'clarification')
      return {
        execution_id: view.execution_id,
        status: view.status,
        results: await resultsOf(view, ({ bytes }) => ({ $blob: resultsAt, bytes })),
        error: view.error && { code: view.error.code, message: view.error.message },
        question: asked
          ? {
              clarification_id: String(asked.clarification_id ?? ''),
              question: String(asked.question ?? ''),
              schema: (asked.schema ?? {}) as JsonObject,
            }
          : null,
        started_at: view.started_at,
        finished_at: view.finished_at,
      }
    },
  }
}

export type Views = ReturnType<typeof makeViews>
