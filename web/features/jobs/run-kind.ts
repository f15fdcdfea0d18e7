import type { JobRun } from '#sdk/types.generated'
import { formatNumber } from '#web/ui/format.ts'

/** Which records a run was to process, in words. */
export function kindOf({ full, retry_failed, sample }: Pick<JobRun, 'full' | 'retry_failed' | 'sample'>): string {
  if (sample !== null) return `sample of ${formatNumber(sample)}`
  if (full) return 'all records'
  return retry_failed ? 'new, changed and failed records' : 'new and changed records'
}
