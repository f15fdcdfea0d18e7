import type { Definition } from '#model/definition'
import type { WorkflowVersion } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'

/** The newest versions of a workflow; undefined for whoever may not read them. */
export function useVersions(workflow_id: string | null, enabled = true) {
  return useApi(
    'listVersions',
    { workflow_id: workflow_id ?? '', limit: 100 },
    { enabled: enabled && workflow_id !== null },
  )
}

export const definitionOf = (version: WorkflowVersion): Definition => version.definition as unknown as Definition

export function useActiveVersion(workflow_id: string): WorkflowVersion | undefined {
  return useVersions(workflow_id).data?.items.find(({ active }) => active)
}
