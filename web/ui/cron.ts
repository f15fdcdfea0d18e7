import { language, t } from '#web/words/language.ts'

// Describes a cron line of five fields as a sentence. A line without a simple sentence is shown unchanged.

// English without the comma before “and”.
const together = new Intl.ListFormat(language === 'en' ? 'en-GB' : language)
const dayName = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' })
/** Returns the name of a day: 0 is Sunday, like 1 January 2023. */
const nameOf = (day: number): string => dayName.format(new Date(Date.UTC(2023, 0, 1 + (day % 7))))

const two = (text: string): string => text.padStart(2, '0')
const isNumber = (text: string): boolean => /^\d{1,2}$/.test(text)
const stepOf = (text: string): number | undefined => {
  const step = /^\*\/(\d{1,2})$/.exec(text)?.[1]
  return step === undefined ? undefined : Number(step)
}

const ordinal = (day: number): string => {
  if (language !== 'en') return `${day}.`
  const tail =
    day % 10 === 1 && day !== 11
      ? 'st'
      : day % 10 === 2 && day !== 12
        ? 'nd'
        : day % 10 === 3 && day !== 13
          ? 'rd'
          : 'th'
  return `${day}${tail}`
}

function daysAt(field: string, time: string): string | undefined {
  if (field === '1-5') return t('on weekdays at {0}', [time])
  if (field === '0,6' || field === '6,0') return t('at weekends at {0}', [time])
  const days = field.split(',')
  if (!days.every((day) => /^[0-7]$/.test(day))) return undefined
  return t('on {0} at {1}', [together.format(days.map((day) => nameOf(Number(day)))), time])
}

export function cronInWords(cron: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = cron.trim().split(/\s+/)
  const raw = t('at the times of “{0}”', [cron])
  if (rest.length > 0 || month !== '*') return raw
  if (day === '*' && weekday === '*') {
    if (hour === '*' && minute === '*') return t('every minute')
    const minutes = stepOf(minute)
    if (hour === '*' && minutes !== undefined) return t('every {0} minutes', [minutes])
    if (hour === '*' && isNumber(minute))
      return minute === '0' ? t('every hour') : t('every hour, at {0} past', [two(minute)])
    const hours = stepOf(hour)
    if (hours !== undefined && isNumber(minute)) return t('every {0} hours', [hours])
  }
  if (!isNumber(minute) || !isNumber(hour)) return raw
  const time = `${two(hour)}:${two(minute)}`
  if (day === '*' && weekday === '*') return t('every day at {0}', [time])
  if (day === '*') return daysAt(weekday, time) ?? raw
  return isNumber(day) && weekday === '*' ? t('on the {0} of every month at {1}', [ordinal(Number(day)), time]) : raw
}
