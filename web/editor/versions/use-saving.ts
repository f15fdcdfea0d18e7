import { useCallback, useEffect, useRef, useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import type { WorkflowVersion } from '#sdk/types.generated'
import { api, invalidate, newKey, useApi } from '#web/api.ts'
import { type Doc, readDoc } from '../document/document.ts'
import { toProblem } from '../document/problems.ts'
import type { EditorStore } from '../store.ts'

const LOOK_EVERY_MS = 10_000

export type Saved =
  | { kind: 'saved'; version: WorkflowVersion }
  | { kind: 'newer'; version: WorkflowVersion }
  | { kind: 'refused'; error: unknown }

/** Shows the errors of the service at the nodes that they concern. */
export function showRefusal(store: EditorStore, error: unknown, doc: Doc = store.doc()): void {
  if (!(error instanceof HeddleProblem) || error.status !== 422) return
  const refused = error.errors
    .filter(({ path }) => path.startsWith('/definition'))
    .map(({ path, message }) => toProblem(doc, { path: path.slice('/definition'.length), message }))
  if (refused.length > 0) store.set({ refused, panel: 'problems' })
}

/**
 * Saves versions, and detects versions that others have saved since. Saving never overwrites a version, but the user
 * should not miss one.
 */
export function useSaving(workflowId: string, store: EditorStore) {
  const [seen, setSeen] = useState(store.get().base?.number ?? 0)
  const { data } = useApi('listVersions', { workflow_id: workflowId, limit: 1 }, { refetchInterval: LOOK_EVERY_MS })
  const newest = data?.items[0]
  const baseNumber = useBaseNumber(store)
  const newer = newest && newest.number > Math.max(baseNumber, seen) ? newest : null
  const busy = useRef(false)
  const [pending, setPending] = useState(false)

  const save = useCallback(
    async (input: { note: string | null; activate: boolean; anyway?: boolean }): Promise<Saved> => {
      if (busy.current) return { kind: 'refused', error: new Error('Already saving.') }
      busy.current = true
      setPending(true)
      const doc = store.doc()
      try {
        const { items } = await api.listVersions({ workflow_id: workflowId, limit: 1 })
        const last = items[0]
        if (last && last.number > (store.get().base?.number ?? 0) && !input.anyway)
          return { kind: 'newer', version: last }
        const version = await api.createVersion(
          { workflow_id: workflowId, definition: doc, note: input.note, activate: input.activate },
          { idempotencyKey: newKey() },
        )
        store.saved({ version_id: version.version_id, number: version.number, doc })
        setSeen(version.number)
        void invalidate('listVersions', 'getWorkflow', 'diffVersions')
        return { kind: 'saved', version }
      } catch (error) {
        showRefusal(store, error, doc)
        return { kind: 'refused', error }
      } finally {
        busy.current = false
        setPending(false)
      }
    },
    [store, workflowId],
  )
  /** Loads the other user's version into the editor; undo restores this user's document. */
  const take = useCallback(
    (version: WorkflowVersion): void => {
      const doc = readDoc(version.definition)
      store.replace(doc, { version_id: version.version_id, number: version.number, doc })
    },
    [store],
  )
  return { save, pending, newer, take, ignore: (version: WorkflowVersion): void => setSeen(version.number) }
}

export type Saving = ReturnType<typeof useSaving>

function useBaseNumber(store: EditorStore): number {
  const [number, setNumber] = useState(store.get().base?.number ?? 0)
  useEffect(() => store.subscribe(() => setNumber(store.get().base?.number ?? 0)), [store])
  return number
}
