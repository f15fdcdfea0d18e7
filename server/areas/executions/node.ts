import type { BlobRef } from '#engine/blob-ref'
import type { Engine } from '#engine/ports'
import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { MASK } from '#platform/outgoing/mask'
import type { ExecutionNodeDetail } from './schema.ts'
import { blobAddress } from './view.ts'

const SECRET = /^(proxy-)?authorization$|^(set-)?cookie$|password|secret|token|api[-_]?key/i

/**
 * Masks values whose name looks like a secret, because users write secrets into headers and arguments although
 * credentials exist.
 */
export function masked(value: Json, key = ''): Json {
  if (typeof value === 'string') return SECRET.test(key) && value !== '' ? MASK : value
  if (Array.isArray(value)) return value.map((item) => masked(item, key))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner, name)]))
}

/** Returns the input of a node, its attempts, and its items or turns page by page. */
export async function getExecutionNode(
  { engine }: { engine: Pick<Engine, 'readNode'> },
  ctx: Context,
  { execution_id, path, cursor, limit, item }: { execution_id: string; path: string; item?: number } & ListQuery,
): Promise<ExecutionNodeDetail> {
  const key = decodeCursor(cursor, 1)
  const after = typeof key?.[0] === 'number' ? key[0] : -1
  const at = { workspaceId: ctx.workspace.workspace_id, executionId: execution_id, path }
  const node = await engine.readNode(at, { after, limit: limit + 1, ...(item !== undefined && { item }) })
  if (!node) throw problem('not_found', 'The node does not exist, or its history is not stored.')
  const { items, attempts, input, ...rest } = node
  const addressOf = (blob: BlobRef): Json => blobAddress(execution_id, blob)
  return {
    ...rest,
    input: input && (masked(input) as Record<string, unknown>),
    attempts: attempts.map(({ blob, ...attempt }) => ({ ...attempt, ...(blob && { output: addressOf(blob) }) })),
    ...toPage(items, limit, ({ index }) => [index]),
  }
}
