import { useSyncExternalStore } from 'react'
import { exactTime, formatDuration, relativeTime, TIMESTAMP } from './time-words.ts'

// Times are relative to now, with the exact time on hover. The whole page shares one clock.

let current = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    current = Date.now()
    for (const notify of listeners) notify()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/** Returns the current time, updated every second while `live`, otherwise every ten seconds. */
export function useNow(live = false): number {
  const step = live ? 1000 : 10_000
  return useSyncExternalStore(subscribe, () => Math.floor(current / step) * step)
}

export function RelativeTime({ at, never = 'never' }: { at: string | null | undefined; never?: string }) {
  const now = useNow()
  if (!at) return <span className="text-ink-3">{never}</span>
  const time = new Date(at)
  return (
    <time dateTime={at} title={exactTime(time)} className="whitespace-nowrap">
      {relativeTime(time, Math.max(now, Math.min(time.getTime(), Date.now())))}
    </time>
  )
}

/** A text of the service, which does not know the user's time zone, with readable times for its timestamps. */
export const TextWithTimes = ({ text }: { text: string }) =>
  text.split(TIMESTAMP).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
    index % 2 === 1 ? <RelativeTime key={index} at={part} /> : part,
  )

/** The duration, final or so far. */
export function Duration({ from, to }: { from: string | null; to: string | null }) {
  const now = useNow(from !== null && to === null)
  if (from === null) return <span className="text-ink-3">–</span>
  return (
    <span className="tabular-nums">
      {formatDuration((to === null ? Math.max(now, Date.parse(from)) : Date.parse(to)) - Date.parse(from))}
    </span>
  )
}
