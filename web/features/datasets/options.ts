import type { Dataset } from '#sdk/types.generated'
import { formatNumber } from '#web/ui/format.ts'

/** Datasets to choose from, with how much is in them. */
export const datasetOptions = (datasets: readonly Dataset[] | undefined, prefix = '') =>
  (datasets ?? []).map(({ dataset_id, name, record_count }) => ({
    value: prefix + dataset_id,
    label: `${name} (${formatNumber(record_count)} records)`,
  }))
