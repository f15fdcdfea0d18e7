import { useNavigate, useSearch } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { JobForm } from './form.tsx'

export function NewJobPage() {
  const navigate = useNavigate()
  const { canWrite } = useRole()
  const preset = useSearch({ strict: false }) as { dataset_id?: string; workflow_id?: string }
  const create = useChange('createJob', {
    stale: ['listJobs'],
    onDone: ({ job_id }) => void navigate({ to: `/jobs/${job_id}` }),
  })
  return (
    <Page title="New job" crumbs={[{ label: 'Jobs', to: '/jobs' }]} description="Run a workflow for every record.">
      {canWrite ? (
        <JobForm submit="Create job" preset={preset} onSave={(body) => create.mutateAsync(body)} />
      ) : (
        <Empty icon={Lock} title="Viewers cannot create jobs">
          Ask a member of the workspace.
        </Empty>
      )}
    </Page>
  )
}
