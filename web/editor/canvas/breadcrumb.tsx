import { ChevronRight } from 'lucide-react'
import { graphAt, titleOf } from '../document/document.ts'
import { useDoc, useEditor, useEditorStore } from '../store.ts'

/** Shows the current position inside the bodies of maps and loops. */
export function Breadcrumb() {
  const store = useEditorStore()
  const doc = useDoc()
  const path = useEditor((state) => state.path)
  if (path.length === 0) return null
  const name = (depth: number): string => {
    const id = path[depth]!
    return titleOf(graphAt(doc, path.slice(0, depth))?.nodes.find((node) => node.id === id) ?? { id })
  }
  return (
    <nav
      aria-label="Bodies"
      className="flex items-center gap-1 rounded-md border border-line bg-surface px-2 py-1 shadow-sm"
    >
      <button type="button" className="text-ink-2 hover:text-ink hover:underline" onClick={() => store.open([])}>
        Workflow
      </button>
      {path.map((id, depth) => (
        <span key={id} className="flex items-center gap-1">
          <ChevronRight aria-hidden className="size-3.5 text-ink-3" />
          <button
            type="button"
            aria-current={depth === path.length - 1 ? 'location' : undefined}
            className="aria-[current]:font-medium not-aria-[current]:text-ink-2 hover:underline"
            onClick={() => store.open(path.slice(0, depth + 1))}
          >
            {name(depth)}
          </button>
        </span>
      ))}
    </nav>
  )
}
