import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { shortcutPages } from './shortcut-pages.ts'

const ShortcutsDialog = lazy(() =>
  import('./shortcuts-dialog.tsx').then((module) => ({ default: module.ShortcutsDialog })),
)

/** Checks for keys that are not shortcuts: keys in a text field, in an open dialog, or on a page with its own keys. */
export const isTyping = (event: KeyboardEvent): boolean => {
  const target = event.target as Element
  return (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    target.closest(
      'input,textarea,select,[contenteditable=true],[data-code],[role=dialog],[role=alertdialog],[role=menu],[data-own-keys]',
    ) !== null
  )
}

export const showShortcuts = (): void => void window.dispatchEvent(new Event('heddle:shortcuts'))

export function Shortcuts() {
  const navigate = useNavigate()
  const [open, setOpen] = useState(false)
  useEffect(() => {
    let leading = 0
    const show = (): void => setOpen(true)
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event)) return
      const place = shortcutPages[event.key]
      if (event.key === '?') show()
      else if (event.key === 'g') leading = event.timeStamp
      else if (place && leading > 0 && event.timeStamp - leading < 1500) {
        leading = 0
        event.stopImmediatePropagation()
        void navigate({ to: place.to })
      } else leading = 0
    }
    window.addEventListener('keydown', onKey, { capture: true })
    window.addEventListener('heddle:shortcuts', show)
    return () => {
      window.removeEventListener('keydown', onKey, { capture: true })
      window.removeEventListener('heddle:shortcuts', show)
    }
  }, [navigate])
  if (!open) return null
  return (
    <Suspense>
      <ShortcutsDialog onClose={() => setOpen(false)} />
    </Suspense>
  )
}
