import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Dialog } from '#web/ui/dialog.tsx'

// Two keys lead everywhere: g, then the letter of the place. `?` shows the list.

const places: Record<string, { label: string; to: string }> = {
  h: { label: 'Home', to: '/' },
  w: { label: 'Workflows', to: '/workflows' },
  r: { label: 'Runs', to: '/runs' },
  a: { label: 'Approvals', to: '/approvals' },
  n: { label: 'Notifications', to: '/notifications' },
}

const onPages: [keys: string, what: string][] = [
  ['j / k', 'Next and previous approval'],
  ['a / r', 'Approve, reject'],
  ['?', 'This list'],
]

/** Keys that belong to what is being typed in, to an open dialog, or to a page with keys of its own are not shortcuts. */
export const isTyping = (event: KeyboardEvent): boolean => {
  const target = event.target as Element
  return (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    target.closest('input,textarea,select,[contenteditable=true],[role=dialog],[role=alertdialog],[role=menu],[data-own-keys]') !== null
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
      const place = places[event.key]
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
  return (
    <Dialog open={open} onClose={() => setOpen(false)} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        {Object.entries(places).map(([key, { label }]) => (
          <Row key={key} keys={`g ${key}`} what={label} />
        ))}
        {onPages.map(([keys, what]) => (
          <Row key={keys} keys={keys} what={what} />
        ))}
      </dl>
    </Dialog>
  )
}

const Row = ({ keys, what }: { keys: string; what: string }) => (
  <div className="col-span-2 grid grid-cols-subgrid">
    <dt>
      <kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">{keys}</kbd>
    </dt>
    <dd>{what}</dd>
  </div>
)
