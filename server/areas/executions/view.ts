import type { BlobRef, ExecutionView } from '#engine/ports'
import type { Json } from '#model/definition'
import { toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import type { Execution, SimpleExecution } from './schema.ts'

/** Larger results are fetched by address, so that reading an execution stays cheap. */
const INLINE_RESULTS_BYTES = 1 << 20

const blobAddress = (executionId: string, blob: BlobRef): Json => ({
  $blob: `/api/workflows/executions/${toWire('exe', executionId)}/blobs/${blob.sha256}`,
  bytes: blob.bytes,
})

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
        nodes: nodes.map(({ blob, ...node }) =>
          blob ? { ...node, output: blobAddress(view.execution_id, blob) } : node,
        ),
      }
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
