import { useQuery } from '@tanstack/react-query'
import type { Definition } from '#model/definition'
import type { WorkflowVersion } from '#sdk/types.generated'
import { api, useApi } from '#web/api.ts'

/** Returns the newest versions of a workflow; undefined for users who may not read them. */
function useVersions(workflow_id: string | null, enabled = true) {
  return useApi(
    'listVersions',
    { workflow_id: workflow_id ?? '', limit: NEWEST },
    { enabled: enabled && workflow_id !== null },
  )
}

const NEWEST = 100

/** Reads further pages of the list, starting at `cursor`, until the version is found. */
export async function findVersion(
  workflow_id: string,
  version_id: string,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<WorkflowVersion | null> {
  for (let next = cursor; next !== null; ) {
    const page = await api.listVersions({ workflow_id, limit: NEWEST, cursor: next }, signal && { signal })
    const found = page.items.find((version) => version.version_id === version_id)
    if (found) return found
    next = page.next_cursor
  }
  return null
}

/**
 * Returns one version of any age: the newest versions come in one response, which other pages share; for an older
 * version, further pages are read.
 */
export function useVersion(workflow_id: string | null, version_id: string | null, enabled = true) {
  const wanted = enabled && version_id !== null
  const newest = useVersions(workflow_id, wanted)
  const near = newest.data?.items.find((version) => version.version_id === version_id)
  const cursor = newest.data?.next_cursor ?? null
  const older = useQuery({
    queryKey: ['listVersions', { workflow_id }, 'one', version_id],
    queryFn: ({ signal }) => findVersion(workflow_id!, version_id!, cursor, signal),
    enabled: wanted && newest.data !== undefined && near === undefined && cursor !== null,
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return { version: near ?? older.data ?? undefined, isLoading: newest.isLoading || older.isLoading }
}

export const definitionOf = (version: WorkflowVersion): Definition => version.definition as unknown as Definition
