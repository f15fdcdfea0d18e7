import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { TabLinks } from '#web/ui/tabs.tsx'
import { roleIn, type WorkflowRole } from './role.ts'

export const useWorkflowId = (): string => useParams({ strict: false }).workflow_id as unknown as string

/** What stands around each section of a workflow. */
export function WorkflowPage({
  section,
  actions,
  wide,
  children,
}: {
  section: string
  actions?: (workflow: Workflow, role: WorkflowRole) => ReactNode
  wide?: boolean
  children(workflow: Workflow, role: WorkflowRole): ReactNode
}) {
  const workflow_id = useWorkflowId()
  const { userId } = useRole()
  const workflow = useApi('getWorkflow', { workflow_id })
  const role = workflow.data ? roleIn(workflow.data, userId) : 'none'
  const base = `/workflows/${workflow_id}`
  return (
    <Page
      wide={wide}
      title={workflow.data ? `${workflow.data.name} · ${section}` : section}
      heading={workflow.data?.name ?? 'Workflow'}
      crumbs={[{ label: 'Workflows', to: '/workflows' }]}
      actions={workflow.data && actions?.(workflow.data, role)}
    >
      <Loaded of={workflow} what="the workflow">
        {(found) => (
          <>
            {found.kind === 'user' && (
              <TabLinks
                label="Sections of the workflow"
                tabs={[
                  { to: base, label: 'Overview', exact: true },
                  { to: `${base}/editor`, label: 'Editor' },
                  { to: `${base}/versions`, label: 'Versions' },
                  { to: `${base}/runs`, label: 'Runs' },
                  { to: `${base}/access`, label: 'Access' },
                  { to: `${base}/settings`, label: 'Settings' },
                ]}
              />
            )}
            {children(found, role)}
          </>
        )}
      </Loaded>
    </Page>
  )
}
