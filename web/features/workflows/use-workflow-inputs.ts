import type { JsonObject } from '#model/definition'
import { useApi } from '#web/api.ts'

/** Returns the `inputs` of a workflow: those of the given version, otherwise those of the active one. */
export function useWorkflowInputs(workflowId: string, versionId?: string): JsonObject | undefined {
  const { data: workflow } = useApi('getWorkflow', { workflow_id: workflowId }, { enabled: workflowId !== '' })
  const version_id = versionId ?? workflow?.active_version_id
  const { data: version } = useApi(
    'getVersion',
    { workflow_id: workflowId, version_id: version_id ?? '' },
    { enabled: workflowId !== '' && typeof version_id === 'string' && version_id !== '' },
  )
  const definition = version?.definition ?? workflow?.definition
  return (definition as { inputs?: JsonObject } | undefined)?.inputs
}
