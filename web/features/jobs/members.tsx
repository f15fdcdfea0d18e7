import { useNavigate } from '@tanstack/react-router'
import { api, invalidate, useList } from '#web/api.ts'
import { Loaded } from '#web/ui/states.tsx'
import { SharedMembers } from '../people/members.tsx'
import { JobShell } from './job-page.tsx'
import { useJobId } from './use-job.ts'

export function JobMembersPage() {
  const job_id = useJobId()
  const navigate = useNavigate()
  const members = useList('listJobMembers', { job_id, limit: 200 })
  const changed = (): Promise<unknown> => invalidate('listJobMembers', 'getJob')
  return (
    <JobShell section="Members">
      {(job, role) => (
        <>
          {job.workflow_id && (
            <p className="mb-4 rounded-lg bg-sunken px-4 py-3 text-ink-2">
              This job is pinned to a workflow: whoever is a member of that workflow sees it. The list below counts
              while a job stands alone.
            </p>
          )}
          <Loaded of={members} what="the members">
            {(rows) => (
              <SharedMembers
                what="this job"
                members={rows}
                roles={{ owner: 'changes it and who sees it', member: 'runs and changes it', viewer: 'watches it' }}
                mayManage={role === 'owner'}
                onInvite={async (email, as) => {
                  const made = await api.inviteJobMember({ job_id, email, role: as })
                  await changed()
                  return made
                }}
                onRole={async (user_id, as) => {
                  await api.updateJobMember({ job_id, user_id, role: as })
                  await changed()
                }}
                onRemove={async (user_id) => {
                  await api.removeJobMember({ job_id, user_id })
                  await changed()
                }}
                onLeft={() => void navigate({ to: '/jobs' })}
              />
            )}
          </Loaded>
        </>
      )}
    </JobShell>
  )
}
