import { useEffect, useState } from 'react'
import { exactMinute } from './time-words.ts'

const COUNT = 5

/** The next starts of an unsaved schedule; the service returns them again once it is saved. */
export function NextTimes({
  cron,
  every_s,
  timezone,
}: {
  cron: string | null
  every_s: number | null
  timezone: string
}) {
  const [times, setTimes] = useState<Date[] | null>([])
  useEffect(() => {
    let current = true
    const read = async (): Promise<Date[] | null> => {
      if (every_s !== null) return nextOf(every_s)
      if (cron === null) return []
      const { Cron } = await import('croner')
      try {
        return new Cron(cron, { timezone, mode: '5-part', paused: true }).nextRuns(COUNT)
      } catch {
        return null
      }
    }
    void read().then((found) => current && setTimes(found))
    return () => {
      current = false
    }
  }, [cron, every_s, timezone])
  if (times === null) return <p className="text-xs text-danger">This is not a cron expression with five fields.</p>
  if (times.length === 0) return null
  return (
    <div>
      <p className="text-xs text-ink-2">Next times</p>
      <ol aria-label="Next five times" className="mt-1 text-xs text-ink-2 tabular-nums">
        {times.map((at) => (
          <li key={at.getTime()}>{exactMinute(at)}</li>
        ))}
      </ol>
    </div>
  )
}

const nextOf = (every_s: number): Date[] =>
  every_s >= 60 ? Array.from({ length: COUNT }, (_, index) => new Date(Date.now() + every_s * 1000 * (index + 1))) : []
