import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Play, SquarePen } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button, ButtonLink } from '#web/ui/button.tsx'
import { Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { TabLinks } from '#web/ui/tabs.tsx'
import { workflowName } from './built-in.ts'
import { mayChange, mayUse, roleIn, type WorkflowRole } from './role.ts'
import { RunDialog } from './run-dialog.tsx'
import { TransferNotice } from './transfer.tsx'

export const useWorkflowId = (): string => useParams({ strict: false }).workflow_id as unknown as string

/** The frame around each section of a workflow. */
export function WorkflowPage({
  section,
  wide,
  children,
}: {
  section: string
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
      title={workflow.data ? `${workflowName(workflow.data)} · ${section}` : section}
      heading={workflow.data ? workflowName(workflow.data) : 'Workflow'}
      crumbs={[{ label: 'Workflows', to: '/workflows' }]}
      actions={workflow.data && <Actions workflow={workflow.data} role={role} />}
    >
      <Loaded of={workflow} what="the workflow">
        {(found) => (
          <>
            {found.kind === 'user' && (
              <TabLinks
                label="Sections of the workflow"
                tabs={[
                  { to: base, label: 'Overview', exact: true },
                  ...(role === 'none'
                    ? []
                    : [
                        { to: `${base}/editor`, label: 'Editor' },
                        { to: `${base}/versions`, label: 'Versions' },
                        { to: `${base}/runs`, label: 'Runs' },
                        { to: `${base}/replays`, label: 'Replays' },
                      ]),
                  { to: `${base}/access`, label: 'Access' },
                  { to: `${base}/settings`, label: 'Settings' },
                ]}
              />
            )}
            <TransferNotice workflow={found} role={role} />
            {children(found, role)}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** The actions of a workflow, in all of its sections. An address with `?run=yes` opens the run dialog at once. */
function Actions({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { run } = useSearch({ strict: false }) as { run?: string }
  const [running, setRunning] = useState(run === 'yes')
  const { canWrite } = useRole()
  const navigate = useNavigate()
  const base = `/workflows/${workflow.workflow_id}`
  const close = (): void => {
    setRunning(false)
    if (run !== undefined) void navigate({ to: base, replace: true })
  }
  return (
    <>
      {mayChange(role) && (
        <ButtonLink to={`${base}/editor`} icon={SquarePen}>
          Edit
        </ButtonLink>
      )}
      {mayRun(workflow, role, canWrite) && (
        <Button look="primary" icon={Play} onClick={() => setRunning(true)}>
          Run
        </Button>
      )}
      <RunDialog workflow={workflow} open={running} onClose={close} />
    </>
  )
}

const mayRun = (workflow: Workflow, role: WorkflowRole, canWrite: boolean): boolean =>
  workflow.kind === 'system' ? canWrite : workflow.active_version_id !== null && mayUse(role)
