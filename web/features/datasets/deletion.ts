import type { Dataset } from '#sdk/types.generated'
import { formatNumber } from '#web/ui/format.ts'

/** The confirmation before a dataset is deleted. */
export const deletionOf = ({ name, record_count }: Dataset) => ({
  title: `Delete ${name}?`,
  consequence: `All ${formatNumber(record_count)} records are deleted permanently. Jobs and suites that use the dataset cannot run until you choose another one. Runs that are reading it fail.`,
  action: 'Delete dataset',
})
