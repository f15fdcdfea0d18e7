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

/** The size of each node that was counted, and of all of them. Some may be closed by now: they are dropped when room is short. */
type Shown = { sizes: Map<string, number>; total: number }
const shown = new WeakMap<Live, Shown>()

const isOpen = (live: Live, path: string): boolean => {
  const { prefix, node } = splitPath(path)
  const status = live.frames.get(prefix)?.state.nodes[node]?.status
  return status === 'running' || status === 'waiting'
}

const forget = (all: Shown, path: string): void => {
  all.total -= all.sizes.get(path) ?? 0
  all.sizes.delete(path)
}

/** Looking at every open node for each new one took 80 ms of a map that opened 600 questions. */
function dropClosed(live: Live, all: Shown): void {
  for (const path of all.sizes.keys()) if (!isOpen(live, path)) forget(all, path)
}

/** Counts what a node is about to show. Throws where it is too much together with what is open; what is open stays so. */
export function takeShown(live: Live, frame: Frame, { node, args }: { node: string; args: JsonObject }): void {
  const all = shown.get(live) ?? { sizes: new Map(), total: 0 }
  shown.set(live, all)
  const path = frame.prefix + node
  forget(all, path)
  const size = jsonSize(args, MAX_SHOWN_SIZE)
  const tooMany = () => all.sizes.size >= MAX_OPEN
  const tooLarge = () => all.total + size > MAX_SHOWN_TOGETHER
  // One that waits already was only looked at again, and stays open.
  if (frame.state.nodes[node]?.status !== 'waiting') {
    if (tooMany() || tooLarge()) dropClosed(live, all)
    if (tooMany()) throw tooMuch(`an execution has at most ${MAX_OPEN} open gates, questions and awaited events`)
    if (tooLarge()) throw tooMuch('the open gates and questions of the execution are larger than 2 MiB together')
  }
  all.sizes.set(path, size)
  all.total += size
}
