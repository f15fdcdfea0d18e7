import { Files } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Workflow, WorkflowVersion } from '#sdk/types.generated'
import { messageOf } from '#web/ui/messages.ts'
import { SaveKey } from '#web/ui/save-key.ts'
import { toast } from '#web/ui/toast.tsx'
import { EditorCanvas } from './canvas/editor-canvas.tsx'
import type { Flow } from './canvas/graph-canvas.tsx'
import { CommentsPanel } from './comments/comments-panel.tsx'
import { emptyDoc } from './document/document.ts'
import { draftKey } from './draft/draft.ts'
import { useDraft } from './draft/use-draft.ts'
import { Help } from './help.tsx'
import { Inspector } from './inspector/inspector.tsx'
import { NewerNotice, Notice, OthersNotice, RestoredNotice } from './notices.tsx'
import type { OpenedWorkflow } from './opened.ts'
import { Palette } from './palette/palette.tsx'
import { QuickAdd } from './palette/quick-add.tsx'
import { PresentUsers } from './presence/present-users.tsx'
import { usePresence } from './presence/use-presence.ts'
import { ProblemsPanel } from './problems-panel.tsx'
import { TryProvider } from './run/effects.tsx'
import { pinsFor, readEffects, readPins } from './run/pins.ts'
import { RunBar } from './run/run-bar.tsx'
import { asksForInput, RunDialog } from './run/run-dialog.tsx'
import { type Part, useRun } from './run/use-run.ts'
import { EditorProvider, makeEditorStore, useEditor } from './store.ts'
import { Toolbar } from './toolbar.tsx'
import { useKeys } from './use-keys.ts'
import { useLiveCheck } from './use-problems.ts'
import { NewerDialog } from './versions/newer-dialog.tsx'
import { SaveDialog } from './versions/save-dialog.tsx'
import { showRefusal, useSaving } from './versions/use-saving.ts'
import { compareWithDraft, VersionsPanel } from './versions/versions-panel.tsx'

export type EditorProps = {
  workflow: Workflow
  opened: OpenedWorkflow
  readOnly: boolean
  mayRun: boolean
  userId: string
  executionId: string | undefined
  /** Opens the comments; a node id opens the comments of that node. */
  commentsOf: string | undefined
}

export function Editor(props: EditorProps) {
  const { opened, readOnly } = props
  const { workflow_id: workflowId } = props.workflow
  const store = useMemo(
    () => makeEditorStore({ ...opened, readOnly, workflowId, pins: readPins(workflowId), effects: readEffects() }),
    [opened, readOnly, workflowId],
  )
  return (
    <EditorProvider value={store}>
      <Workbench {...props} store={store} />
    </EditorProvider>
  )
}

