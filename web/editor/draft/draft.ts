import { isObject } from '#model/json'
import { type Doc, readDoc } from '../document/document.ts'

// Changes that are not yet saved as a version are stored on this device, so that a reload, a crash or a lost session
// loses nothing.

export type Draft = {
  doc: Doc
  /** The version that the draft is based on; null in a workflow without a version. */
  base: { version_id: string; number: number } | null
  kept_at: string
  /** The page that wrote the draft: another page must not treat the draft as its own. */
  page: string
}

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>

export const draftKey = (userId: string, workflowId: string): string => `heddle.draft.${userId}.${workflowId}`

export function readDraft(storage: Storage, key: string): Draft | null {
  try {
    const source: unknown = JSON.parse(storage.getItem(key) ?? 'null')
    if (!isObject(source) || !isObject(source.doc)) return null
    const { base } = source
    return {
      doc: readDoc(source.doc),
      base: isObject(base) ? { version_id: String(base.version_id), number: Number(base.number) } : null,
      kept_at: String(source.kept_at),
      page: String(source.page),
    }
  } catch {
    return null
  }
}

/**
 * Stores a draft. Returns false if the browser stores nothing: private windows, a full disk. The console then warns the
 * user.
 */
export function storeDraft(storage: Storage, key: string, draft: Draft): boolean {
  try {
    storage.setItem(key, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export function deleteDraft(storage: Storage, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    // A browser that stores nothing has nothing to remove.
  }
}
