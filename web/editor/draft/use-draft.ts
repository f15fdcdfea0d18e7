import { useEffect, useState } from 'react'
import { newKey } from '#web/api.ts'
import type { Doc } from '../document/document.ts'
import type { EditorStore } from '../store.ts'
import { deleteDraft, readDraft, storeDraft } from './draft.ts'

const AFTER_MS = 250

/**
 * Compares by text, within a millisecond for 500 nodes. Equal documents with a different text count as different, and
 * the draft is kept.
 */
const isSame = (a: Doc, b: Doc): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

export type DraftState = { kept: boolean; elsewhere: boolean }

/** Stores the document on this device shortly after each change, and at once when the page is closed. */
export function useDraft(store: EditorStore, key: string): DraftState {
  const [state, setState] = useState<DraftState>({ kept: true, elsewhere: false })
  useEffect(() => {
    const page = newKey()
    let timer: ReturnType<typeof setTimeout> | undefined
    let written = store.get()
    const write = (): void => {
      clearTimeout(timer)
      timer = undefined
      const current = store.get()
      if (current.readOnly || (current.history === written.history && current.base === written.base)) return
      written = current
      const { present } = current.history
      const same = current.base !== null && isSame(present, current.base.doc)
      if (same) {
        deleteDraft(localStorage, key)
        if (current.dirty) store.set({ dirty: false })
        return
      }
      const base = current.base && { version_id: current.base.version_id, number: current.base.number }
      const kept = storeDraft(localStorage, key, { doc: present, base, kept_at: new Date().toISOString(), page })
      setState((before) => (before.kept === kept ? before : { ...before, kept }))
    }
    const unsubscribe = store.subscribe(() => {
      const { history, base } = store.get()
      if (history !== written.history || base !== written.base) timer ??= setTimeout(write, AFTER_MS)
    })
    const onStorage = (event: StorageEvent): void => {
      if (event.key !== key || event.newValue === null) return
      const other = readDraft(localStorage, key)
      if (other && other.page !== page) setState((before) => ({ ...before, elsewhere: true }))
    }
    const onHide = (): void => {
      if (document.visibilityState === 'hidden') write()
    }
    window.addEventListener('storage', onStorage)
    window.addEventListener('pagehide', write)
    document.addEventListener('visibilitychange', onHide)
    return () => {
      write()
      unsubscribe()
      window.removeEventListener('storage', onStorage)
      window.removeEventListener('pagehide', write)
      document.removeEventListener('visibilitychange', onHide)
    }
  }, [store, key])
  return state
}
