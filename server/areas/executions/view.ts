import { createHash } from 'node:crypto'
import type { BlobRef, ExecutionView } from '#engine/ports'
import type { Json } from '#model/definition'
import { toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import type { Execution, SimpleExecution } from './schema.ts'

/** Larger results are fetched by address, so that reading an execution stays cheap. */
const INLINE_RESULTS_BYTES = 1 << 20

/** An output over this comes as an address, wherever the engine keeps it. */
const INLINE_OUTPUT_BYTES = 32 * 1024

const blobAddress = (executionId: string, blob: { sha256: string; bytes: number }): Json => ({
  $blob: `/api/workflows/executions/${toWire('exe', executionId)}/blobs/${blob.sha256}`,
  bytes: blob.bytes,
})

/** Outputs that the journal holds itself although they are large: what `set` and `map` gave. */
const largeInline = (output: Json | undefined): { sha256: string; bytes: number; text: string } | undefined => {
  if (output === undefined || output === null || typeof output === 'number' || typeof output === 'boolean')
    return undefined
  const text = JSON.stringify(output)
  if (text.length <= INLINE_OUTPUT_BYTES) return undefined
  return { sha256: createHash('sha256').update(text).digest('hex'), bytes: Buffer.byteLength(text), text }
}

export function makeViews(blobs: Blobs) {
  const inline = async (blob: BlobRef): Promise<Json> => {
    const bytes = await blobs.get(blob.key)
    return bytes === undefined ? { $blob: null, bytes: blob.bytes, gone: true } : (JSON.parse(bytes.toString()) as Json)
  }

  const resultsOf = async (view: ExecutionView): Promise<Json> => {
    if (view.results_blob === null) return view.results
    return view.results_blob.bytes <= INLINE_RESULTS_BYTES
      ? inline(view.results_blob)
      : blobAddress(view.execution_id, view.results_blob)
  }

  return {
    async whole(view: ExecutionView): Promise<Execution> {
      const { workspace_id: _workspace, system_slug, results_blob: _blob, nodes, ...rest } = view
      return {
        ...rest,
        workflow_id: view.workflow_id ?? system_slug,
        results: await resultsOf(view),
        nodes: nodes.map(({ blob, ...node }) => {
          const large = blob ?? largeInline(node.output)
          return large ? { ...node, output: blobAddress(view.execution_id, large) } : node
        }),
      }
    },

    /** What `$blob` names, as text; undefined where this execution refers to no such thing. */
    async blob(view: ExecutionView, sha256: string): Promise<Buffer | string | undefined> {
      const kept = [view.results_blob, ...view.nodes.map(({ blob }) => blob ?? null)].find(
        (blob) => blob?.sha256 === sha256,
      )
      if (kept) return blobs.get(kept.key)
      return view.nodes.map(({ output }) => largeInline(output)).find((large) => large?.sha256 === sha256)?.text
    },

    async simple(view: ExecutionView): Promise<SimpleExecution> {
      const asked = view.waiting_for.find(({ kind }) => kind === 'clarification')
      return {
        execution_id: view.execution_id,
        status: view.status,
        results: view.results_blob === null ? view.results : await inline(view.results_blob),
        error: view.error && { code: view.error.code, message: view.error.message },
        question: asked
          ? {
              clarification_id: String(asked.clarification_id ?? ''),
              question: String(asked.question ?? ''),
              schema: asked.schema ?? {},
            }
          : null,
        started_at: view.started_at,
        finished_at: view.finished_at,
      }
    },
  }
}

export type Views = ReturnType<typeof makeViews>
