import type { JsonObject } from '#model/definition'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import { NodeFailure } from '../node.ts'
import type { BlobRef } from '../ports.ts'
import {
  countOutput,
  MAX_INLINE_SIZE,
  MAX_JOURNALLED_SIZE,
  MAX_OUTPUTS_SIZE,
  measureOutputs,
  NO_OUTPUT,
  SMALL_SIZE,
  TINY_SIZE,
} from './output-size.ts'
import { type Pass, record, settle } from './pass.ts'

const tooLarge = (message: string): NodeFailure => new NodeFailure('result_too_large', message, { retryable: false })

/**
 * Throws if the output of a node is too large. Adds the node to `pass.large` if its output must be stored in the blob
 * store before it is journalled.
 */
const checkSize = (pass: Pass, id: string, { output = null, blob }: JsonObject): void => {
  const kept = blob as BlobRef | undefined
  const size = kept?.bytes ?? jsonSize(output, MAX_VALUE_SIZE)
  if (size <= TINY_SIZE) return
  if (size > MAX_VALUE_SIZE) throw tooLarge('the output is larger than 8 MiB')
  pass.outputSize ??= measureOutputs(pass.state)
  const own = pass.outputSize
  const others = pass.context.otherGraphsSize?.() ?? NO_OUTPUT
  const isNew = !own.seen.has(kept?.key ?? output)
  if (isNew && own.memory + others.memory + size > MAX_OUTPUTS_SIZE) {
    throw tooLarge('the outputs of this execution are larger than 64 MiB together')
  }
  const isTooMuch = size > SMALL_SIZE && own.journal + others.journal + size > MAX_JOURNALLED_SIZE
  const leaves = !kept && (size > MAX_INLINE_SIZE || isTooMuch)
  if (leaves) pass.large.push(id)
  countOutput(own, size, kept?.key ?? output, !kept && !leaves)
}

export const succeed = (pass: Pass, id: string, attempt: number, data: JsonObject): void => {
  checkSize(pass, id, data)
  record(pass, 'node.succeeded', { node_id: id, attempt, ...data })
  settle(pass, id)
}
