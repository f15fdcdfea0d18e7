import type { Definition, ExecutionStatus } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { newId, toWire } from '#platform/ids'
import { initiatorsOfRow, joinInitiators } from './initiators.ts'
import { hydrate, offload } from './outputs.ts'
import type { EnginePorts, Retry, Started, StartLabels } from './ports.ts'
import { type makeReadTurns, readState } from './read.ts'
import { seedFor } from './retry-seed.ts'
import type { InnerStart } from './start.ts'
import type { Labelled } from './worker/start-store.ts'
import type { Store } from './worker/store.ts'

const ENDED = new Set<ExecutionStatus>(['succeeded', 'failed', 'cancelled', 'timed_out'])

export const isEnded = (status: ExecutionStatus): boolean => ENDED.has(status)

const labelsOf = ({ priority, tags, metadata, scheduled_at }: Labelled): StartLabels => ({
  ...(priority !== null && { priority }),
  ...(tags && { tags }),
  ...(metadata && { metadata }),
  ...(scheduled_at && { scheduledAt: scheduled_at }),
})

type RetryDeps = {
  db: Database
  store: Store
  ports: EnginePorts
  readTurns: ReturnType<typeof makeReadTurns>
  start(wanted: InnerStart): Promise<Started>
}

/** Starts a new execution that keeps the settled nodes upstream of the restart point. */
export async function retryExecution(deps: RetryDeps, wanted: Retry): Promise<Started> {
  const { db, store, ports, readTurns } = deps
  const found = await readState(db, readTurns, wanted.workspaceId, wanted.executionId, { whole: true })
  if (!found) throw problem('not_found')
  if (!isEnded(found.row.status)) {
    throw problem('not_retryable', 'The execution is still running. Cancel it first, or wait until it ends.')
  }
  const row = await store.startOf(wanted.workspaceId, wanted.executionId)
  if (!row) throw problem('not_found')
  const load = (ref: string): Promise<Definition> => ports.loadDefinition(wanted.workspaceId, ref)
  const target = wanted.target ?? {
    definitionRef: row.definition_ref,
    workflowId: row.workflow_id,
    versionId: row.version_id,
    systemSlug: row.system_slug,
    timeoutS: row.timeout_s,
    flow: wanted.flow ?? null,
    principalId: row.principal_id,
  }
  const [oldDefinition, definition] = await Promise.all([load(row.definition_ref), load(target.definitionRef)])
  const executionId = wanted.retryId ?? newId()
  const kept = seedFor({ definition: oldDefinition, state: found.state }, definition, wanted.from)
  const snapshot = await hydrate(ports.blobs, kept)
  // Blobs are deleted with the week of the execution that made them, so the new execution gets copies.
  for (const [id, node] of Object.entries(snapshot.nodes)) {
    if (!node.blob) continue
    const blob = await offload(
      ports.blobs,
      { workspaceId: wanted.workspaceId, executionId },
      JSON.stringify(node.output),
      true,
    )
    if (blob) snapshot.nodes[id] = { ...node, blob }
  }
  return deps.start({
    ...target,
    executionId,
    workspaceId: wanted.workspaceId,
    input: found.row.input,
    trigger: wanted.trigger,
    startedBy: wanted.startedBy,
    initiatedBy: joinInitiators(
      wanted.startedBy === null
        ? []
        : [{ kind: 'retry', id: toWire('usr', wanted.startedBy), user_id: wanted.startedBy }],
      initiatorsOfRow(found.row),
    ),
    retryOf: wanted.executionId,
    snapshot,
    labels: labelsOf(row),
    ...(wanted.idempotency && { idempotency: wanted.idempotency }),
  })
}
