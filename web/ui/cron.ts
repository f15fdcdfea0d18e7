// A cron line of five fields as a sentence. What has no simple sentence is shown as it is.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

const two = (text: string): string => text.padStart(2, '0')
const isNumber = (text: string): boolean => /^\d{1,2}$/.test(text)
const stepOf = (text: string): number | undefined => {
  const step = /^\*\/(\d{1,2})$/.exec(text)?.[1]
  return step === undefined ? undefined : Number(step)
}

const ordinal = (day: number): string => {
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

function daysOf(field: string): string | undefined {
  if (field === '1-5') return 'on weekdays'
  if (field === '0,6' || field === '6,0') return 'at weekends'
  const days = field.split(',')
  if (!days.every((day) => /^[0-7]$/.test(day))) return undefined
  const names = days.map((day) => DAYS[Number(day) % 7]!)
  const last = names.pop()!
  return `on ${names.length > 0 ? `${names.join(', ')} and ` : ''}${last}`
}

export function cronInWords(cron: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = cron.trim().split(/\s+/)
  const raw = `at the times of “${cron}”`
  if (rest.length > 0 || month !== '*') return raw
  if (day === '*' && weekday === '*') {
    if (hour === '*' && minute === '*') return 'every minute'
    const minutes = stepOf(minute)
    if (hour === '*' && minutes !== undefined) return `every ${minutes} minutes`
    if (hour === '*' && isNumber(minute)) return minute === '0' ? 'every hour' : `every hour, at ${two(minute)} past`
    const hours = stepOf(hour)
    if (hours !== undefined && isNumber(minute)) return `every ${hours} hours`
  }
  if (!isNumber(minute) || !isNumber(hour)) return raw
  const at = `at ${two(hour)}:${two(minute)}`
  if (day === '*' && weekday === '*') return `every day ${at}`
  if (day === '*') {
    const days = daysOf(weekday)
    return days === undefined ? raw : `${days} ${at}`
  }
  return isNumber(day) && weekday === '*' ? `on the ${ordinal(Number(day))} of every month ${at}` : raw
}
