import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { isObject } from '#model/json'
import type { Workflow } from '#sdk/types.generated'
import { api, invalidate, newKey } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { hasLists } from '#web/ui/schema-lists.ts'
import { Loading } from '#web/ui/states.tsx'
import { workflowInputs, workflowName } from './built-in.ts'
import { FillFromMessage } from './fill-from-message.tsx'
import { definitionOf, useVersion } from './versions-of.ts'

const hasFields = (schema: unknown): boolean =>
  isObject(schema) && isObject(schema.properties) && Object.keys(schema.properties).length > 0

/** Asks for the input of a version, starts an execution and shows it. */
export function RunDialog({
  workflow,
  versionId,
  open,
  onClose,
}: {
  workflow: Workflow
  /** The version to run; the active version if absent. */
  versionId?: string
  open: boolean
  onClose(): void
}) {
  const navigate = useNavigate()
  const { workflow_id } = workflow
  const { version, isLoading } = useVersion(workflow_id, versionId ?? workflow.active_version_id, open)
  const inputs = version ? definitionOf(version).inputs : workflow.definition?.inputs
  const [filled, setFilled] = useState<{ values: unknown; times: number }>({ values: undefined, times: 0 })

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
      title={`Run ${workflowName(workflow)}`}
      description={version ? `Version ${version.number}. Every step is recorded as it happens.` : undefined}
      size={hasLists(inputs) ? 'large' : 'medium'}
    >
      {isLoading ? (
        <Loading rows={3} />
      ) : (
        <SchemaForm
          formKey={filled.times}
          value={filled.values}
          schema={workflowInputs(workflow, inputs) ?? { type: 'object' }}
          onSubmit={run}
          submit="Run"
          json
          actions={
            <Button look="quiet" onClick={onClose}>
              Cancel
            </Button>
          }
        >
          {workflow.kind === 'user' && hasFields(inputs) && (
            <FillFromMessage
              workflow_id={workflow_id}
              onFilled={(values) => setFilled({ values, times: filled.times + 1 })}
            />
          )}
        </SchemaForm>
      )}
    </Dialog>
  )
}
