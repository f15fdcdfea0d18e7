import type { WorkflowSchedule } from '#sdk/types.generated'
import { cronInWords } from '#web/ui/cron.ts'
import { exactTime } from '#web/ui/time-words.ts'

const units: [seconds: number, word: string][] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

const intervalInWords = (seconds: number): string => {
  const [length, word] = units.find(([one]) => seconds % one === 0) ?? [1, 'second']
  const count = seconds / length
  return count === 1 ? `every ${word}` : `every ${count} ${word}s`
}

export const scheduleInWords = ({
  cron,
  every_s,
  at,
  timezone,
}: Pick<WorkflowSchedule, 'cron' | 'every_s' | 'at' | 'timezone'>): string => {
  if (cron !== null) return `${cronInWords(cron)} (${timezone})`
  return every_s !== null ? intervalInWords(every_s) : `once, ${exactTime(at!)}`
}
