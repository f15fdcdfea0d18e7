import type { Json } from '#model/definition'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import type { Failure, Resumed } from '../interpreter/advance.ts'
import type { Command } from '../interpreter/commands.ts'
import { errorOf } from '../interpreter/errors.ts'
import { scopeAt } from '../interpreter/scope.ts'
import { emptyState, type GraphState } from '../interpreter/state.ts'
import type { ItemRow } from '../journal/batch.ts'
import { NodeFailure } from '../node.ts'
import { checkedText, hydrate, isLarge, offload } from '../outputs.ts'
import { callbacksIn } from './callbacks.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live, Work } from './live-types.ts'
import { GivenUp } from './patience.ts'
import { resumeItem } from './resume-item.ts'

// A map executes its body once per item, each in a frame of its own whose state is a row. The surrounding state holds only
// which ranges have settled: 100,000 items would be 9 MB, and rewriting that per item would take hours.

/** Items begun in one append: bodies that need no worker settle at once, and an append must stay small. */
const BURST = 200
const PAGE = 5_000
/** Items of one execution under way at once, in all its maps: a hundred at each of four levels would be a hundred million. */
const MAX_FRAMES = 500

const TOO_LARGE = {
  code: 'result_too_large',
  message: 'the outputs of the items are larger than 8 MiB together; write them to a dataset, or use a job',
}

type MapCommand = Command & { do: 'map' }

const chunkOf = (total: number): number => Math.max(100, Math.ceil(total / 1000))

