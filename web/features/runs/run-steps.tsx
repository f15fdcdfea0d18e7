import { Panel } from '@xyflow/react'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { Definition } from '#model/definition'
import { type NodePath, pathTo } from '#model/node-path'
import type { Execution } from '#sdk/types.generated'
import { IconButton } from '#web/ui/button.tsx'
import { bodyAt, firstInside, nodeAt } from './body-steps.ts'
import type { Body, ShownRuns } from './shown-runs.ts'
import { StepsGraph } from './steps-graph.tsx'
import { useConditions } from './use-conditions.ts'

/**
 * The steps of an execution as a graph. The body of a map or loop is shown for one item or iteration, with a link back.
 */
export function RunSteps({
  execution,
  definition,
  at,
  shown: { runs, body, isMissing },
  nameOf,
  onSelect,
}: {
  execution: Execution
  definition: Pick<Definition, 'nodes' | 'edges' | 'layout'>
  at: NodePath | undefined
  shown: ShownRuns
  nameOf(nodeId: string): string
  /** Called with the address of a node, as in the address of the page. */
  onSelect(address: string | null): void
}) {
  const bodies = at?.bodies ?? []
  const path = bodies.map(({ node }) => node)
  const inside = pathTo({ bodies, node: '' })
  const holds = useConditions(definition, execution, bodies.length === 0)
  const open = (id: string): void => {
    const node = nodeAt(definition, { bodies, node: id })
    const first = node && firstInside(node)
    const attempt = runs.get(id)?.attempt ?? 1
    if (first !== undefined) onSelect(pathTo({ bodies: [...bodies, { node: id, attempt, index: 0 }], node: first }))
  }
  return (
    <StepsGraph
      definition={definition}
      label="Steps of the run"
      path={path}
      runs={runs}
      {...(holds && { holds })}
      selected={at?.node ?? null}
      onSelect={(id) => onSelect(id === null ? null : `${inside}${id}`)}
      onOpen={open}
      className="h-80"
    >
      {at && bodies.length > 0 && (
        <Panel position="top-left">
          <Where
            at={at}
            body={body}
            isMissing={isMissing}
            definition={definition}
            nameOf={nameOf}
            onSelect={onSelect}
          />
        </Panel>
      )}
    </StepsGraph>
  )
}

function Where({
  at,
  body,
  isMissing,
  definition,
  nameOf,
  onSelect,
}: {
  at: NodePath
  body: Body | null
  isMissing: boolean
  definition: Pick<Definition, 'nodes'>
  nameOf(nodeId: string): string
  onSelect(address: string | null): void
}) {
  const inner = at.bodies.at(-1)!
  const isLoop = bodyAt(definition, at.bodies.slice(0, -1))?.nodes.find(({ id }) => id === inner.node)?.type === 'loop'
  const go = (index: number): void =>
    onSelect(pathTo({ bodies: [...at.bodies.slice(0, -1), { ...inner, index }], node: at.node }))
  return (
    <nav
      aria-label="Bodies"
      className="flex flex-wrap items-center gap-1 rounded-md border border-line bg-surface px-2 py-1 shadow-sm"
    >
      <button type="button" className="text-ink-2 hover:text-ink hover:underline" onClick={() => onSelect(null)}>
        Run
      </button>
      {at.bodies.map(({ node }, depth) => (
        <span key={node} className="flex items-center gap-1">
          <ChevronRight aria-hidden className="size-3.5 text-ink-3" />
          <button
            type="button"
            className="hover:underline"
            onClick={() => onSelect(pathTo({ bodies: at.bodies.slice(0, depth), node }))}
          >
            {nameOf(node)}
          </button>
        </span>
      ))}
      <ChevronRight aria-hidden className="size-3.5 text-ink-3" />
      <IconButton
        size="small"
        icon={ChevronLeft}
        label={isLoop ? 'Previous turn' : 'Previous item'}
        disabled={inner.index === 0}
        onClick={() => go(inner.index - 1)}
      />
      <span role="status" className="tabular-nums">
        {isLoop ? `Turn ${inner.index + 1}` : `Item ${inner.index + 1}`}
        {isMissing && <span className="text-ink-2">: its details are not stored</span>}
      </span>
      <IconButton
        size="small"
        icon={ChevronRight}
        label={isLoop ? 'Next turn' : 'Next item'}
        disabled={body !== null && inner.index >= body.last}
        onClick={() => go(inner.index + 1)}
      />
    </nav>
  )
}
