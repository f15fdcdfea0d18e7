import { X } from 'lucide-react'
import { useState } from 'react'
import type { WorkflowVersion } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { toast } from '#web/ui/toast.tsx'
import { compare } from '../document/compare.ts'
import { openDoc } from '../document/open.ts'
import { type EditorStore, useEditor, useEditorStore } from '../store.ts'
import { usePeople } from './use-people.ts'

/** All versions: compare, load a version into the editor, activate a version. */
export function VersionsPanel({ workflowId }: { workflowId: string }) {
  const store = useEditorStore()
  const versions = useList('listVersions', { workflow_id: workflowId, limit: 30 })
  const dirty = useEditor((state) => state.dirty)
  const base = useEditor((state) => state.base)
  const readOnly = useEditor((state) => state.readOnly)
  const comparing = useEditor((state) => state.comparison?.title)
  const [asked, setAsked] = useState<WorkflowVersion | null>(null)
  const activate = useChange('activateVersion', { stale: ['listVersions', 'getWorkflow'] })
  return (
    <section
      aria-label="Versions"
      className="flex min-h-0 w-80 shrink-0 flex-col overflow-y-auto border-l border-line bg-surface"
    >
      <div className="flex items-center justify-between px-4 pt-3 pb-2">
        <h2 className="text-base font-semibold">Versions</h2>
        <IconButton
          icon={X}
          label="Close versions"
          size="small"
          onClick={() => store.set({ panel: null, comparison: null })}
        />
      </div>
      {dirty && (
        <p className="mx-4 mb-2 rounded-md bg-waiting-soft px-3 py-2 text-waiting">You have unsaved changes.</p>
      )}
      <Loaded of={versions} what="the versions">
        {(items) => (
          <ol className="flex flex-col px-2 pb-4">
            {items.map((version, index) => (
              <VersionRow
                key={version.version_id}
                version={version}
                previous={items[index + 1]}
                current={base?.version_id === version.version_id}
                comparing={comparing}
                readOnly={readOnly}
                onActivate={() => setAsked(version)}
              />
            ))}
            {items.length === 0 && <li className="px-2 py-4 text-ink-3">No versions yet. Save one.</li>}
          </ol>
        )}
      </Loaded>
      {versions.more.hasMore && (
        <Button look="quiet" pending={versions.more.loading} onClick={versions.more.load}>
          Older versions
        </Button>
      )}
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        look="primary"
        title={`Activate version ${asked?.number}?`}
        consequence={`New runs use version ${asked?.number}. Runs that already started keep their version.`}
        action="Activate"
        onConfirm={async () => {
          const version = await activate.mutateAsync({ workflow_id: workflowId, version_id: asked!.version_id })
          toast.done(`Version ${version.number} is active`)
        }}
      />
    </section>
  )
}

type RowProps = {
  version: WorkflowVersion
  previous: WorkflowVersion | undefined
  current: boolean
  comparing: string | undefined
  readOnly: boolean
  onActivate(): void
}

function VersionRow({ version, previous, current, comparing, readOnly, onActivate }: RowProps) {
  const store = useEditorStore()
  const nameOf = usePeople()
  const dirty = useEditor((state) => state.dirty)
  const restore = async (): Promise<void> => {
    const doc = await openDoc(version.definition, store.kinds.table)
    store.set({ comparison: null })
    store.replace(doc, store.get().base)
    toast.tell(
      `Version ${version.number} loaded into the editor`,
      'Save it to make it the newest version. Undo restores your draft.',
    )
  }
  return (
    <li className="rounded-md px-2 py-2 hover:bg-hover">
      <div className="flex items-center gap-2">
        <span className="font-medium">Version {version.number}</span>
        {version.active && <Badge tone="success">active</Badge>}
        {current && <Badge>in the editor</Badge>}
      </div>
      {version.note && <p className="mt-0.5 break-words text-ink-2">{version.note}</p>}
      <p className="mt-0.5 text-xs text-ink-3">
        {nameOf(version.created_by)}, <RelativeTime at={version.created_at} />
      </p>
      <div className="mt-1.5 flex flex-wrap gap-1.5">
        {previous && (
          <Button
            size="small"
            aria-pressed={comparing === titleFor(previous, version)}
            onClick={() => void compareVersions(store, previous, version)}
          >
            Changes
          </Button>
        )}
        {(dirty || !current) && (
          <Button size="small" onClick={() => void compareWithDraft(store, version)}>
            Compare with draft
          </Button>
        )}
        {!readOnly && (!current || dirty) && (
          <Button size="small" onClick={() => void restore()}>
            Load into editor
          </Button>
        )}
        {!readOnly && !version.active && (
          <Button size="small" onClick={onActivate}>
            Activate
          </Button>
        )}
      </div>
    </li>
  )
}

const titleFor = (before: WorkflowVersion, after: WorkflowVersion): string =>
  `Version ${before.number} → ${after.number}`

async function compareVersions(store: EditorStore, before: WorkflowVersion, after: WorkflowVersion): Promise<void> {
  const [old, now] = await Promise.all([
    openDoc(before.definition, store.kinds.table),
    openDoc(after.definition, store.kinds.table),
  ])
  store.open([])
  store.set({ comparison: { ...compare(old, now), title: titleFor(before, after) } })
}

export async function compareWithDraft(store: EditorStore, version: WorkflowVersion): Promise<void> {
  const old = await openDoc(version.definition, store.kinds.table)
  store.open([])
  store.set({
    comparison: { ...compare(old, store.doc()), title: `Version ${version.number} → draft` },
  })
}
