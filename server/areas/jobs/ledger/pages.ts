import { hash } from 'node:crypto'
import type { DatasetUse } from '#areas/datasets/use'
import type { JsonObject } from '#model/definition'
import { wants } from '../recipe.ts'
import type { Planned } from './records.ts'

type Page = { first: number; texts: string[] }

/** Pages kept in memory for one run: what is being begun, what is being planned ahead, and a retry now and then. */
const KEPT = 4

/** The records of a version by their position; about 1 MiB is read at a time. */
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
    /** At most `most` records from `position` on, and at least one. */
    async slice(position: number, most: number): Promise<string[]> {
      const { first, texts } = await pageAt(position)
      return texts.slice(position - first, position - first + most)
    },
  }
}

export type Pages = ReturnType<typeof makePages>

/** The fingerprint of a record, and whether the job wants it. A condition that fails is the record's failure. */
export function plan(text: string, onlyIf: string | null): Planned {
  const sha256 = hash('sha256', text, 'hex')
  if (onlyIf === null) return { sha256, wanted: true, error: null }
  try {
    return { sha256, wanted: wants(onlyIf, JSON.parse(text) as JsonObject), error: null }
  } catch (error) {
    return { sha256, wanted: true, error: { code: 'only_if_failed', message: (error as Error).message } }
  }
}
