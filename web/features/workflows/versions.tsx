import { Play, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { Workflow, WorkflowVersion } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, ButtonLink } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { mayChange, mayUse, type WorkflowRole } from './role.ts'
import { RunDialog } from './run-dialog.tsx'
import { WorkflowPage } from './workflow-page.tsx'

export const VersionsPage = () => (
  <WorkflowPage section="Versions">{(workflow, role) => <Versions workflow={workflow} role={role} />}</WorkflowPage>
)

function Versions({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { workflow_id } = workflow
  const versions = useList('listVersions', { workflow_id })
  const { nameOf } = usePeople()
  const [activating, setActivating] = useState<WorkflowVersion | null>(null)
  const [running, setRunning] = useState<WorkflowVersion | null>(null)
  const activate = useChange('activateVersion', { stale: ['listVersions', 'getWorkflow', 'listWorkflows'] })
  const newest = versions.data?.[0]
  return (
    <Loaded of={versions} what="the versions">
      {(rows) => (
        <>
          <Table
            label="Versions"
            rows={rows}
            more={versions.more}
            rowKey={({ version_id }) => version_id}
            empty={
              <Empty
                title="No versions yet"
                action={
                  mayChange(role) && <ButtonLink to={`/workflows/${workflow_id}/editor`}>Open the editor</ButtonLink>
                }
              >
                Save a version in the editor. Versions never change.
              </Empty>
            }
            columns={[
              {
                header: 'Version',
                width: '7rem',
                cell: (row) => (
                  <span className="flex items-center gap-2 tabular-nums">
                    {row.number} {row.active && <Badge tone="success">active</Badge>}
                  </span>
                ),
              },
              {
                header: 'Note',
                secondary: true,
                cell: (row) =>
                  row.note === null ? (
                    <span className="text-ink-3">no note</span>
                  ) : (
                    <span title={row.note} className="line-clamp-2 whitespace-normal">
                      {row.note}
                    </span>
                  ),
              },
              { header: 'By', width: '8rem', secondary: true, cell: (row) => nameOf(row.created_by) },
              { header: 'Saved', width: '8rem', secondary: true, cell: (row) => <RelativeTime at={row.created_at} /> },
              {
                header: <span className="sr-only">Actions</span>,
                // The comparison, which needs a canvas, is hidden on a narrow screen.
                width: 'min(27rem, 68vw)',
                align: 'right',
                cell: (row) => (
                  <span className="inline-flex gap-1">
                    {rows.length > 1 && !row.active && (
                      <ButtonLink
                        size="small"
                        look="quiet"
                        className="max-md:hidden"
                        to={`/workflows/${workflow_id}/editor`}
                        search={{ compare: row.version_id } as never}
                      >
                        Compare
                      </ButtonLink>
                    )}
                    {mayUse(role) && (
                      <ButtonLink
                        size="small"
                        look="quiet"
                        className="max-md:hidden"
                        to={`/workflows/${workflow_id}/replays`}
                        search={{ version: row.version_id } as never}
                      >
                        Replay
                      </ButtonLink>
                    )}
                    {mayUse(role) && (
                      <Button size="small" look="quiet" icon={Play} onClick={() => setRunning(row)}>
                        Run
                      </Button>
                    )}
                    {mayChange(role) && (!row.active || workflow.activation_required) && (
                      <Button size="small" icon={row === newest ? undefined : Undo2} onClick={() => setActivating(row)}>
                        {row === newest ? 'Activate' : 'Roll back'}
                      </Button>
                    )}
                  </span>
                ),
              },
            ]}
          />
          {running && (
            <RunDialog workflow={workflow} versionId={running.version_id} open onClose={() => setRunning(null)} />
          )}
          <ConfirmDialog
            open={activating !== null}
            onClose={() => setActivating(null)}
            look="primary"
            title={`Activate version ${activating?.number ?? ''}?`}
            consequence="New runs use it and act with your rights. Runs in progress keep their version."
            action="Activate"
            onConfirm={async () =>
              activating && activate.mutateAsync({ workflow_id, version_id: activating.version_id })
            }
          />
        </>
      )}
    </Loaded>
  )
}
