import { createHash } from 'node:crypto'
import { NodeFailure } from '#engine/node'
import { hasBadText } from '#engine/text'
import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import * as store from './store.ts'

// Values that a workflow keeps between executions: small, by key, and written only by its executions.

export const MAX_KEYS = 1_000
export const MAX_VALUE_BYTES = 64 * 1024
/** The maximum size of all values of a workflow, and of all workflows of a workspace. */
export const MAX_WORKFLOW_BYTES = 4 * 1024 * 1024
export const MAX_WORKSPACE_BYTES = 64 * 1024 * 1024

type OfWorkflow = { workflow_id: string }

export const listState = (
  ctx: Context,
  { workflow_id, prefix, ...asked }: OfWorkflow & ListInput & { prefix?: string | undefined },
) => store.listState(ctx.tx, ctx.workspace.workspace_id, workflow_id, prefix ?? null, asked)

export async function getState(ctx: Context, { workflow_id, key }: OfWorkflow & { key: string }) {
  const entry = await store.findState(ctx.tx, ctx.workspace.workspace_id, workflow_id, key)
  if (!entry) throw problem('not_found')
  return entry
}

export async function deleteState(ctx: Context, { workflow_id, key }: OfWorkflow & { key: string }): Promise<void> {
  if ((await removeState(ctx.tx, ctx.workspace.workspace_id, workflow_id, key)) === 0) throw problem('not_found')
}

export async function clearState(ctx: Context, { workflow_id }: OfWorkflow): Promise<{ deleted: number }> {
  return { deleted: await removeState(ctx.tx, ctx.workspace.workspace_id, workflow_id, null) }
}

/** Deletes one key, or all keys if `key` is null. */
export async function removeState(
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  key: string | null,
): Promise<number> {
  await store.lockTotal(tx, workspaceId)
  const deleted = await store.deleteState(tx, workspaceId, workflowId, key)
  if (deleted > 0) await store.sumTotal(tx, workspaceId)
  return deleted
}

/** Deletes the state of a workflow that is deleted. */
export const forgetState = async (tx: Tx, workspaceId: string, workflowId: string): Promise<void> => {
  await removeState(tx, workspaceId, workflowId, null)
}

export type StateAt = { workspaceId: string; workflowId: string; key: string }

export const readState = (
  db: Database,
  { workspaceId, workflowId, key }: StateAt,
): Promise<store.StateRow | undefined> =>
  db.tenant({ workspaceId, userId: null }, (tx) => store.findState(tx, workspaceId, workflowId, key))

const refused = (code: string, message: string, details?: Json): NodeFailure =>
  new NodeFailure(code, message, { retryable: false, ...(details !== undefined && { details }) })

/**
 * Sets a key, or deletes it if the value is null. With `ifVersion`, only if the key has this version; 0 means an absent
 * key. Repeating the same `effectKey` writes once.
 */
export const writeState = (
  db: Database,
  wanted: StateAt & { value: Json; ifVersion: number | undefined; effectKey: string; executionId: string },
): Promise<{ version: number }> => {
  const { workspaceId, workflowId, key, value, ifVersion } = wanted
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_VALUE_BYTES) throw refused('state_too_large', `a value has at most ${MAX_VALUE_BYTES} bytes as JSON`)
  if (hasBadText(text)) throw refused('invalid_text', 'the value contains NUL characters or unpaired surrogates')
  const effect = createHash('sha256').update(wanted.effectKey).digest('hex').slice(0, 24)
  return db.tenant({ workspaceId, userId: null }, async (tx) => {
    const together = await store.lockTotal(tx, workspaceId)
    const before = await store.findEffect(tx, workspaceId, workflowId, key, effect)
    if (before) return before
    const present = await store.findState(tx, workspaceId, workflowId, key)
    // The key is already absent, so there is nothing to delete.
    if (value === null && !present) return { version: 0 }
    const version = present?.version ?? 0
    if (ifVersion !== undefined && ifVersion !== version) {
      const message = `"${key}" has version ${version}, not ${ifVersion}: another run changed it`
      throw refused('state_conflict', message, { version })
    }
    if (value === null) {
      await removeState(tx, workspaceId, workflowId, key)
      return { version: 0 }
    }
    const others = await store.measureOthers(tx, workspaceId, workflowId, key)
    if (others.keys >= MAX_KEYS) throw refused('state_full', `a workflow has at most ${MAX_KEYS} keys`)
    if (others.bytes + bytes > MAX_WORKFLOW_BYTES)
      throw refused('state_full', `the values of a workflow have at most ${MAX_WORKFLOW_BYTES} bytes together`)
    const grown = bytes - (present?.bytes ?? 0)
    if (together + grown > MAX_WORKSPACE_BYTES)
      throw refused('state_full', `the values of a workspace have at most ${MAX_WORKSPACE_BYTES} bytes together`)
    const { executionId } = wanted
    return store.putState(tx, { workspaceId, workflowId, key, value: text, grown, effect, executionId })
  })
}
