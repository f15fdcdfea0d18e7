import { expect, test } from 'vitest'
import { readDoc } from '../document/document.ts'
import { deleteDraft, draftKey, readDraft, storeDraft } from './draft.ts'

const makeStorage = (full = false) => {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem(key: string, text: string) {
      if (full) throw new Error('QuotaExceededError')
      kept.set(key, text)
    },
    removeItem: (key: string) => void kept.delete(key),
  }
}

const draft = {
  doc: readDoc({ nodes: [{ id: 'a', type: 'set' }] }),
  base: { version_id: 'wfv_1', number: 3 },
  kept_at: '2026-11-15T06:00:00Z',
  page: 'p1',
}

test('a draft is restored as stored, for this person and workflow only', () => {
  const storage = makeStorage()
  expect(storeDraft(storage, draftKey('usr_1', 'wf_1'), draft)).toBe(true)
  expect(readDraft(storage, draftKey('usr_1', 'wf_1'))).toEqual(draft)
  expect(readDraft(storage, draftKey('usr_2', 'wf_1'))).toBeNull()
  deleteDraft(storage, draftKey('usr_1', 'wf_1'))
  expect(readDraft(storage, draftKey('usr_1', 'wf_1'))).toBeNull()
})

test('a browser that stores nothing, or invalid data, loses only the draft', () => {
  const storage = makeStorage(true)
  expect(storeDraft(storage, 'k', draft)).toBe(false)
  for (const text of ['{', '1', '{"doc":1}', 'null']) {
    storage.kept.set('k', text)
    expect(readDraft(storage, 'k')).toBeNull()
  }
})
