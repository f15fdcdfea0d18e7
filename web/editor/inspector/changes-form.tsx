import type { Change } from '#model/graph-diff'
import { Badge, type Tone } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import type { Mark } from '../document/compare.ts'
import { titleOf } from '../document/document.ts'
import { shortJson } from '../fields/short-json.ts'
import { useEditor, useEditorStore } from '../store.ts'

const tones: Record<Mark, Tone> = { added: 'success', removed: 'danger', changed: 'waiting' }

/** The differences between two versions, beside the canvas that shows their places. */
export function ChangesForm() {
  const store = useEditorStore()
  const comparison = useEditor((state) => state.comparison)
  const selected = useEditor((state) => state.selection.nodes)
  if (!comparison) return null
  const { diff, nodes, changes, doc, title } = comparison
  const name = (id: string): string => titleOf(doc.nodes.find((node) => node.id === id) ?? { id })
  return (
    <div className="flex flex-col gap-4 p-4">
      <header>
        <h2 className="text-base font-semibold">{title}</h2>
        {diff.identical && (
          <p className="mt-1 text-ink-2">
            Both versions do the same.{diff.layout_changed && ' Only the layout differs.'}
          </p>
        )}
      </header>
      <ul className="flex flex-col gap-1">
        {[...nodes].map(([id, mark]) => (
          <li key={id} className="rounded-md border border-line">
            <button
              type="button"
              aria-pressed={selected.has(id)}
              onClick={() => store.select([id])}
              className="flex w-full items-center gap-2 rounded-md px-2.5 py-1.5 text-left hover:bg-hover"
            >
              <span className="min-w-0 flex-1 truncate">{name(id)}</span>
              <Badge tone={tones[mark]}>{mark}</Badge>
            </button>
            <Changes changes={changes.get(id) ?? []} />
          </li>
        ))}
      </ul>
      <Connections />
      {diff.inputs.length > 0 && <Part title="Input" changes={diff.inputs} />}
      {diff.output.length > 0 && <Part title="Result" changes={diff.output} />}
      <Button className="w-fit" onClick={() => store.set({ comparison: null })}>
        Back to the editor
      </Button>
    </div>
  )
}

const Part = ({ title, changes }: { title: string; changes: Change[] }) => (
  <section className="rounded-md border border-line">
    <h3 className="px-2.5 pt-1.5 font-medium">{title}</h3>
    <Changes changes={changes} />
  </section>
)

const Changes = ({ changes }: { changes: Change[] }) =>
  changes.length > 0 && (
    <dl className="flex flex-col gap-2 px-2.5 pb-2 text-xs">
      {changes.slice(0, 30).map((change) => (
        <div key={change.path}>
          <dt className="text-ink-3">{change.path.slice(1).replaceAll('/', ' › ') || 'everything'}</dt>
          {change.before !== undefined && (
            <dd className="font-mono break-words text-danger">− {shortJson(change.before, 200)}</dd>
          )}
          {change.after !== undefined && (
            <dd className="font-mono break-words text-success">+ {shortJson(change.after, 200)}</dd>
          )}
        </div>
      ))}
    </dl>
  )

function Connections() {
  const edges = useEditor((state) => state.comparison!.edges)
  const added = [...edges.values()].filter((mark) => mark === 'added').length
  const removed = edges.size - added
  if (edges.size === 0) return null
  return (
    <p className="text-ink-2">
      Connections: {added} added, {removed} removed.
    </p>
  )
}
