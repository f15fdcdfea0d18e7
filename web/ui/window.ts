import { type RefObject, useEffect, useState } from 'react'

// Only the visible rows are in the DOM: a list of 10,000 rows scrolls like a list of 50. All rows have the same height.

export type Window = { from: number; to: number; before: number; after: number }

const MARGIN = 12

export function useWindow(
  ref: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
  enabled: boolean,
): Window {
  const [sight, setSight] = useState({ top: 0, height: 600 })
  useEffect(() => {
    const element = ref.current
    if (!element || !enabled) return
    const look = (): void => setSight({ top: element.scrollTop, height: element.clientHeight })
    look()
    element.addEventListener('scroll', look, { passive: true })
    const resized = new ResizeObserver(look)
    resized.observe(element)
    return () => {
      element.removeEventListener('scroll', look)
      resized.disconnect()
    }
  }, [ref, enabled])
  if (!enabled) return { from: 0, to: count, before: 0, after: 0 }
  const from = Math.min(Math.max(0, Math.floor(sight.top / rowHeight) - MARGIN), Math.max(0, count - 1))
  const to = Math.min(count, Math.ceil((sight.top + sight.height) / rowHeight) + MARGIN)
  return { from, to, before: from * rowHeight, after: Math.max(0, count - to) * rowHeight }
}
