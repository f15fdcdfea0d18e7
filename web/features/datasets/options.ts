import type { Dataset } from '#sdk/types.generated'
import { formatNumber } from '#web/ui/format.ts'

/** Returns datasets as options, with the number of their records. */
export const datasetOptions = (datasets: readonly Dataset[] | undefined, prefix = '') =>
  (datasets ?? []).map(({ dataset_id, name, record_count }) => ({
    value: prefix + dataset_id,
    label: `${name} (${formatNumber(record_count)} records)`,
  }))
