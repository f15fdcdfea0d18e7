import { isObject } from '#model/json'
import { type Doc, readDoc } from '../document/document.ts'

// What is not yet saved as a version is kept on this device, so that a reload, a crash or a lost session loses nothing.

export type Draft = {
  doc: Doc
  /** The version it began from; null in a workflow without one. */
  base: { version_id: string; number: number } | null
  kept_at: string
  /** The page that wrote it: another one must not take it for its own. */
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

/** False where the browser keeps nothing: private windows, a full disk. The person is told. */
export function keepDraft(storage: Storage, key: string, draft: Draft): boolean {
  try {
    storage.setItem(key, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export function dropDraft(storage: Storage, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    // A browser that keeps nothing has nothing to drop.
  }
}
