import { useNavigate } from '@tanstack/react-router'
import type { Workflow } from '#sdk/types.generated'
import { api, invalidate, newKey } from '#web/api.ts'
import { toast } from '#web/ui/toast.tsx'
import { definitionOf } from '../versions-of.ts'

/** Creates the user's own copy with the same steps, settings and tags; without tokens, schedules and members. */
export function useDuplicate(): (workflow: Workflow) => Promise<void> {
  const navigate = useNavigate()
  return async ({ workflow_id, name, description, tags, settings, active_version_id }) => {
    try {
      const version =
        active_version_id === null ? null : await api.getVersion({ workflow_id, version_id: active_version_id })
      // The activation setting refers to a suite of the original workflow.
      const { activation: _activation, ...kept } = settings
      const made = await api.createWorkflow(
        {
          name: `Copy of ${name}`.slice(0, 200),
          description,
          tags,
          settings: kept as never,
          ...(version && { definition: definitionOf(version) as never }),
        },
        { idempotencyKey: newKey() },
      )
      await invalidate('listWorkflows')
      toast.done(`Copied to ${made.name}`)
      await navigate({ to: `/workflows/${made.workflow_id}` })
    } catch (error) {
      toast.failed('Could not duplicate the workflow', error)
    }
  }
}
