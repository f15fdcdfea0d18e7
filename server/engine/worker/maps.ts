import type { Json, JsonObject } from '#model/definition'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import type { Command } from '../interpreter/commands.ts'
import type { Failure } from '../interpreter/graph-message.ts'
import type { ResumedCommand } from '../interpreter/resume-command.ts'
import { emptyState, type GraphState } from '../interpreter/state.ts'
import type { ItemRow } from '../journal/batch.ts'
import { NodeFailure } from '../node.ts'
import { hydrate } from '../outputs.ts'
import { type Body, frameIn, installBody, makeBody, reportOutput, retryOnFault } from './body.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live, Work } from './live-types.ts'
import { resumeItem } from './resume-item.ts'

// A map runs its body once per item, each in its own frame whose state is a row. The surrounding state contains only
// the settled ranges: the state of 100,000 items would be 9 MB, and rewriting it for each item would take hours.

/**
 * The maximum number of items started in one append: bodies that need no worker settle at once, and an append must
 * stay small.
 */
const BURST = 200
const PAGE = 5_000
/**
 * The maximum number of items of one execution that run at once, in all its maps. A hundred at each of four levels
 * would be a hundred million.
 */
const MAX_FRAMES = 500

const TOO_LARGE = {
  code: 'result_too_large',
  message: 'the outputs of the items are larger than 8 MiB together; write them to a dataset, or use a job',
}

type MapCommand = Command & { do: 'map' }

type Mapping = Body<'map'> & {
  readonly total: number
  /** The number of items whose end is journalled together. */
  readonly chunkSize: number
  readonly settled: Uint8Array
  readonly outputs: Json[]
  /** Items that have ended and are not processed yet. */
  readonly pending: Frame[]
  readonly mine: Set<Frame>
  count: number
  active: number
  next: number
  /** False if outputs of some items are only in their rows. */
  complete: boolean
  written: number
  over: boolean
  /** The execution calls this after every advance. */
  launch: (work: Work) => boolean
}

type Begun = { item: Frame; resumed: ResumedCommand[] }

const chunkOf = (total: number): number => Math.max(100, Math.ceil(total / 1000))

export async function runMap(deps: EffectDeps, live: Live, frame: Frame, command: MapCommand): Promise<undefined> {
  const map = makeMapping(deps, live, frame, command)
  map.launch = (work) => launch(map, work)
  await installBody(map, async () => {
    const found: Begun[] = []
    for (const item of command.again ? await restore(map) : []) found.push({ item, resumed: await live.resume(item) })
    await live.post((work) => install(map, work, found))
  })
  return undefined
}

function makeMapping(deps: EffectDeps, live: Live, frame: Frame, command: MapCommand): Mapping {
  const total = command.args.items.length
  return {
    ...makeBody(deps, live, frame, command),
    total,
    chunkSize: chunkOf(total),
    settled: new Uint8Array(total),
    outputs: [],
    pending: [],
    mine: new Set(),
    count: 0,
    active: 0,
    next: 0,
    complete: true,
    written: 0,
    over: false,
    launch: () => false,
  }
}

function frameOf(map: Mapping, index: number, state: GraphState, row?: ItemRow): Frame {
  const { loop } = map.frame.context
  return frameIn(map, index, {
    state,
    row,
    known: { item: map.command.args.items[index] ?? null, index, ...(loop && { loop }) },
    settled: (ended) => map.pending.push(ended),
  })
}

/** Restores the map after a crash or a wait: settled items are counted, and started ones continue from their rows. */
async function restore(map: Mapping): Promise<Frame[]> {
  const { deps, frame, command, total, settled } = map
  const found: Frame[] = []
  for (const [from, to] of frame.state.nodes[command.node]?.map?.done ?? []) {
    for (let index = from; index < to; index += 1) markSettled(map, index)
    map.complete = false
  }
  let after = -1
  while (after + 1 < total && settled[after + 1]) after += 1
  for (;;) {
    const rows = await retryOnFault(map, () => deps.readItems(map.live, map.path, after))
    for (const row of rows) {
      after = row.index
      if (row.index >= total || settled[row.index]) continue
      if (row.status === 'succeeded' || row.status === 'failed') {
        map.complete = false
        markSettled(map, row.index)
      } else if (row.state) {
        const { state } = row
        const hydrated = await retryOnFault(map, () => hydrate(deps.ports.blobs, state))
        found.push(frameOf(map, row.index, hydrated, row))
      }
    }
    if (rows.length < PAGE) return found
  }
}

function install(map: Mapping, work: Work, found: Begun[]): void {
  // Not earlier: `launch` would start an item again that is read back but not begun here yet.
  map.live.maps.add(map.launch)
  for (const { item, resumed } of found) {
    begin(map, item)
    resumeItem(map.live, work, item, resumed)
  }
  launch(map, work)
}

