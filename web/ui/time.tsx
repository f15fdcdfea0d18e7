import { useSyncExternalStore } from 'react'

// Times are relative to now, with the exact one on hover. One clock for the whole page, not one per time.

let current = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    current = Date.now()
    for (const tell of listeners) tell()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/** Now, to the second while `live`, else to ten seconds. */
export function useNow(live = false): number {
  const step = live ? 1000 : 10_000
  return useSyncExternalStore(subscribe, () => Math.floor(current / step) * step)
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

export function relativeTime(at: Date, now: number): string {
  const seconds = (at.getTime() - now) / 1000
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit)
  }
  return seconds < 15 ? 'just now' : 'in under a minute'
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' })
/** Where the hour says nothing. */
export const exactDay = (at: string | Date): string => day.format(new Date(at))

export const exactTime = (at: string | Date): string => exact.format(new Date(at))

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

const TIMESTAMP = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** A text of the service, which knows no time zone: its timestamps as times for people. */
export const TextWithTimes = ({ text }: { text: string }) =>
  text.split(TIMESTAMP).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
    index % 2 === 1 ? <RelativeTime key={index} at={part} /> : part,
  )

/** The same where only text can stand. */
export const timesInWords = (text: string): string =>
  text.replace(new RegExp(TIMESTAMP, 'g'), (at) => relativeTime(new Date(at), Date.now()))

/** 820 ms, 4.2 s, 3 min 5 s, 2 h 10 min */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return ms < 9_950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 1000)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** How long it took, or has taken so far. */
export function Duration({ from, to }: { from: string | null; to: string | null }) {
  const now = useNow(from !== null && to === null)
  if (from === null) return <span className="text-ink-3">–</span>
  return (
    <span className="tabular-nums">
      {formatDuration((to === null ? Math.max(now, Date.parse(from)) : Date.parse(to)) - Date.parse(from))}
    </span>
  )
}
