import type { Json } from '#model/definition'
import { diffJson } from '#model/json-diff'
import type { Execution } from '#sdk/types.generated'
import { shortJson } from '../fields/short-json.ts'
import { useEditor } from '../store.ts'

const MAX_SHOWN = 12

const outputIn = (execution: Execution | null, id: string): Json | undefined =>
  execution?.nodes.find((node) => node.node_id === id)?.output as Json | undefined

/** The output of the step, compared with the previous execution. */
export function ComparedOutput({ id }: { id: string }) {
  const before = outputIn(
    useEditor((state) => state.previous),
    id,
  )
  const after = outputIn(
    useEditor((state) => state.execution),
    id,
  )
  if (before === undefined || after === undefined) return null
  const changes = diffJson(before, after, MAX_SHOWN)
  return (
    <section aria-label="Compared with the run before">
      <h3 className="mb-1 text-xs text-ink-2">Compared with the run before</h3>
      {changes.length === 0 ? (
        <p className="text-ink-2">The same output.</p>
      ) : (
        <ul className="flex flex-col gap-1 font-mono text-xs">
          {changes.map((change) => (
            <li key={change.path} className="rounded border border-line px-2 py-1 break-words">
              <span className="text-ink-2">
                {change.path === '' ? 'output' : change.path.slice(1).replaceAll('/', '.')}
              </span>
              {change.before !== undefined && <span className="block text-danger">− {shortJson(change.before)}</span>}
              {change.after !== undefined && <span className="block text-success">+ {shortJson(change.after)}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
