import type { JsonObject } from '#model/definition'
import type { Effect } from '#model/node'
import type { LoadDefinition } from '../definitions.ts'
import { initiatorsOfRow } from '../initiators.ts'
import { replay } from '../interpreter/apply.ts'
import { emptyState, type GraphState } from '../interpreter/state.ts'
import { hydrate } from '../outputs.ts'
import type { EnginePorts } from '../ports.ts'
import { NeedsNewerRelease, type ReleaseSupport } from '../release.ts'
import { variablesAtStart } from '../variables.ts'
import type { ExecutionRow, Inboxes, Journals } from './claim-store.ts'
import { bytesToLoad, type LoadedBytes, requireMemory } from './memory-limit.ts'
import { contextOf, mayOpenRequests, type Owned } from './owned.ts'

/** Reads a claimed execution: its row, its journal since the last snapshot, and its messages. */
export const makeReader = (deps: {
  ports: EnginePorts
  loadDefinition: LoadDefinition
  effectOf(type: string, args?: JsonObject): Effect
  now(): number
  understanding: ReleaseSupport
  /** Checks whether a newer release has worked on the database. */
  isOld(): Promise<boolean>
  /** Returns what executions of this worker have loaded from the blob store. */
  loaded(): LoadedBytes[]
}) => {
  /** Executions that are being read. */
  const loading = new Set<LoadedBytes>()

  /** Loads the outputs that are in the blob store into the journalled state. */
  const load = async (workspaceId: string, journalled: GraphState): Promise<{ state: GraphState; bytes: number }> => {
    const wanted = { workspaceId, bytes: bytesToLoad(journalled) }
    requireMemory([...deps.loaded(), ...loading], wanted)
    loading.add(wanted)
    try {
      return { state: await hydrate(deps.ports.blobs, journalled), bytes: wanted.bytes }
    } finally {
      loading.delete(wanted)
    }
  }

  return async (row: ExecutionRow, journals: Journals, inbox: Inboxes): Promise<Owned> => {
    const { ports, now } = deps
    const definition = await deps.loadDefinition(row.workspace_id, row.definition_ref)
    const events = journals.get(row.execution_id) ?? []
    const { understanding } = deps
    const understood = understanding.ofDefinition(definition) && understanding.ofJournal(events)
    if (!understood && (await deps.isOld())) throw new NeedsNewerRelease()
    const trigger = { kind: row.trigger_kind, id: row.trigger_id }
    const begun = row.snapshot_seq > 0 || events.length > 0
    const { state, bytes } = await load(row.workspace_id, replay(row.snapshot ?? emptyState(), events))
    const about = {
      workspaceId: row.workspace_id,
      executionId: row.execution_id,
      workflowId: row.workflow_id,
      startedBy: row.started_by,
      input: row.input,
      scheduledAt: row.scheduled_at === null ? null : new Date(row.scheduled_at),
      vars: begun
        ? state.vars
        : await variablesAtStart(ports, row.workspace_id, definition, state.vars, { isChild: row.depth > 0 }),
    }
    return {
      ...about,
      versionId: row.version_id,
      systemSlug: row.system_slug,
      definitionRef: row.definition_ref,
      trigger,
      initiatedBy: initiatorsOfRow(row),
      principalId: row.principal_id,
      parent: row.parent_execution_id ? { executionId: row.parent_execution_id, node: row.parent_node ?? '' } : null,
      depth: row.depth,
      traceparent: row.traceparent ?? null,
      isGated: row.held !== null,
      tellEnd: row.tell_end,
      mayHaveOpenedRequests: mayOpenRequests(definition),
      epoch: row.epoch,
      crashes: row.crashes,
      seen: row.seen,
      inbox: inbox.get(row.execution_id) ?? [],
      snapshotSeq: row.snapshot_seq,
      hasStarted: begun,
      state,
      loadedBytes: bytes,
      deadline: row.timeout_s === null ? null : (row.started_at?.getTime() ?? now()) + row.timeout_s * 1000,
      context: contextOf(about, trigger, definition, deps.effectOf, ports.callbackUrl),
    }
  }
}
