import { Plus } from 'lucide-react'
import { Button } from '#web/ui/button.tsx'
import { useEditor, useEditorStore } from '../store.ts'

export function EmptyCanvas() {
  const store = useEditorStore()
  const readOnly = useEditor((state) => state.readOnly)
  const inside = useEditor((state) => state.path.length > 0)
  return (
    <div className="pointer-events-none absolute inset-0 grid place-items-center">
      <div className="pointer-events-auto max-w-sm text-center">
        <p className="text-base font-medium">{inside ? 'The loop body is empty' : 'This workflow is empty'}</p>
        <p className="mt-1 text-ink-2">
          {readOnly
            ? 'The owner has not added any nodes yet.'
            : 'Drag a node from the palette, or press / to search for one.'}
        </p>
        {!readOnly && (
          <Button look="primary" icon={Plus} className="mt-4" onClick={() => store.set({ quick: { mode: 'add' } })}>
            Add the first node
          </Button>
        )}
      </div>
    </div>
  )
}
