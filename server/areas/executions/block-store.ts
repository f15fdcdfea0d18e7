import type { Database, Tx } from '#platform/db/pool'
import type { Block } from './block.ts'

export type Entry = { workspaceId: string; block: Block }

const ADD = 'select add_run_blocks($1, $2, $3, $4, $5, $6, $7, $8, $9)'

export async function addBlocks(db: Pick<Database, 'appPool'>, entries: readonly Entry[]): Promise<void> {
  const column = <T>(read: (block: Block) => T): T[] => entries.map(({ block }) => read(block))
  await db.appPool.query(ADD, [
    entries.map(({ workspaceId }) => workspaceId),
    column(({ firstId }) => firstId),
    column(({ lastId }) => lastId),
    column(({ runs }) => runs),
    column(({ pairs }) => pairs),
    column(({ ids }) => ids),
    column(({ samples }) => samples),
    column(({ dir }) => dir),
    column(({ data }) => data),
  ])
}

export const addBlockIn = (tx: Tx, workspaceId: string, block: Block): Promise<number> =>
  tx.count(
    `insert into run_blocks (workspace_id, first_id, last_id, runs, pairs, ids, samples, dir, data)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      workspaceId,
      block.firstId,
      block.lastId,
      block.runs,
      block.pairs,
      block.ids,
      block.samples,
      block.dir,
      block.data,
    ],
  )

export type BlockHead = {
  block_id: string
  first_id: string
  last_id: string
  runs: number
  dir: Buffer
  /** Only for blocks that extend beyond the range. */
  samples: Buffer | null
}

/** Lists the blocks with executions of a range, and the first id from which the index is complete. */
export async function listBlocks(
  tx: Tx,
  workspaceId: string,
  { from, to, oldestFirst, most }: { from: string; to: string; oldestFirst: boolean; most: number },
): Promise<{ coveredFrom: string; heads: BlockHead[] }> {
  const rows = await tx.rows<{ covered_from: string } & (BlockHead | { block_id: null })>(
    `select c.covered_from, b.* from covered_runs() as c left join lateral (
       select block_id, first_id, last_id, runs, dir,
         case when first_id < greatest($2, c.covered_from) or last_id >= $3 then samples end as samples
       from run_blocks where workspace_id = $1 and last_id >= greatest($2, c.covered_from) and first_id < $3
       order by ${oldestFirst ? 'first_id' : 'last_id desc'} limit $4) as b on true
     order by ${oldestFirst ? 'b.first_id' : 'b.last_id desc'}`,
    [workspaceId, from, to, most],
  )
  return { coveredFrom: rows[0]!.covered_from, heads: rows.filter((row) => row.block_id !== null) }
}

export type Slice = { blockId: string; at: number; length: number }

/** Reads parts of blocks, in the order of `slices`. The result is null for a block that was merged in the meantime. */
export async function readSlices(
  tx: Tx,
  workspaceId: string,
  column: 'data' | 'ids',
  slices: readonly Slice[],
): Promise<(Buffer | null)[]> {
  const rows = await tx.rows<{ slice: Buffer | null }>(
    `select substr(b.${column}, s.at + 1, s.length) as slice
     from unnest($2::uuid[], $3::integer[], $4::integer[]) with ordinality as s (block_id, at, length, n)
     left join run_blocks b on b.workspace_id = $1 and b.block_id = s.block_id order by s.n`,
    [workspaceId, slices.map(({ blockId }) => blockId), slices.map(({ at }) => at), slices.map(({ length }) => length)],
  )
  return rows.map(({ slice }) => slice)
}
