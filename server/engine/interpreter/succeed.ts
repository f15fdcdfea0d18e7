import type { Json, JsonObject } from '#model/definition'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import { NodeFailure } from '../node.ts'
import type { BlobRef } from '../ports.ts'
import { type Pass, record, settle } from './pass.ts'

/** What an event holds itself; more goes to the blob store before it is journalled. */
export const MAX_INLINE_SIZE = 32 * 1024

/** What all nodes of a graph gave, together: it is in memory as long as the execution is. */
const MAX_GRAPH_SIZE = 64 * 1024 * 1024

const tooLarge = (message: string): NodeFailure => new NodeFailure('result_too_large', message, { retryable: false })

/** Counted once, however many nodes pass it on: in memory it is there once. */
const sizeOfGraph = ({ state, large }: Pass): number => {
  const blobs = new Map<string, number>()
  const values = new Map<Json, number>()
  for (const node of Object.values(state.nodes)) if (node.blob) blobs.set(node.blob.key, node.blob.bytes)
  for (const id of large) {
    const output = state.nodes[id]?.output ?? null
    values.set(output, jsonSize(output, MAX_VALUE_SIZE))
  }
  let size = 0
  for (const one of blobs.values()) size += one
  for (const one of values.values()) size += one
  return size
}

/** Throws where what a node gave is too large to be kept. `output` is small or in the blob store where a worker made it. */
const checkSize = (pass: Pass, id: string, { output, blob }: JsonObject, isChecked: boolean): void => {
  if (isChecked && blob === undefined) return
  const kept = blob as BlobRef | undefined
  const size = kept?.bytes ?? jsonSize(output ?? null, MAX_VALUE_SIZE)
  if (size <= MAX_INLINE_SIZE) return
  if (size > MAX_VALUE_SIZE) throw tooLarge('the output is larger than 8 MiB')
  if (sizeOfGraph(pass) + size > MAX_GRAPH_SIZE) {
    throw tooLarge('the outputs of this execution are larger than 64 MiB together')
  }
  if (!kept) pass.large.push(id)
}

export const succeed = (pass: Pass, id: string, attempt: number, data: JsonObject, isChecked = false): void => {
  checkSize(pass, id, data, isChecked)
  record(pass, 'node.succeeded', { node_id: id, attempt, ...data })
  settle(pass, id)
}
