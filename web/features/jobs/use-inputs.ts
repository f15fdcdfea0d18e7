import { useApi } from '#web/api.ts'
import { useVersion } from '../workflows/versions-of.ts'

export type WorkflowInput = { name: string; required: boolean }

/** Returns the inputs of the active version, for forms that fill them. */
export function useInputs(workflowId: string | null): WorkflowInput[] {
  const chosen = workflowId === '' ? null : workflowId
  const workflow = useApi('getWorkflow', { workflow_id: chosen ?? '' }, { enabled: chosen !== null })
  const { version: active } = useVersion(chosen, workflow.data?.active_version_id ?? null)
  const schema = active?.definition.inputs as { properties?: Record<string, unknown>; required?: string[] } | undefined
  return Object.keys(schema?.properties ?? {}).map((name) => ({
    name,
    required: schema?.required?.includes(name) ?? false,
  }))
}
