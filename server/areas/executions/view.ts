import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { BlobRef, ExecutionView, WaitingFor } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { jsonSize } from '#model/size'
import { toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import type { Execution, SimpleExecution } from './schema.ts'

// An execution may hold 64 MiB of outputs; reading it stays cheap because large parts are addresses.

/** Larger inputs and results are fetched by address. */
const MAX_INLINE_RESULTS = 1 << 20
/** A larger output is fetched by address, wherever the engine keeps it. */
const MAX_INLINE_OUTPUT = 32 * 1024
/** What the outputs of all nodes may take of one answer. The rest are fetched by address, small as they may be. */
const MAX_INLINE_OUTPUTS = 512 * 1024
/** What the waits may take of one answer; beyond it they lose their large fields. */
const MAX_WAITS = 1 << 20
const MAX_WAIT_FIELD = 2048

type Named = { sha256: string; bytes: number }

const blobAddress = (executionId: string, blob: Named): Json => ({
  $blob: `/api/workflows/executions/${toWire('exe', executionId)}/blobs/${blob.sha256}`,
  bytes: blob.bytes,
})

/** A value that stands in the row or journal itself, as something to be fetched. */
const named = (value: Json): Named & { text: string } => {
  const text = JSON.stringify(value)
  return { sha256: createHash('sha256').update(text).digest('hex'), bytes: Buffer.byteLength(text), text }
}

const isLargerThan = (value: Json, limit: number): boolean => jsonSize(value, limit) > limit

/** Questions may ask for a megabyte each, and an execution may ask many. */
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

/** Where what is too large for an answer can be fetched by anyone who asks. */
type Address = (blob: Named) => Json

export function makeViews(blobs: Blobs) {
  const inline = async (blob: BlobRef): Promise<Json> => {
    const bytes = await blobs.get(blob.key)
    return bytes === undefined ? { $blob: null, bytes: blob.bytes, gone: true } : (JSON.parse(bytes.toString()) as Json)
  }

  const resultsOf = async (view: ExecutionView, addressOf: Address): Promise<Json> => {
    if (view.results_blob === null) return view.results
    return view.results_blob.bytes <= MAX_INLINE_RESULTS ? inline(view.results_blob) : addressOf(view.results_blob)
  }

  const inputOf = (view: ExecutionView, addressOf: Address): Json => {
    if (!isLargerThan(view.input, MAX_INLINE_RESULTS / 4)) return view.input
    const input = named(view.input)
    return input.bytes <= MAX_INLINE_RESULTS ? view.input : addressOf(input)
  }

  return {
    async whole(view: ExecutionView): Promise<Execution> {
      const { workspace_id: _workspace, system_slug, results_blob: _blob, nodes, ...rest } = view
      const addressOf: Address = (blob) => blobAddress(view.execution_id, blob)
      let room = MAX_INLINE_OUTPUTS
      return {
        ...rest,
        workflow_id: view.workflow_id ?? system_slug,
        input: inputOf(view, addressOf),
        results: await resultsOf(view, addressOf),
        waiting_for: briefWaits(view.waiting_for),
        nodes: nodes.map(({ blob, ...node }) => {
          if (blob) return { ...node, output: addressOf(blob) }
          if (node.output === undefined) return node
          const size = jsonSize(node.output, MAX_INLINE_OUTPUT)
          if (size > MAX_INLINE_OUTPUT || (size > MAX_WAIT_FIELD && size > room))
            return { ...node, output: addressOf(named(node.output)) }
          room -= size
          return node
        }),
      }
    },

    /** What `$blob` names; undefined where this execution refers to no such thing. */
    async blob(view: ExecutionView, sha256: string): Promise<Readable | string | undefined> {
      const kept = [view.results_blob, ...view.nodes.map(({ blob }) => blob ?? null)].find(
        (blob) => blob?.sha256 === sha256,
      )
      if (kept) return blobs.stream(kept.key)
      for (const value of [view.input, ...view.nodes.map(({ output }) => output)]) {
        if (value === undefined || !isLargerThan(value, MAX_WAIT_FIELD)) continue
        const one = named(value)
        if (one.sha256 === sha256) return one.text
      }
      return undefined
    },

    /** Results of any size, for anyone who sees nothing else of the execution. */
    async results(view: ExecutionView): Promise<Readable | string | undefined> {
      return view.results_blob === null ? JSON.stringify(view.results) : blobs.stream(view.results_blob.key)
    },

    /** `resultsAt`: where larger results can be fetched with the credential of anyone who asks. */
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
