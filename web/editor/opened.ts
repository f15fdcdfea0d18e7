import type { Palette, WorkflowVersion } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { findVersion } from '#web/features/workflows/versions-of.ts'
import { type Doc, emptyDoc, sameDoc } from './document/document.ts'
import { openDoc } from './document/open.ts'
import { deleteDraft, draftKey, readDraft } from './draft/draft.ts'
import { type Kinds, readKinds } from './kinds.ts'
import type { Base } from './store.ts'

/** The initial data of an editor. */
export type OpenedWorkflow = { doc: Doc; base: Base | null; kinds: Kinds; restoredAt: string | null }

/** Opens the newest version, or its draft stored on this device. */
export async function openWorkflow(options: {
  workflowId: string
  workspaceId: string
  activeVersionId: string | null
  userId: string
  palette: Palette
  readOnly: boolean
}): Promise<OpenedWorkflow> {
  const { workflowId, activeVersionId, userId, readOnly } = options
  const [{ items, next_cursor }, alone] = await Promise.all([
    api.listVersions({ workflow_id: workflowId, limit: 10 }),
    !readOnly && isAlone(options.workspaceId),
  ])
  const kinds = readKinds(options.palette, alone)
  const active = async () =>
    items.find((version) => version.active) ??
    (activeVersionId ? await findVersion(workflowId, activeVersionId, next_cursor) : null)
  const newest = (readOnly ? await active() : null) ?? items[0]
  const base = newest ? await toBase(newest, kinds) : null
  const fresh: OpenedWorkflow = { doc: base?.doc ?? emptyDoc(), base, kinds, restoredAt: null }
  if (readOnly) return fresh
  const key = draftKey(userId, workflowId)
  const draft = readDraft(localStorage, key)
  if (!draft) return fresh
  const doc = await openDoc(draft.doc, kinds.table)
  if (sameDoc(doc, base?.doc ?? emptyDoc())) {
    deleteDraft(localStorage, key)
    return fresh
  }
  // The base of the draft, if it is not the newest version: the editor then reports a newer version.
  const began = draft.base
  const origin =
    began &&
    (items.find(({ version_id }) => version_id === began.version_id) ??
      (await findVersion(workflowId, began.version_id, next_cursor)))
  const own = origin ? await toBase(origin, kinds) : began ? { ...began, doc: base?.doc ?? emptyDoc() } : base
  return { doc, base: own, kinds, restoredAt: draft.kept_at }
}

const isAlone = async (workspace_id: string): Promise<boolean> =>
  (await api.listWorkspaceMembers({ workspace_id, limit: 2 })).items.length === 1

async function toBase(version: WorkflowVersion, kinds: Kinds): Promise<Base> {
  const doc = await openDoc(version.definition, kinds.table)
  return { version_id: version.version_id, number: version.number, doc }
}
