import { useQuery } from '@tanstack/react-query'
import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import type { Execution } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { type GraphPath, graphAt } from '../document/document.ts'
import type { InnerData } from '../document/upstream.ts'
import { useEditor, useEditorStore } from '../store.ts'

/** The maximum number of nodes of a body whose data is shown. */
const MAX_NODES = 40

/** Returns the data of the open body for its first item in the shown execution. */
export function useInnerData(): InnerData | undefined {
  const store = useEditorStore()
  const path = useEditor((state) => state.path)
  const execution = useEditor((state) => state.execution)
  const { data } = useQuery({
    queryKey: ['inner data', execution?.execution_id, execution?.seq, path],
    enabled: execution !== null && path.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () =>
      readInner(
        execution!,
        path,
        (graphAt(store.doc(), path)?.nodes ?? []).map(({ id }) => id),
      ),
  })
  return data
}

async function readInner({ execution_id }: Execution, path: GraphPath, ids: string[]): Promise<InnerData> {
  const detail = async (place: string) => {
    try {
      return await api.getExecutionNode({ execution_id, path: place, limit: 1 })
    } catch {
      // The execution has no such node, or its data is no longer stored: there is no sample.
      return undefined
    }
  }
  const outside = path.slice(0, -1).map((id) => `${id}[0].`)
  const map = `${outside.join('')}${path.at(-1)}`
  const [around, ...inside] = await Promise.all([
    detail(map),
    ...ids.slice(0, MAX_NODES).map((id) => detail(`${map}[0].${id}`)),
  ])
  const items = isObject(around?.input) ? around.input.items : undefined
  const outputs: Record<string, Json> = {}
  for (const [index, found] of inside.entries()) {
    const output = found?.attempts.findLast(({ status }) => status === 'succeeded')?.output as Json | undefined
    if (output !== undefined) outputs[ids[index]!] = output
  }
  return { item: Array.isArray(items) ? (items[0] as Json) : undefined, outputs }
}
