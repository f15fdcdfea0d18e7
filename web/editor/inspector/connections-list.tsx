import { ArrowLeft, ArrowRight } from 'lucide-react'
import type { Node } from '#model/definition'
import { portOf, titleOf } from '../document/document.ts'
import { AddButton } from '../fields/add-button.tsx'
import { useFieldScope } from '../fields/scope.tsx'
import { useEditorStore, useGraph } from '../store.ts'

/** The edges of a node, for users who do not use a pointer. */
export function ConnectionsList({ node }: { node: Node }) {
  const store = useEditorStore()
  const graph = useGraph()
  const { readOnly } = useFieldScope()
  const name = (id: string): string => titleOf(graph.nodes.find((other) => other.id === id) ?? { id })
  const edges = graph.edges.filter((edge) => edge.from.node === node.id || edge.to === node.id)
  return (
    <section aria-label="Connections" className="border-t border-line pt-4">
      <h3 className="mb-1.5 font-medium">Connections</h3>
      <ul className="flex flex-col">
        {edges.map((edge) => {
          const out = edge.from.node === node.id
          const Icon = out ? ArrowRight : ArrowLeft
          return (
            <li key={edge.id}>
              <button
                type="button"
                onClick={() => store.select([], [edge.id])}
                className="flex w-full items-center gap-2 rounded px-1.5 py-1 text-left hover:bg-hover"
              >
                <Icon aria-hidden className="size-3.5 shrink-0 text-ink-3" />
                <span className="sr-only">{out ? 'to' : 'from'}</span>
                <span className="truncate">{name(out ? edge.to : edge.from.node)}</span>
                {portOf(edge) !== 'out' && <span className="text-xs text-ink-3">by {portOf(edge)}</span>}
                {edge.when && (
                  <code className="ml-auto max-w-32 truncate font-mono text-xs text-ink-3">{edge.when.$cel}</code>
                )}
              </button>
            </li>
          )
        })}
      </ul>
      {edges.length === 0 && <p className="text-xs text-ink-3">None. This node starts first.</p>}
      {!readOnly && (
        <AddButton onClick={() => store.set({ quick: { mode: 'connect', from: node.id } })}>Connect to…</AddButton>
      )}
    </section>
  )
}
