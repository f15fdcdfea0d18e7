import { createHash } from 'node:crypto'
import type { Json } from '#model/definition'
import type { Blobs } from '#providers/blobs/index'
import type { GraphState } from './interpreter/state.ts'
import { NodeFailure } from './node.ts'
import type { BlobRef } from './ports.ts'
import { hasBadText } from './text.ts'

const INLINE_BYTES = 32 * 1024
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** What a node gave, checked: what cannot be stored fails the node that made it, and nothing else. */
export const checkedText = (value: unknown): { value: Json; text: string } => {
  const text = JSON.stringify(value ?? null) ?? 'null'
  if (text.length > MAX_OUTPUT_BYTES) {
    throw new NodeFailure('output_too_large', 'the output is larger than 64 MiB', { retryable: false })
  }
  if (hasBadText(text)) {
    const message = 'the output holds NUL characters or halves of surrogate pairs, which cannot be stored'
    throw new NodeFailure('invalid_text', message, { retryable: false })
  }
  return { value: (value ?? null) as Json, text }
}

const DAY_OF_MONDAY = 4 * 86_400_000
const WEEK = 7 * 86_400_000

/** The week an execution's journal stands in, from the time inside its UUIDv7: its blobs go when the partition goes. */
export const partitionOf = (executionId: string): string => {
  const ms = Number.parseInt(executionId.slice(0, 8) + executionId.slice(9, 13), 16)
  const monday = Math.floor((ms - DAY_OF_MONDAY) / WEEK) * WEEK + DAY_OF_MONDAY
  return new Date(monday).toISOString().slice(0, 10).replaceAll('-', '')
}

/** Where an execution's blobs are: a place of its own, so that forgetting one takes nothing from another. */
export const blobsOf = (owner: { workspaceId: string; executionId: string }): string =>
  `runs/${partitionOf(owner.executionId)}/${owner.workspaceId}/${owner.executionId}/`

/** Puts a large value into the blob store and names it; a small one needs no name. */
export const offload = async (
  blobs: Blobs,
  owner: { workspaceId: string; executionId: string },
  text: string,
): Promise<BlobRef | undefined> => {
  if (text.length <= INLINE_BYTES) return undefined
  const bytes = Buffer.from(text)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const key = `${blobsOf(owner)}${sha256}`
  await blobs.put(key, bytes)
  return { key, sha256, bytes: bytes.length }
}

export const readBlob = async (blobs: Blobs, ref: BlobRef): Promise<Json> => {
  const bytes = await blobs.get(ref.key)
  if (!bytes) throw new Error(`the blob ${ref.key} is missing`)
  return JSON.parse(bytes.toString()) as Json
}

/** Brings back into memory what a snapshot left in the blob store. */
export const hydrate = async (blobs: Blobs, state: GraphState): Promise<GraphState> => {
  const missing = Object.entries(state.nodes).filter(([, node]) => node.blob && node.output === undefined)
  if (missing.length === 0) return state
  const nodes = { ...state.nodes }
  for (const [id, node] of missing) nodes[id] = { ...node, output: await readBlob(blobs, node.blob as BlobRef) }
  return { ...state, nodes }
}
