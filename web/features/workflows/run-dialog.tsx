import { useNavigate } from '@tanstack/react-router'
import type { Workflow } from '#sdk/types.generated'
import { api, invalidate, newKey } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Loading } from '#web/ui/states.tsx'
import { definitionOf, useVersions } from './versions-of.ts'

/** Asks for the input a version wants, starts an execution and shows it. */
export function RunDialog({
  workflow,
  versionId,
  open,
  onClose,
}: {
  workflow: Workflow
  /** The active one when absent. */
  versionId?: string
  open: boolean
  onClose(): void
}) {
  const navigate = useNavigate()
  const { workflow_id } = workflow
  const versions = useVersions(workflow_id, open && workflow.kind === 'user')
  const version = versions.data?.items.find((one) => (versionId ? one.version_id === versionId : one.active))
  const inputs = version ? definitionOf(version).inputs : undefined

  const run = async (input: unknown): Promise<void> => {
    const given = { workflow_id, input: input as Record<string, unknown>, ...(versionId && { version_id: versionId }) }
    const call = { idempotencyKey: newKey() }
    const { execution_id } = await (workflow.kind === 'system'
      ? api.runSystemWorkflow(given, call)
      : api.runWorkflow(given, call))
    await invalidate('searchExecutions', 'listExecutions')
    onClose()
    await navigate({ to: `/runs/${execution_id}` })
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Run ${workflow.name}`}
      description={version ? `Version ${version.number}. Every step is recorded as it happens.` : undefined}
      size="medium"
    >
      {versions.isLoading ? (
        <Loading rows={3} />
      ) : (
        <SchemaForm
          schema={inputs ?? { type: 'object' }}
          onSubmit={run}
          submit="Run"
          actions={
            <Button look="quiet" onClick={onClose}>
              Cancel
            </Button>
          }
        />
      )}
    </Dialog>
  )
}
