import type { Tx } from '#platform/db/pool'
import { idAt, pageAt, runsBetween, runsWith } from './block.ts'
import { type BlockHead, readSlices, type Slice } from './block-store.ts'
import { nextId, previousId, type Range } from './newest.ts'

// The executions that contain all wanted terms, in the order of their ids. Blocks overlap, because executions do not
// end in the order in which they start. Blocks are opened as the search reaches them, a few at a time.

/** Another process merged a block that this search was reading. */
export class BlockMerged extends Error {}

const FIRST_OPENED = 8
const MAX_OPENED_AT_ONCE = 128
const IDS_A_PAGE = 128
const ID_BYTES = 16
/** The number of candidates of a block whose ids are read ahead. */
const AHEAD = 16

export type Candidates = {
  /** Returns the next candidates. Fewer than `most` if there are no more. */
  next(most: number): Promise<string[]>
  /** The last id up to which the search is complete, if there are more blocks than the limit. Otherwise null. */
  cutAt(): string | null
}

type Opened = { head: BlockHead; runs: number[]; at: number; pages: Map<number, Buffer>; id?: string | undefined }

export const MAX_BLOCKS = 1_000

export function candidatesOf(
  tx: Tx,
  {
    workspaceId,
    terms,
    range,
    oldestFirst,
    heads,
  }: {
    workspaceId: string
    terms: readonly number[]
    range: Range
    oldestFirst: boolean
    /** In the order of the search. If there are more blocks than the limit, the list has one more than the limit. */
    heads: readonly BlockHead[]
  },
): Candidates {
  const unopened = heads.slice(0, MAX_BLOCKS)
  const beyond = heads[MAX_BLOCKS]
  let opened: Opened[] = []
  let atOnce = FIRST_OPENED
  let before: string | undefined
  const edgeOf = (head: BlockHead): string => (oldestFirst ? head.first_id : head.last_id)
  const isBefore = (a: string, b: string): boolean => (oldestFirst ? a < b : a > b)
  const cut = beyond ? edgeOf(beyond) : null

  async function open(heads: readonly BlockHead[]): Promise<void> {
    const slices = heads.flatMap((head) =>
      terms.map((term): Slice => ({ blockId: head.block_id, ...pageAt(head.dir, term) })),
    )
    const pages = await readSlices(tx, workspaceId, 'data', slices)
    for (const [at, head] of heads.entries()) {
      const wanted = terms.map((term, one) => ({ term, page: bufferOf(pages[at * terms.length + one]) }))
      const [first, end] = head.samples ? runsBetween(head.runs, head.samples, range.from, range.to) : [0, head.runs]
      const runs = runsWith(head.runs, wanted).filter((run) => run >= first && run < end)
      if (!oldestFirst) runs.reverse()
      if (runs.length > 0) opened.push({ head, runs, at: 0, pages: new Map() })
    }
  }

  const readId = (block: Opened): void => {
    const run = block.runs[block.at]!
    const page = block.pages.get(Math.floor(run / IDS_A_PAGE))
    block.id = page && idAt(page, run % IDS_A_PAGE)
  }

  async function loadIds(): Promise<void> {
    const asked = opened
      .filter(({ id }) => id === undefined)
      .flatMap((block) => {
        const pages = new Set(block.runs.slice(block.at, block.at + AHEAD).map((run) => Math.floor(run / IDS_A_PAGE)))
        return [...pages].filter((page) => !block.pages.has(page)).map((page) => ({ block, page }))
      })
    if (asked.length === 0) return
    const slices = asked.map(({ block, page }) => ({
      blockId: block.head.block_id,
      at: page * IDS_A_PAGE * ID_BYTES,
      length: IDS_A_PAGE * ID_BYTES,
    }))
    const pages = await readSlices(tx, workspaceId, 'ids', slices)
    for (const [at, { block, page }] of asked.entries()) block.pages.set(page, bufferOf(pages[at]))
    for (const { block } of asked) readId(block)
  }

  /** Returns the block with the next candidate, after opening every block that could have an earlier one. */
  async function first(): Promise<{ block: Opened; id: string } | undefined> {
    for (;;) {
      await loadIds()
      let best: { block: Opened; id: string } | undefined
      for (const block of opened) {
        const { id } = block
        if (id !== undefined && (best === undefined || isBefore(id, best.id))) best = { block, id }
      }
      const [next] = unopened
      if (next === undefined || (best && isBefore(best.id, edgeOf(next)))) return best
      await open(unopened.splice(0, atOnce))
      atOnce = Math.min(MAX_OPENED_AT_ONCE, atOnce * 2)
    }
  }

  return {
    async next(most) {
      const ids: string[] = []
      while (ids.length < most) {
        const found = await first()
        if (found === undefined || (cut !== null && !isBefore(found.id, cut))) break
        const { block, id } = found
        block.at += 1
        if (block.at === block.runs.length) opened = opened.filter((one) => one !== block)
        else readId(block)
        // An execution can be in two blocks.
        if (id === before || id < range.from || id >= range.to) continue
        before = id
        ids.push(id)
      }
      return ids
    },
    cutAt: () => cut && (oldestFirst ? previousId(cut) : nextId(cut)),
  }
}

function bufferOf(slice: Buffer | null | undefined): Buffer {
  if (!slice) throw new BlockMerged('a block was merged')
  return slice
}
