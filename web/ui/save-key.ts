import { createContext, type KeyboardEvent, useContext } from 'react'

/** The action of Ctrl S on a page that saves with it. Null on other pages, where the browser handles the key. */
export const SaveKey = createContext<(() => void) | null>(null)

export const isSaveKey = (event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>): boolean =>
  event.key.toLowerCase() === 's' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey

/**
 * Handles Ctrl S inside a popup, for its `onKeyDown`. A popup with a form submits the form. Any other popup closes, and
 * the page is saved. `instead` replaces both. The key acts once while it is held: it must not answer the popup that it
 * has opened.
 */
export function useSaveKey(onClose: () => void, instead?: () => void) {
  const save = useContext(SaveKey)
  return (event: KeyboardEvent<HTMLElement>): void => {
    const isInside = event.currentTarget.contains(event.target as Node)
    if (!save || !isInside || event.defaultPrevented || !isSaveKey(event)) return
    event.preventDefault()
    if (event.repeat) return
    const forms = event.currentTarget.querySelectorAll('form')
    const form = (event.target as Element).closest('form') ?? (forms.length === 1 ? forms[0] : undefined)
    if (instead) instead()
    else if (form) form.requestSubmit()
    else if (forms.length === 0) {
      onClose()
      save()
    }
  }
}
