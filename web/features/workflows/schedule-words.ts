import type { WorkflowSchedule } from '#sdk/types.generated'
import { cronInWords } from '#web/ui/cron.ts'
import { exactTime } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'

const units: [seconds: number, one: string, several: string][] = [
  [86_400, t('every day'), t('every {0} days')],
  [3_600, t('every hour'), t('every {0} hours')],
  [60, t('every minute'), t('every {0} minutes')],
  [1, t('every second'), t('every {0} seconds')],
]

const intervalInWords = (seconds: number): string => {
  const [length, one, several] = units.find(([length]) => seconds % length === 0) ?? units.at(-1)!
  const count = seconds / length
  return count === 1 ? one : several.replace('{0}', String(count))
}

export const scheduleInWords = ({
  cron,
  every_s,
  at,
  timezone,
}: Pick<WorkflowSchedule, 'cron' | 'every_s' | 'at' | 'timezone'>): string => {
  if (cron !== null) return `${cronInWords(cron)} (${timezone})`
  return every_s !== null ? intervalInWords(every_s) : t('once, {0}', [exactTime(at!)])
}
