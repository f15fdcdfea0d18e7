import { CircleAlert, TriangleAlert, X } from 'lucide-react'
import { IconButton } from '#web/ui/button.tsx'
import { plural } from '#web/ui/format.ts'
import type { Problem } from './document/problems.ts'
import { focusField } from './fields/focus.ts'
import { type EditorStore, useEditor, useEditorStore } from './store.ts'
import { useProblems } from './use-problems.ts'

/** All problems, each with a link to its place. */
export function ProblemsPanel() {
  const store = useEditorStore()
  const open = useEditor((state) => state.panel === 'problems')
  const problems = useProblems()
  if (!open) return null
  return (
    <section aria-label="Problems" className="max-h-56 shrink-0 overflow-y-auto border-t border-line bg-surface">
      <div className="sticky top-0 flex items-center justify-between bg-surface px-4 pt-2 pb-1">
        <h2 className="font-semibold">
          {problems.length === 0 ? 'No problems' : plural(problems.length, 'problem', 'problems')}
        </h2>
        <IconButton icon={X} label="Close" size="small" onClick={() => store.set({ panel: null })} />
      </div>
      <ul className="px-2 pb-2">
        {problems.map((problem, index) => {
          const Icon = problem.level === 'error' ? CircleAlert : TriangleAlert
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two problems may read the same
            <li key={index}>
              <button
                type="button"
                onClick={() => show(store, problem)}
                className="flex w-full items-baseline gap-2 rounded px-2 py-1 text-left hover:bg-hover"
              >
                <Icon
                  aria-hidden
                  className={
                    problem.level === 'error'
                      ? 'size-3.5 shrink-0 translate-y-0.5 text-danger'
                      : 'size-3.5 shrink-0 translate-y-0.5 text-waiting'
                  }
                />
                <span className="shrink-0 font-medium">{problem.where}</span>
                <span className="min-w-0 text-ink-2">{problem.message}</span>
              </button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Opens the body, selects the node, and focuses the field of a problem. */
function show(store: EditorStore, { place }: Problem): void {
  if (store.get().path.join('/') !== place.path.join('/')) store.open(place.path)
  if (place.kind === 'node') store.select([place.id])
  else if (place.kind === 'edge') store.select([], [place.id])
  else store.select([])
  focusField(place.field)
}
