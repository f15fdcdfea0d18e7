import { Trash2 } from 'lucide-react'
import { Button } from '#web/ui/button.tsx'
import { removeItems, setCondition } from '../document/commands.ts'
import { type KeyedEdge, portOf, titleOf } from '../document/document.ts'
import { AddButton } from '../fields/add-button.tsx'
import { ConditionEditor } from '../fields/condition-editor.tsx'
import { FieldProblem } from '../fields/field-problem.tsx'
import { focusBeside, focusField } from '../fields/focus.ts'
import { FieldScopeProvider } from '../fields/scope.tsx'
import { useEditor, useEditorStore, useGraph } from '../store.ts'
import { useFormScope } from './use-field-scope.ts'

/** A connection and its condition. */
export function EdgeForm({ edge }: { edge: KeyedEdge }) {
  const store = useEditorStore()
  const graph = useGraph()
  const path = useEditor((state) => state.path)
  const scope = useFormScope('edge', edge.id, { kind: 'edge', from: edge.from.node })
  const name = (nodeId: string): string => titleOf(graph.nodes.find((node) => node.id === nodeId) ?? { id: nodeId })
  const set = (cel: string | null): void =>
    store.change((doc) => setCondition(doc, path, edge.id, cel), cel === null ? undefined : `edge/${edge.id}`)
  const add = (): void => {
    set('true')
    focusField('/when')
  }
  const problem = scope.problemAt('/when') ?? scope.problemAt('') ?? scope.problemAt('/from/port')
  return (
    <FieldScopeProvider value={scope}>
      <div className="flex flex-col gap-5 p-4">
        <header>
          <h2 className="text-base font-semibold">Connection</h2>
          <p className="mt-1 text-ink-2">
            <NodeLink id={edge.from.node} name={name(edge.from.node)} />
            {portOf(edge) !== 'out' && <> from output “{portOf(edge)}”</>} →{' '}
            <NodeLink id={edge.to} name={name(edge.to)} />
          </p>
        </header>
        <div data-field="/when" data-fields className="flex flex-col gap-1">
          <h3 className="font-medium">Only when</h3>
          {edge.when ? (
            <ConditionEditor label="Only when" cel={edge.when.$cel} problem={problem} onChange={set} />
          ) : (
            <p className="text-ink-3">Always. There is no condition.</p>
          )}
          {problem && <FieldProblem>{problem}</FieldProblem>}
          {!edge.when && !scope.readOnly && <AddButton onClick={add}>Add a condition</AddButton>}
          {edge.when && !scope.readOnly && (
            <button
              type="button"
              className="w-fit text-xs text-ink-2 underline"
              onClick={(event) => {
                focusBeside(event.currentTarget)
                set(null)
              }}
            >
              Remove condition
            </button>
          )}
        </div>
        {!scope.readOnly && (
          <Button
            icon={Trash2}
            className="w-fit"
            onClick={() => {
              store.change((doc) => removeItems(doc, path, new Set(), new Set([edge.id])))
              store.set({ focus: '' })
            }}
          >
            Delete connection
          </Button>
        )}
      </div>
    </FieldScopeProvider>
  )
}

function NodeLink({ id, name }: { id: string; name: string }) {
  const store = useEditorStore()
  return (
    <button
      type="button"
      className="font-medium text-ink underline decoration-line-strong underline-offset-2 hover:text-accent-strong"
      onClick={() => store.select([id])}
    >
      {name}
    </button>
  )
}
