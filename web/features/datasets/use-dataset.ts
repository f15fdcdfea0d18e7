import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { HeddleProblem } from '#sdk/problems'
import type { Dataset } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { t } from '#web/words/language.ts'

// One dataset without its records: reading the whole dataset would fetch up to 64 MiB for a heading, so it is looked up
// in the list.

async function findSummary(dataset_id: string, signal: AbortSignal): Promise<Dataset> {
  let cursor: string | undefined
  do {
    const page = await api.listDatasets({ limit: 200, ...(cursor && { cursor }) }, { signal })
    const found = page.items.find((dataset) => dataset.dataset_id === dataset_id)
    if (found) return found
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  throw new HeddleProblem(404, { code: 'not_found' }, null)
}

const summaryOf = (dataset_id: string) => ({
  queryKey: ['listDatasets', { dataset_id }, 'one'],
  queryFn: ({ signal }: { signal: AbortSignal }) => findSummary(dataset_id, signal),
})

export function useDataset() {
  const { dataset_id } = useParams({ strict: false }) as { dataset_id: string }
  return useQuery(summaryOf(dataset_id))
}

/** Returns the name of a dataset for pages of other resources that use it. */
export function useDatasetName(dataset_id: string | null): string {
  const { data } = useQuery({ ...summaryOf(dataset_id ?? ''), enabled: dataset_id !== null })
  return data?.name ?? t('a dataset')
}
