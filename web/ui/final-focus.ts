import { useState } from 'react'

/**
 * Returns what has the focus after a dialog closes: the element that had it when the dialog opened. Without it, a dialog
 * whose field has `autoFocus` would leave the focus on nothing, because the field takes the focus before the dialog
 * remembers where the focus was. An element that is gone, such as an item of a menu, leaves the choice to the dialog.
 */
export function useFinalFocus(open: boolean): () => HTMLElement | true {
  const [wasOpen, setWasOpen] = useState(false)
  const [before, setBefore] = useState<Element | null>(null)
  // During the render that opens the dialog, no field of it has the focus yet.
  if (open !== wasOpen) {
    setWasOpen(open)
    if (open) setBefore(document.activeElement)
  }
  return () => (before instanceof HTMLElement && before.isConnected && before !== document.body ? before : true)
}
