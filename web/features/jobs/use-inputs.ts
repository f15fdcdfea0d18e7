import { useApi } from '#web/api.ts'

export type WorkflowInput = { name: string; required: boolean }

/** The inputs of the active version, for whoever fills them. */
export function useInputs(workflowId: string | null): WorkflowInput[] {
  const versions = useApi(
    'listVersions',
    { workflow_id: workflowId ?? '', limit: 200 },
    { enabled: workflowId !== null && workflowId !== '' },
  )
  const active = versions.data?.items.find((version) => version.active)
  const schema = active?.definition.inputs as { properties?: Record<string, unknown>; required?: string[] } | undefined
  return Object.keys(schema?.properties ?? {}).map((name) => ({
    name,
    required: schema?.required?.includes(name) ?? false,
  }))
}