function Workbench({
  workflow,
  opened,
  readOnly,
  mayRun,
  userId,
  executionId,
  commentsOf,
  store,
}: EditorProps & { store: ReturnType<typeof makeEditorStore> }) {
  const workflowId = workflow.workflow_id
  const flow = useRef<Flow | null>(null)
  const [isSaving, setSaving] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [conflict, setConflict] = useState<WorkflowVersion | null>(null)
  const [restored, setRestored] = useState(opened.restoredAt)
  const panel = useEditor((state) => state.panel)
  const comparing = useEditor((state) => state.comparison !== null)
  const baseNumber = useEditor((state) => state.base?.number ?? 0)
  const draft = useDraft(store, draftKey(userId, workflowId))
  const saving = useSaving(workflowId, store)
  const run = useRun(workflowId, store, executionId)
  const people = usePresence(workflowId)
  useLiveCheck()
  useEffect(() => store.set({ focus: '' }), [store])
  useEffect(() => {
    if (commentsOf !== undefined) store.set({ panel: 'comments', about: commentsOf || null })
  }, [store, commentsOf])

  const { start, tryDraft } = run
  const [part, setPart] = useState<Part>(undefined)
  const runWith = useCallback(
    async (input: unknown, chosen: Part): Promise<void> => {
      const { base, pins, effects, readOnly: isFixed } = store.get()
      if (isFixed) return start(input, base?.version_id)
      try {
        await tryDraft({ input, part: chosen, pinned: pinsFor(pins, store.doc().nodes), effects })
      } catch (error) {
        showRefusal(store, error)
        throw error
      }
    },
    [store, start, tryDraft],
  )
  const tryPart = useCallback(
    (chosen: Part): void => {
      if (!mayRun) return
      setPart(chosen)
      if (asksForInput(store.doc().inputs)) setRunning(true)
      else runWith({}, chosen).catch((error: unknown) => toast.failed('Could not start the run', messageOf(error)))
    },
    [store, mayRun, runWith],
  )
  const onRun = useCallback((): void => tryPart(undefined), [tryPart])
  const onSave = useCallback((): void => {
    if (!store.get().readOnly) setSaving(true)
  }, [store])
  const onKeyDown = useKeys(store, flow, { save: onSave, run: onRun })

  // Shown over the dialog of a run, so that the input typed there is kept.
  const saveDialogs = (
    <>
      <SaveDialog
        open={isSaving}
        first={baseNumber === 0}
        saving={saving}
        onClose={() => setSaving(false)}
        onNewer={(version) => setConflict(version)}
      />
      <NewerDialog
        version={conflict}
        baseNumber={baseNumber}
        saving={saving}
        onClose={() => setConflict(null)}
        onCompare={(version) => {
          setConflict(null)
          setRunning(false)
          store.set({ panel: 'versions' })
          void compareWithDraft(store, version)
        }}
      />
    </>
  )
  return (
    <SaveKey value={readOnly ? null : onSave}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys of the whole editor are read in one place */}
      <div data-own-keys className="flex h-dvh min-h-96 flex-col max-lg:h-[calc(100dvh-3.5rem)]" onKeyDown={onKeyDown}>
        <Toolbar
          workflow={workflow}
          faces={<PresentUsers people={people} />}
          kept={draft.kept}
          mayRun={mayRun}
          starting={run.starting}
          onSave={onSave}
          onRun={onRun}
        />
        {restored !== null && (
          <RestoredNotice
            at={restored}
            onClose={() => setRestored(null)}
            onDiscard={() => {
              const { base } = store.get()
              store.replace(base?.doc ?? emptyDoc(), base)
              setRestored(null)
            }}
          />
        )}
        {saving.newer && <NewerNotice version={saving.newer} onLook={() => setConflict(saving.newer)} />}
        {people.length > 0 && !readOnly && <OthersNotice names={people.map(({ name }) => name)} />}
        {draft.elsewhere && (
          <Notice tone="warn" icon={Files}>
            This workflow is open in another tab. The tab you edited last keeps its draft; save in one of them.
          </Notice>
        )}
        <div className="relative flex min-h-0 flex-1">
          {!readOnly && !comparing && <Palette flow={flow} />}
          <div className="flex min-w-0 flex-1 flex-col">
            <TryProvider value={mayRun ? tryPart : null}>
              <EditorCanvas flow={flow} workflow={workflow} people={people} />
            </TryProvider>
            <RunBar run={run} />
            <ProblemsPanel />
          </div>
          {panel === 'versions' && <VersionsPanel workflowId={workflowId} />}
          {panel === 'comments' && <CommentsPanel workflow={workflow} />}
          <TryProvider value={mayRun ? tryPart : null}>
            {((panel !== 'versions' && panel !== 'comments') || comparing) && <Inspector />}
          </TryProvider>
        </div>
        <QuickAdd />
        <Help />
        <RunDialog
          open={isRunning}
          workflowId={workflowId}
          onClose={() => setRunning(false)}
          onRun={(input) => runWith(input, part)}
          onSave={onSave}
        >
          {isRunning && saveDialogs}
        </RunDialog>
        {!isRunning && saveDialogs}
      </div>
    </SaveKey>
  )
}
