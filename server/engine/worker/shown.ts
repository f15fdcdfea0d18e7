import type { JsonObject } from '#model/definition'
import { jsonSize, MAX_SHOWN_SIZE, MAX_SHOWN_TOGETHER } from '#model/size'
import { NodeFailure } from '../node.ts'
import { type Frame, splitPath } from './frame.ts'
import type { Live } from './live-types.ts'

// Open gates and questions of an execution stand in its row, in its journal and in every answer that shows it. A map asked
// sixty questions of 900 KB each from one input: 54 MB an answer, and three seconds in which nobody else was served.

/** Each is written down whenever the execution parks, and compared with what is open when its waits are checked. */
const MAX_OPEN = 1_000

const tooMuch = (message: string): NodeFailure => new NodeFailure('result_too_large', message, { retryable: false })

const shown = new WeakMap<Live, Map<string, number>>()

const isOpen = (live: Live, path: string): boolean => {
  const { prefix, node } = splitPath(path)
  const status = live.frames.get(prefix)?.state.nodes[node]?.status
  return status === 'running' || status === 'waiting'
}

/** Counts what a node is about to show. Throws where it is too much together with what is open; what is open stays so. */
export function takeShown(live: Live, frame: Frame, { node, args }: { node: string; args: JsonObject }): void {
  const sizes = shown.get(live) ?? new Map<string, number>()
  shown.set(live, sizes)
  const path = frame.prefix + node
  sizes.delete(path)
  // One that waits already was only looked at again, and stays open.
  const isNew = frame.state.nodes[node]?.status !== 'waiting'
  let together = jsonSize(args, MAX_SHOWN_SIZE)
  const size = together
  for (const [other, its] of sizes) {
    if (isOpen(live, other)) together += its
    else sizes.delete(other)
  }
  if (isNew && sizes.size >= MAX_OPEN)
    throw tooMuch(`an execution has at most ${MAX_OPEN} open gates, questions and awaited events`)
  if (isNew && together > MAX_SHOWN_TOGETHER)
    throw tooMuch('the open gates and questions of the execution are larger than 2 MiB together')
  sizes.set(path, size)
}