function begin(map: Mapping, item: Frame): void {
  map.live.frames.set(item.prefix, item)
  map.mine.add(item)
  map.active += 1
}

/** Returns true if an item had settled, so that a surrounding map must be checked again. */
function launch(map: Mapping, work: Work): boolean {
  const { live, frame, command, path, total } = map
  const self = frame.state.nodes[command.node]
  if (live.frames.get(frame.prefix) !== frame || self?.status !== 'running' || self.attempt !== command.attempt) {
    stop(map)
    return false
  }
  const drained = map.pending.length > 0
  drain(map, work)
  while (!map.over && hasRoom(map) && map.next < total && work.begun < BURST) {
    const index = map.next
    map.next += 1
    if (map.settled[index] || live.frames.has(`${path}[${index}].`)) continue
    const item = frameOf(map, index, emptyState())
    begin(map, item)
    work.begun += 1
    live.open(work, item)
    drain(map, work)
  }
  if (!map.over && map.count === total) {
    map.over = true
    void gather(map)
  } else if (!map.over && map.next < total && work.begun >= BURST) void live.post(() => undefined)
  return drained
}

/** Each map always has at least one running item: outer items could otherwise wait for each other. */
const hasRoom = ({ active, live, command }: Mapping): boolean =>
  active < command.args.concurrency && (active === 0 || live.frames.size < MAX_FRAMES)

/** Applies ended items to the map. Called again until nothing more follows in this append. */
function drain(map: Mapping, work: Work) {
  const { live, frame, command, total } = map
  while (map.pending.length > 0 && !map.over) {
    const ended = map.pending.shift() as Frame
    const index = ended.item?.index as number
    map.mine.delete(ended)
    map.active -= 1
    markSettled(map, index)
    const { status, results, error } = ended.state
    if (status !== 'succeeded' && command.args.onItemError === 'fail') {
      const { code, message } = error ?? { code: 'failed', message: 'an item failed' }
      const details = { index, error: (error ?? null) as Json }
      return end(map, work, { code, message, details }, true, ended.state.permanent)
    }
    if (!keep(map, index, status === 'succeeded' ? (results ?? null) : failed(error)))
      return end(map, work, TOO_LARGE, false)
    const chunk = map.count < total ? chunkDone(map, index) : undefined
    if (chunk)
      live.step(work, frame, [{ kind: 'chunk', node: command.node, ...chunk, data: { done: map.count, total } }])
  }
}

function markSettled(map: Mapping, index: number): void {
  map.settled[index] = 1
  map.count += 1
}

const failed = (error: GraphState['error'] | null): JsonObject => ({ error: (error ?? null) as Json })

/**
 * Returns false if the outputs together are larger than a map may return. The map then ends with the item that
 * exceeded the limit.
 */
function keep(map: Mapping, index: number, output: Json): boolean {
  map.outputs[index] = output
  map.written += jsonSize(output, MAX_VALUE_SIZE)
  return map.written <= MAX_VALUE_SIZE
}

function chunkDone({ total, chunkSize, settled }: Mapping, index: number): { from: number; to: number } | undefined {
  const from = Math.floor(index / chunkSize) * chunkSize
  const to = Math.min(total, from + chunkSize)
  for (let i = from; i < to; i += 1) if (!settled[i]) return undefined
  return { from, to }
}

function end(map: Mapping, work: Work, error: Failure, retryable: boolean, isPermanent = false): void {
  const { node, attempt } = map.command
  map.live.step(work, map.frame, [{ kind: 'error', node, attempt, error, retryable, isPermanent }])
  stop(map)
}

function stop(map: Mapping): void {
  const { live, mine } = map
  map.over = true
  for (const item of mine) {
    live.frames.delete(item.prefix)
    for (const [at, controller] of live.effects) if (at.startsWith(item.prefix)) controller.abort()
  }
  mine.clear()
  live.maps.delete(map.launch)
}

async function gather(map: Mapping): Promise<void> {
  const { live, total, outputs } = map
  const whole = async (): Promise<Json> => {
    if (!map.complete) await retryOnFault(map, () => readOutputs(map))
    return Array.from({ length: total }, (_, index) => outputs[index] ?? null)
  }
  await reportOutput(map, whole, () => live.maps.delete(map.launch))
}

async function readOutputs(map: Mapping): Promise<void> {
  for (let after = -1; ; ) {
    const rows = await map.deps.readItems(map.live, map.path, after)
    for (const row of rows) {
      // An item that ended here is known. Its row may not be written yet, and would still show it as running.
      if (row.index in map.outputs) continue
      const output = row.status === 'succeeded' ? (row.output ?? null) : failed(row.error)
      if (!keep(map, row.index, output)) throw new NodeFailure(TOO_LARGE.code, TOO_LARGE.message, { retryable: false })
    }
    if (rows.length < PAGE) return
    after = rows.at(-1)?.index ?? after
  }
}
