import { createHash, webcrypto } from 'node:crypto'
import type { Json } from '#model/definition'
import { jsonSize, MAX_VALUE_SIZE, rememberSize } from '#model/size'
import { LARGE_BYTES, slices } from '#platform/slices'
import type { Blobs } from '#providers/blobs/index'
import { MAX_INLINE_SIZE } from './interpreter/held.ts'
import type { GraphState } from './interpreter/state.ts'
import { NodeFailure } from './node.ts'
import { platformFault, StorageTrouble } from './platform-fault.ts'
import type { BlobRef } from './ports.ts'
import { readInSlices, writeInSlices } from './sliced-text.ts'
import { hasBadText } from './text.ts'

const checkPart = (part: string, written: number): void => {
  if (written > MAX_VALUE_SIZE) {
    throw new NodeFailure('result_too_large', 'the output is larger than 8 MiB; keep larger things as files', {
      retryable: false,
    })
  }
  if (hasBadText(part)) {
    const message = 'the output holds NUL characters or halves of surrogate pairs, which cannot be stored'
    throw new NodeFailure('invalid_text', message, { retryable: false })
  }
}

/** What a node gave, checked: what cannot be stored fails the node that made it, and nothing else. */
export const checkedText = (value: unknown): { value: Json; text: string } => {
  const text = JSON.stringify(value ?? null) ?? 'null'
  checkPart(text, text.length)
  rememberSize(value, text.length)
  return { value: (value ?? null) as Json, text }
}

/** The same, in slices where it is large: the seven megabytes of one `set` held everybody up for 90 ms. */
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

/** The week an execution's journal stands in, from the time inside its UUIDv7: its blobs go when the partition goes. */
export const partitionOf = (executionId: string): string => {
  const ms = Number.parseInt(executionId.slice(0, 8) + executionId.slice(9, 13), 16)
  const monday = Math.floor((ms - DAY_OF_MONDAY) / WEEK) * WEEK + DAY_OF_MONDAY
  return new Date(monday).toISOString().slice(0, 10).replaceAll('-', '')
}

/** Where an execution's blobs are: a place of its own, so that forgetting one takes nothing from another. */
export const blobsOf = (owner: { workspaceId: string; executionId: string }): string =>
  `runs/${partitionOf(owner.executionId)}/${owner.workspaceId}/${owner.executionId}/`

const workspaceOf = (key: string): string => key.split('/', 3)[2] ?? ''

/** That of a large value is computed in another thread. */
const hashOf = async (bytes: Buffer): Promise<string> =>
  bytes.length > LARGE_BYTES
    ? Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
    : createHash('sha256').update(bytes).digest('hex')

/** Whether a value is kept in the blob store rather than in the journal. */
export const isLarge = (text: string): boolean => text.length > MAX_INLINE_SIZE

/** Whatever goes wrong there is the store's: no tenant's text can be at fault. */
const askStore = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (platformFault(error, 'engine')?.kind === 'storage') throw error
    throw new StorageTrouble('the blob store does not answer', { cause: error })
  }
}

/** Puts a large value into the blob store and names it; a small one needs no name, unless there is `always` to be one. */
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

/** An execution may have hundreds of blobs, each a call of the store. */
const READ_AT_ONCE = 8

/** Brings back into memory what a snapshot left in the blob store. What several nodes passed on is there once. */
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