export const runMap = async (deps: EffectDeps, live: Live, frame: Frame, command: MapCommand): Promise<undefined> => {
  const { node, attempt, args } = command
  const { items, body, concurrency, onItemError } = args
  const total = items.length
  const path = frame.prefix + node + (attempt > 1 ? `#${attempt}` : '')
  const settled = new Uint8Array(total)
  const outputs: Json[] = []
  const size = chunkOf(total)
  let count = 0
  let active = 0
  let next = 0
  let complete = true
  let written = 0
  let over = false
  const mine = new Set<Frame>()
  const { nodes: outer, execution } = scopeAt(frame.context, frame.state, frame.state.nodes[node]?.ready ?? 0)

  const finish = (): void => {
    live.maps.delete(launch)
  }

  const frameOf = (index: number, state: GraphState, row?: ItemRow): Frame => {
    const prefix = `${path}[${index}].`
    const { input, vars, effectOf, seed, callbackUrl, loop } = frame.context
    const item: Frame = {
      prefix,
      context: {
        graph: body,
        input,
        execution,
        vars,
        effectOf,
        seed: `${seed}:${prefix}`,
        item: items[index] ?? null,
        index,
        outer,
        ...(loop && { loop }),
        ...(callbackUrl && { callbackUrl, ...callbacksIn(body, prefix, callbackUrl) }),
        elsewhere: () => live.heldBeside(item),
      },
      state,
      item: { index, path, settled: (ended) => pending.push(ended) },
      written: row !== undefined,
      ...(row?.usage && { usage: row.usage }),
    }
    return item
  }

  const pending: Frame[] = []

  const markSettled = (index: number): void => {
    settled[index] = 1
    count += 1
  }

  const stop = (): void => {
    over = true
    for (const item of mine) {
      live.frames.delete(item.prefix)
      for (const [at, controller] of live.effects) if (at.startsWith(item.prefix)) controller.abort()
    }
    mine.clear()
    finish()
  }

  const chunkDone = (index: number): { from: number; to: number } | undefined => {
    const from = Math.floor(index / size) * size
    const to = Math.min(total, from + size)
    for (let i = from; i < to; i += 1) if (!settled[i]) return undefined
    return { from, to }
  }

  /** False where the outputs are larger together than the map may give: it ends with the item that made them so. */
  const keep = (index: number, output: Json): boolean => {
    outputs[index] = output
    written += jsonSize(output, MAX_VALUE_SIZE)
    return written <= MAX_VALUE_SIZE
  }

  const end = (work: Work, error: Failure, retryable: boolean): void => {
    live.step(work, frame, [{ kind: 'error', node, attempt, error, retryable }])
    stop()
  }

  /** What ended items mean for the map; called again until nothing more follows within this append. */
  const drain = (work: Work) => {
    while (pending.length > 0 && !over) {
      const ended = pending.shift() as Frame
      const index = ended.item?.index as number
      mine.delete(ended)
      active -= 1
      markSettled(index)
      const { status, results, error } = ended.state
      if (status !== 'succeeded' && onItemError === 'fail') {
        const { code, message } = error ?? { code: 'failed', message: 'an item failed' }
        return end(work, { code, message, details: { index, error: (error ?? null) as Json } }, true)
      }
      if (!keep(index, status === 'succeeded' ? (results ?? null) : { error: (error ?? null) as Json })) {
        return end(work, TOO_LARGE, false)
      }
      const chunk = count < total ? chunkDone(index) : undefined
      if (chunk) live.step(work, frame, [{ kind: 'chunk', node, ...chunk, data: { done: count, total } }])
    }
  }

  /** True when an item had settled, so that something may follow for a map around this one. */
  const launch = (work: Work): boolean => {
    const self = frame.state.nodes[node]
    if (live.frames.get(frame.prefix) !== frame || self?.status !== 'running' || self.attempt !== attempt) {
      stop()
      return false
    }
    const drained = pending.length > 0
    drain(work)
    // Each map always has one item under way: the items around it would otherwise wait for each other.
    const hasRoom = (): boolean => active < concurrency && (active === 0 || live.frames.size < MAX_FRAMES)
    while (!over && hasRoom() && next < total && work.begun < BURST) {
      const index = next
      next += 1
      if (settled[index] || live.frames.has(`${path}[${index}].`)) continue
      const item = frameOf(index, emptyState())
      live.frames.set(item.prefix, item)
      mine.add(item)
      active += 1
      work.begun += 1
      live.open(work, item)
      drain(work)
    }
    if (!over && count === total) {
      over = true
      void gather()
    } else if (!over && next < total && work.begun >= BURST) void live.post(() => undefined)
    return drained
  }

  const gather = async (): Promise<void> => {
    live.busy(1)
    try {
      if (!complete) await deps.patience(live, { frame, node }, readOutputs)
      const { value, text } = checkedText(Array.from({ length: total }, (_, index) => outputs[index] ?? null))
      const blob = isLarge(text)
        ? await deps.patience(live, { frame, node }, () => offload(deps.ports.blobs, live.owned, text))
        : undefined
      live.inform(frame, { kind: 'done', node, attempt, output: value, ...(blob && { blob }) })
    } catch (error) {
      // Its items are in their rows: the worker that goes on with it gathers them again.
      if (error instanceof GivenUp) return
      const retryable = !(error instanceof NodeFailure) || error.retryable
      live.inform(frame, { kind: 'error', node, attempt, error: errorOf(error), retryable })
    } finally {
      live.busy(-1)
      finish()
    }
  }

  const readOutputs = async (): Promise<void> => {
    for (let after = -1; ; ) {
      const rows = await deps.readItems(live, path, after)
      for (const row of rows) {
        // What ended here is known; its row may still be on the way, and would say that the item is running.
        if (row.index in outputs) continue
        const output = row.status === 'succeeded' ? (row.output ?? null) : { error: (row.error ?? null) as Json }
        if (!keep(row.index, output)) throw new NodeFailure(TOO_LARGE.code, TOO_LARGE.message, { retryable: false })
      }
      if (rows.length < PAGE) return
      after = rows.at(-1)?.index ?? after
    }
  }

  /** After a crash or a wait: settled items are counted, begun ones go on from their rows. */
  const restore = async (): Promise<Frame[]> => {
    const found: Frame[] = []
    const hydrated = (state: GraphState): Promise<GraphState> =>
      deps.patience(live, { frame, node }, () => hydrate(deps.ports.blobs, state))
    for (const [from, to] of frame.state.nodes[node]?.map?.done ?? []) {
      for (let index = from; index < to; index += 1) markSettled(index)
      complete = false
    }
    let after = -1
    while (after + 1 < total && settled[after + 1]) after += 1
    for (;;) {
      const rows = await deps.patience(live, { frame, node }, () => deps.readItems(live, path, after))
      for (const row of rows) {
        after = row.index
        if (row.index >= total || settled[row.index]) continue
        if (row.status === 'succeeded' || row.status === 'failed') {
          complete = false
          markSettled(row.index)
        } else if (row.state) found.push(frameOf(row.index, await hydrated(row.state), row))
      }
      if (rows.length < PAGE) return found
    }
  }

  const install = (work: Work, found: { item: Frame; resumed: Resumed[] }[]): void => {
    for (const { item, resumed } of found) {
      live.frames.set(item.prefix, item)
      mine.add(item)
      active += 1
      resumeItem(live, work, item, resumed)
    }
    launch(work)
  }

  const found: { item: Frame; resumed: Resumed[] }[] = []
  for (const item of command.again ? await restore() : []) found.push({ item, resumed: await live.resume(item) })
  live.maps.add(launch)
  await live.post((work) => install(work, found))
  if (command.again) live.restoring(-1)
  return undefined
}
