import { useNavigate } from '@tanstack/react-router'
import { Lock, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { deletionOf } from './deletion.ts'
import { JobForm } from './form.tsx'
import { JobShell } from './job-page.tsx'

export const JobSettingsPage = () => (
  <JobShell section="Settings">
    {(job, role) => (
      <>
        {role === 'owner' || role === 'member' ? (
          <Change key={job.job_id} job={job} />
        ) : (
          <Empty icon={Lock} title="You can view this job but not edit it">
            Its owner can make you a member.
          </Empty>
        )}
        <Delete job={job} />
      </>
    )}
  </JobShell>
)

function Change({ job }: { job: EnrichmentJob }) {
  const update = useChange('updateJob', {
    stale: ['getJob', 'listJobs'],
    done: 'Saved. A run in progress keeps its old settings',
  })
  return <JobForm submit="Save" job={job} onSave={(body) => update.mutateAsync({ job_id: job.job_id, ...body })} />
}

function Delete({ job }: { job: EnrichmentJob }) {
  const navigate = useNavigate()
  const { userId, isOwner } = useRole()
  const [asking, setAsking] = useState(false)
  const remove = useChange('deleteJob', { stale: ['listJobs'], done: `${job.name} was deleted` })
  if (job.owner_id !== userId && !isOwner) return null
  return (
    <Section title="Delete this job" className="mt-10">
      <Button look="danger" icon={Trash2} onClick={() => setAsking(true)}>
        Delete job…
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        {...deletionOf(job)}
        onConfirm={async () => {
          await remove.mutateAsync({ job_id: job.job_id })
          await navigate({ to: '/jobs' })
        }}
      />
    </Section>
  )
}
