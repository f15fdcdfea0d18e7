import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import type { Person } from '#web/session.tsx'
import { useRecentPages } from './use-recent.ts'

const PaletteDialog = lazy(() => import('./palette-dialog.tsx').then((module) => ({ default: module.PaletteDialog })))

export const openPalette = (): void => void window.dispatchEvent(new Event('heddle:palette'))

const isPaletteKey = (event: KeyboardEvent): boolean =>
  event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey

/** Opens with Ctrl K from anywhere, also while typing and over a dialog: finds a page, a resource or an action. */
export function CommandPalette({ me }: { me: Person }) {
  const navigate = useNavigate()
  const [open, setOpen] = useState(false)
  useRecentPages(me.user.user_id, me.workspace?.workspace_id)
  useEffect(() => {
    const show = (): void => setOpen(true)
    const onKey = (event: KeyboardEvent): void => {
      if (!isPaletteKey(event)) return
      event.preventDefault()
      event.stopPropagation()
      setOpen((before) => !before)
    }
    window.addEventListener('keydown', onKey, { capture: true })
    window.addEventListener('heddle:palette', show)
    return () => {
      window.removeEventListener('keydown', onKey, { capture: true })
      window.removeEventListener('heddle:palette', show)
    }
  }, [])
  if (!open) return null
  return (
    <Suspense>
      <PaletteDialog
        me={me}
        onClose={() => setOpen(false)}
        onGo={(to) => {
          setOpen(false)
          void navigate({ to })
        }}
      />
    </Suspense>
  )
}
