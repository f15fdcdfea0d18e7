import type { JobRun } from '#sdk/types.generated'
import { formatNumber } from '#web/ui/format.ts'
import { t } from '#web/words/language.ts'

/** Describes which records a run processes. */
export function kindOf({ full, retry_failed, sample }: Pick<JobRun, 'full' | 'retry_failed' | 'sample'>): string {
  if (sample !== null) return t('sample of {0}', [formatNumber(sample)])
  if (full) return t('all records')
  return retry_failed ? t('new, changed and failed records') : t('new and changed records')
}
