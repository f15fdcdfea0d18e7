import type { DatasetUse } from '#areas/datasets/use'

type Page = { first: number; texts: string[] }

/** The number of pages in memory for one run: for starting records, for planning ahead, and for occasional retries. */
const KEPT = 4

/** Reads the records of a version by their position, about 1 MiB at a time. */
export function makePages(options: {
  datasets: Pick<DatasetUse, 'readVersion'>
  workspaceId: string
  versionId: string
  total: number
}) {
  const { datasets, workspaceId, versionId, total } = options
  const kept: Page[] = []

  async function pageAt(position: number): Promise<Page> {
    const known = kept.find(({ first, texts }) => position >= first && position < first + texts.length)
    if (known) return known
    for await (const page of datasets.readVersion(workspaceId, versionId, { from: position, to: total })) {
      kept.push(page)
      if (kept.length > KEPT) kept.shift()
      return page
    }
    throw new Error(`there is no record ${position}`)
  }

  return {
    versionId,
    async textAt(position: number): Promise<string> {
      const { first, texts } = await pageAt(position)
      return texts[position - first]!
    },
    /** Returns at most `most` records starting at `position`, and at least one. */
    async slice(position: number, most: number): Promise<string[]> {
      const { first, texts } = await pageAt(position)
      return texts.slice(position - first, position - first + most)
    },
  }
}

export type Pages = ReturnType<typeof makePages>
