import type { JsonObject } from '#model/definition'
import { jsonSize, MAX_SHOWN_SIZE, MAX_SHOWN_TOGETHER } from '#model/size'
import { NodeFailure } from '../node.ts'
import { type Frame, splitPath } from './frame.ts'
import type { Live } from './live-types.ts'

// The open gates and questions of an execution are in its row, in its journal and in every response that shows it. A
// map once asked sixty questions of 900 KB each from one input: 54 MB per response, and the process served nothing
// else for three seconds.

/**
 * The maximum number of open requests. Each is written whenever the execution parks, and compared when its waits are
 * checked.
 */
const MAX_OPEN = 1_000

const tooMuch = (message: string): NodeFailure => new NodeFailure('result_too_large', message, { retryable: false })

/**
 * The size of each counted node, and the total. Some nodes may be closed by now; they are removed when there is no
 * room.
 */
type OpenRequests = { sizes: Map<string, number>; total: number }
const openRequests = new WeakMap<Live, OpenRequests>()

const isOpen = (live: Live, path: string): boolean => {
  const { prefix, node } = splitPath(path)
  const status = live.frames.get(prefix)?.state.nodes[node]?.status
  return status === 'running' || status === 'waiting'
}

const forget = (all: OpenRequests, path: string): void => {
  all.total -= all.sizes.get(path) ?? 0
  all.sizes.delete(path)
}

/**
 * Removes closed nodes. It runs only when there is no room: checking every open node for each new one took 80 ms for
 * a map with 600 questions.
 */
function dropClosed(live: Live, all: OpenRequests): void {
  for (const path of all.sizes.keys()) if (!isOpen(live, path)) forget(all, path)
}

/** Counts what a node is about to show. Throws if this is too much together with the open requests, which stay open. */
export function countOpenRequest(live: Live, frame: Frame, { node, args }: { node: string; args: JsonObject }): void {
  const all = openRequests.get(live) ?? { sizes: new Map(), total: 0 }
  openRequests.set(live, all)
  const path = frame.prefix + node
  forget(all, path)
  const size = jsonSize(args, MAX_SHOWN_SIZE)
  const tooMany = () => all.sizes.size >= MAX_OPEN
  const tooLarge = () => all.total + size > MAX_SHOWN_TOGETHER
  // A node that already waits was only checked again, and stays open.
  if (frame.state.nodes[node]?.status !== 'waiting') {
    if (tooMany() || tooLarge()) dropClosed(live, all)
    if (tooMany()) throw tooMuch(`an execution has at most ${MAX_OPEN} open gates, questions and awaited events`)
    if (tooLarge()) throw tooMuch('the open gates and questions of the execution are larger than 2 MiB together')
  }
  all.sizes.set(path, size)
  all.total += size
}
