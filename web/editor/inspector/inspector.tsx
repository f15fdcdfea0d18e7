import { PanelRightClose, PanelRightOpen, X } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { NOTHING, useEditor, useEditorStore, useGraph } from '../store.ts'
import { ChangesForm } from './changes-form.tsx'
import { EdgeForm } from './edge-form.tsx'
import { NodeForm } from './node-form.tsx'
import { SeveralForm } from './several-form.tsx'
import { WorkflowForm } from './workflow-form.tsx'

const KEY = 'heddle.inspector'

/** The panel on the right: the selected node, the selected edge, or the workflow itself. */
export function Inspector() {
  const selection = useEditor((state) => state.selection)
  const comparing = useEditor((state) => state.comparison !== null)
  const store = useEditorStore()
  const graph = useGraph()
  const node = selection.nodes.size === 1 ? graph.nodes.find(({ id }) => selection.nodes.has(id)) : undefined
  const edge =
    selection.nodes.size === 0 && selection.edges.size === 1
      ? graph.edges.find(({ id }) => selection.edges.has(id))
      : undefined
  // On a small screen the panel is a drawer: open for a selection, or when the user opens the workflow itself.
  const [asked, setAsked] = useState(false)
  const nothing = selection.nodes.size + selection.edges.size === 0
  const closed = nothing && !comparing && !asked
  // On a large screen the panel can be collapsed to make the canvas wider.
  const [folded, setFolded] = useState(() => localStorage.getItem(KEY) === 'folded')
  const fold = (next: boolean): void => {
    localStorage.setItem(KEY, next ? 'folded' : 'open')
    setFolded(next)
  }
  const close = (): void => {
    setAsked(false)
    store.set({ selection: NOTHING })
  }
  return (
    <>
      {closed && (
        <div className="absolute top-1.5 right-1.5 z-10 lg:hidden">
          <IconButton
            icon={PanelRightOpen}
            label="Input and output"
            className="border border-line bg-surface"
            onClick={() => setAsked(true)}
          />
        </div>
      )}
      {folded && (
        <div className="border-l border-line bg-surface p-1.5 max-lg:hidden">
          <IconButton icon={PanelRightOpen} label="Show the inspector" size="small" onClick={() => fold(false)} />
        </div>
      )}
      <section
        aria-label="Inspector"
        data-inspector
        className={cx(
          folded && 'lg:hidden',
          'relative flex min-h-0 w-88 shrink-0 flex-col overflow-y-auto border-l border-line bg-surface max-lg:absolute max-lg:inset-y-0 max-lg:right-0 max-lg:z-20 max-lg:w-[min(22rem,100%)] max-lg:shadow-raised',
          closed && 'max-lg:hidden',
        )}
      >
        <div className="absolute top-1.5 right-1.5 z-10 max-lg:hidden">
          <IconButton icon={PanelRightClose} label="Hide the inspector" size="small" onClick={() => fold(true)} />
        </div>
        {!comparing && (
          <div className="flex justify-end border-b border-line p-1 lg:hidden">
            <IconButton icon={X} label="Close" size="small" onClick={close} />
          </div>
        )}
        {comparing ? (
          <ChangesForm />
        ) : node ? (
          <NodeForm key={`${store.get().path.join('/')}/${node.id}`} node={node} />
        ) : edge ? (
          <EdgeForm key={edge.id} edge={edge} />
        ) : selection.nodes.size + selection.edges.size > 1 ? (
          <SeveralForm />
        ) : (
          <WorkflowForm />
        )}
      </section>
    </>
  )
}
