// The league day is a day in New York, which lasts 23 to 25 hours.

const TIME_ZONE = 'America/New_York'

const clock = new Intl.DateTimeFormat('en-CA', {
  timeZone: TIME_ZONE,
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

function localParts(at: Date): { date: string; asUtc: number } {
  const parts = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]))
  const date = `${parts.year}-${parts.month}-${parts.day}`
  return { date, asUtc: Date.parse(`${date}T${parts.hour}:${parts.minute}:${parts.second}Z`) }
}

/** Returns the date in New York at this time. */
export const leagueDayOf = (at: Date): string => localParts(at).date

/** Returns the moment at which clocks in New York show this date and hour. */
export function leagueTime(date: string, hour = 0): Date {
  const wanted = Date.parse(`${date}T${String(hour).padStart(2, '0')}:00:00Z`)
  // Two rounds are enough: the first guess can be on the other side of a clock change.
  let guess = wanted
  for (let round = 0; round < 2; round += 1) guess += wanted - localParts(new Date(guess)).asUtc
  return new Date(guess)
}

export function nextDay(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
}

export const isDate = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) &&
  new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
