import { Copy, Trash2 } from 'lucide-react'
import { Button } from '#web/ui/button.tsx'
import { plural } from '#web/ui/format.ts'
import { duplicate } from '../actions.ts'
import { removeItems } from '../document/commands.ts'
import { useEditor, useEditorStore } from '../store.ts'

export function SeveralForm() {
  const store = useEditorStore()
  const { nodes, edges } = useEditor((state) => state.selection)
  const readOnly = useEditor((state) => state.readOnly)
  return (
    <div className="flex flex-col gap-4 p-4">
      <h2 className="text-base font-semibold">
        {nodes.size} {nodes.size === 1 ? 'node' : 'nodes'}
        {edges.size > 0 && `, ${plural(edges.size, 'connection', 'connections')}`}
      </h2>
      {!readOnly && (
        <div className="flex gap-2">
          <Button icon={Copy} onClick={() => duplicate(store)}>
            Duplicate
          </Button>
          <Button icon={Trash2} onClick={() => store.change((doc) => removeItems(doc, store.get().path, nodes, edges))}>
            Delete
          </Button>
        </div>
      )}
    </div>
  )
}
