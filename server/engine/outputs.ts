import { createHash, webcrypto } from 'node:crypto'
import type { Json } from '#model/definition'
import { jsonSize, MAX_VALUE_SIZE, rememberSize } from '#model/size'
import { LARGE_BYTES, slices } from '#platform/slices'
import type { Blobs } from '#providers/blobs/index'
import { MAX_INLINE_SIZE } from './interpreter/output-size.ts'
import type { GraphState } from './interpreter/state.ts'
import { NodeFailure } from './node.ts'
import { platformFault, StorageTrouble } from './platform-fault.ts'
import type { BlobRef } from './ports.ts'
import { readInSlices, writeInSlices } from './sliced-text.ts'
import { hasBadText, unstorableText } from './text.ts'

const checkPart = (part: string, written: number): void => {
  if (written > MAX_VALUE_SIZE) {
    throw new NodeFailure('result_too_large', 'the output is larger than 8 MiB; store larger data as files', {
      retryable: false,
    })
  }
  if (hasBadText(part)) throw unstorableText()
}

/** Serializes the output of a node. An output that cannot be stored fails only the node that made it. */
export const checkedText = (value: unknown): { value: Json; text: string } => {
  const text = JSON.stringify(value ?? null) ?? 'null'
  checkPart(text, text.length)
  rememberSize(value, text.length)
  return { value: (value ?? null) as Json, text }
}

/**
 * Serializes the output as `checkedText` does, but in slices if it is large: the seven megabytes of one `set` blocked
 * the process for 90 ms.
 */
export const textInSlices = async (value: unknown, workspaceId: string): Promise<string> => {
  if (jsonSize(value, LARGE_BYTES) <= LARGE_BYTES) return checkedText(value).text
  const next = (): Promise<void> => slices.next(workspaceId)
  await next()
  const text = await writeInSlices(value, next, checkPart)
  rememberSize(value, text.length)
  return text
}

const DAY_OF_MONDAY = 4 * 86_400_000
const WEEK = 7 * 86_400_000

/**
 * Returns the week of an execution's journal, from the time in its UUIDv7. Its blobs are deleted with the partition
 * of that week.
 */
export const partitionOf = (executionId: string): string => {
  const ms = Number.parseInt(executionId.slice(0, 8) + executionId.slice(9, 13), 16)
  const monday = Math.floor((ms - DAY_OF_MONDAY) / WEEK) * WEEK + DAY_OF_MONDAY
  return new Date(monday).toISOString().slice(0, 10).replaceAll('-', '')
}

/**
 * Returns the prefix of an execution's blobs. Each execution has its own prefix, so deleting one removes nothing of
 * another.
 */
export const blobsOf = (owner: { workspaceId: string; executionId: string }): string =>
  `runs/${partitionOf(owner.executionId)}/${owner.workspaceId}/${owner.executionId}/`

const workspaceOf = (key: string): string => key.split('/', 3)[2] ?? ''

/** Computes the hash. The hash of a large value is computed in another thread. */
const hashOf = async (bytes: Buffer): Promise<string> =>
  bytes.length > LARGE_BYTES
    ? Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
    : createHash('sha256').update(bytes).digest('hex')

/** Checks whether a value is stored in the blob store rather than in the journal. */
export const isLarge = (text: string): boolean => text.length > MAX_INLINE_SIZE

/** Calls the blob store. Every error is a fault of the store: no text of a tenant can cause one. */
const askStore = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (platformFault(error, 'engine')?.kind === 'storage') throw error
    throw new StorageTrouble('the blob store does not answer', { cause: error })
  }
}

/**
 * Puts a large value into the blob store and returns its reference. Returns undefined for a small value, unless
 * `always` is set.
 */
export const offload = async (
  blobs: Blobs,
  owner: { workspaceId: string; executionId: string },
  text: string,
  always = false,
): Promise<BlobRef | undefined> => {
  if (!always && !isLarge(text)) return undefined
  if (text.length > LARGE_BYTES) await slices.next(owner.workspaceId)
  const bytes = Buffer.from(text)
  const sha256 = await hashOf(bytes)
  const key = `${blobsOf(owner)}${sha256}`
  await askStore(() => blobs.put(key, bytes))
  return { key, sha256, bytes: bytes.length }
}

export const readBlob = async (blobs: Blobs, ref: BlobRef): Promise<Json> => {
  const bytes = await askStore(() => blobs.get(ref.key))
  if (!bytes) throw new Error(`the blob ${ref.key} is missing`)
  const next = (): Promise<void> => slices.next(workspaceOf(ref.key))
  if (bytes.length > LARGE_BYTES) await next()
  const value = await readInSlices(bytes.toString(), next)
  rememberSize(value, bytes.length)
  return value
}

/** The number of parallel reads. An execution may have hundreds of blobs, and each needs a call of the store. */
const READ_AT_ONCE = 8

/** Loads the outputs that a snapshot left in the blob store. A value that several nodes passed on is loaded once. */
export const hydrate = async (blobs: Blobs, state: GraphState): Promise<GraphState> => {
  const missing = Object.entries(state.nodes).filter(([, node]) => node.blob && node.output === undefined)
  if (missing.length === 0) return state
  const nodes = { ...state.nodes }
  const read = new Map<string, Json>()
  const wanted = new Map(missing.map(([, node]) => [node.blob!.key, node.blob!]))
  const left = wanted.values()
  const readers = Array.from({ length: READ_AT_ONCE }, async () => {
    for (const blob of left) read.set(blob.key, await readBlob(blobs, blob))
  })
  await Promise.all(readers)
  for (const [id, node] of missing) nodes[id] = { ...node, output: read.get(node.blob!.key) as Json }
  return { ...state, nodes }
}
