import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type NodePath, pathTo } from '#model/node-path'
import type { Execution } from '#sdk/types.generated'
import { query } from '#web/api.ts'

export type NodeRun = Execution['nodes'][number]
export type Body = { index: number; last: number; nodes: NodeRun[] }
export type ShownRuns = ReturnType<typeof useShownRuns>

/**
 * Returns the state of each node in the graph that `at` names: the graph of the execution, or a body for one item or
 * iteration.
 */
export function useShownRuns(execution: Execution, at: NodePath | undefined) {
  const { execution_id } = execution
  const inner = at?.bodies.at(-1)
  const path = at && inner ? pathTo({ bodies: at.bodies.slice(0, -1), node: inner.node }) : ''
  const item = inner?.index ?? 0
  const { data, isPending } = useQuery({
    ...query('getExecutionNode', { execution_id, path, item, limit: 1 }),
    queryKey: ['getExecutionNode', { execution_id, path, item }, 'body', execution.seq],
    enabled: inner !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: execution.finished_at === null ? 3_000 : false,
  })
  const body = (inner === undefined ? null : (data?.body ?? null)) as Body | null
  const nodes = inner === undefined ? execution.nodes : body?.nodes
  const runs = useMemo(() => new Map((nodes ?? []).map((node) => [node.node_id, node])), [nodes])
  return { runs, body, isMissing: inner !== undefined && !isPending && body === null }
}
