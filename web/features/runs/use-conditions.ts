import { useEffect, useMemo, useState } from 'react'
import type { Definition, Json } from '#model/definition'
import type { Scope } from '#model/expressions'
import type { Execution } from '#sdk/types.generated'
import { edgesTaken } from '#web/editor/canvas/edges-taken.ts'
import { type Check, loadCheck } from '#web/editor/check/load.ts'
import { type KeyedEdge, readDoc } from '#web/editor/document/document.ts'
import { isLarge } from '#web/editor/document/value.ts'

/**
 * Returns the data that an edge's condition read: the nodes that had ended when its source ended. Undefined if the data
 * is not loaded.
 */
function scopeOf(execution: Execution, edge: KeyedEdge): Scope | undefined {
  const source = execution.nodes.find(({ node_id }) => node_id === edge.from.node)
  const until = source?.finished_at
  if (!until || isLarge(execution.input)) return undefined
  const over = execution.nodes.filter(({ finished_at }) => finished_at !== null && finished_at <= until)
  if (over.some(({ node_id, output }) => isLarge(output) && edge.when?.$cel.includes(node_id))) return undefined
  const nodes = Object.fromEntries(over.map(({ node_id, output }) => [node_id, { output: (output ?? null) as Json }]))
  return { input: execution.input as Json, nodes, execution: {} }
}

/**
 * Returns the results of edge conditions that the path of the execution does not show. CEL is loaded only if needed.
 */
export function useConditions(
  definition: Pick<Definition, 'nodes' | 'edges'>,
  execution: Execution,
  wanted: boolean,
): ((edge: KeyedEdge) => boolean | undefined) | undefined {
  const isNeeded = useMemo(() => {
    if (!wanted) return false
    const runs = new Map(execution.nodes.map((node) => [node.node_id, node]))
    return edgesTaken(readDoc(definition), runs).doubtful.length > 0
  }, [definition, execution.nodes, wanted])
  const [check, setCheck] = useState<Check>()
  useEffect(() => {
    if (isNeeded) void loadCheck().then(setCheck)
  }, [isNeeded])
  return useMemo(() => {
    if (!check || !isNeeded) return undefined
    return (edge) => {
      const scope = edge.when && scopeOf(execution, edge)
      const result = scope && check.preview(edge.when as unknown as Json, scope)
      return result?.ok && typeof result.value === 'boolean' ? result.value : undefined
    }
  }, [check, isNeeded, execution])
}
