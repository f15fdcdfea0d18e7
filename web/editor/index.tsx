import { useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Palette, Workflow } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { mayChange, mayUse, roleIn } from '#web/features/workflows/role.ts'
import { useWorkflowId } from '#web/features/workflows/workflow-page.tsx'
import { useMe, useRole } from '#web/session.tsx'
import { useTitle } from '#web/ui/page.tsx'
import { ErrorState, Loading } from '#web/ui/states.tsx'
import { Editor } from './editor.tsx'
import { type OpenedWorkflow, openWorkflow } from './opened.ts'

/** The editor of a workflow; `?execution=` shows the data of one execution on its canvas. */
export function EditorPage() {
  const workflow_id = useWorkflowId()
  const workflow = useApi('getWorkflow', { workflow_id })
  const palette = useApi('getPalette', {}, { staleTime: Number.POSITIVE_INFINITY })
  useTitle(workflow.data ? `${workflow.data.name} · Editor` : 'Editor')
  const failed = workflow.data ? palette.error : workflow.error
  if (failed && !(workflow.data && palette.data)) {
    return (
      <Around>
        {
          <ErrorState
            error={failed}
            what="the workflow"
            onRetry={() => void Promise.all([workflow.refetch(), palette.refetch()])}
          />
        }
      </Around>
    )
  }
  if (!workflow.data || !palette.data) return <Waiting />
  return <Opening key={workflow_id} workflow={workflow.data} palette={palette.data} />
}

function Opening({ workflow, palette }: { workflow: Workflow; palette: Palette }) {
  const { userId } = useRole()
  const workspaceId = useMe().workspace!.workspace_id
  const { execution, comments } = useSearch({ strict: false }) as { execution?: string; comments?: string }
  const role = roleIn(workflow, userId)
  const readOnly = !mayChange(role)
  const [opened, setOpened] = useState<OpenedWorkflow | null>(null)
  const [error, setError] = useState<unknown>(null)
  const { workflow_id: workflowId } = workflow
  // Readers see the active version. For a user who can edit, activating a version must not change the open document.
  const activeVersionId = readOnly ? workflow.active_version_id : null
  useEffect(() => {
    let current = true
    openWorkflow({ workflowId, workspaceId, activeVersionId, userId, palette, readOnly }).then(
      (found) => current && setOpened(found),
      (reason: unknown) => current && setError(reason),
    )
    return () => {
      current = false
    }
  }, [workflowId, workspaceId, activeVersionId, userId, palette, readOnly])
  if (error)
    return <Around>{<ErrorState error={error} what="the versions" onRetry={() => location.reload()} />}</Around>
  if (!opened) return <Waiting />
  return (
    <Editor
      workflow={workflow}
      opened={opened}
      readOnly={readOnly}
      mayRun={mayUse(role)}
      userId={userId}
      executionId={execution}
      commentsOf={comments === undefined ? undefined : String(comments)}
    />
  )
}

const Around = ({ children }: { children: React.ReactNode }) => (
  <div className="mx-auto max-w-xl px-4 py-24">{children}</div>
)

const Waiting = () => (
  <div className="p-8">
    <Loading rows={5} label="Opening the editor" />
  </div>
)
