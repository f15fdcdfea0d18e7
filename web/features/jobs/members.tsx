import { useNavigate } from '@tanstack/react-router'
import { api, invalidate, useChange, useList } from '#web/api.ts'
import { Loaded } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { SharedMembers } from '../people/members.tsx'
import { TeamShares } from '../teams/team-shares.tsx'
import { JobShell } from './job-page.tsx'
import { useJobId } from './use-job.ts'

export function JobMembersPage() {
  const job_id = useJobId()
  const navigate = useNavigate()
  const share = useChange('updateJob', { stale: ['getJob', 'listJobs'], failed: 'Could not share the job' })
  const members = useList('listJobMembers', { job_id, limit: 200 })
  const changed = (): Promise<unknown> => invalidate('listJobMembers', 'getJob')
  return (
    <JobShell section="Members">
      {(job, role) => (
        <>
          {job.workflow_id && (
            <p className="mb-4 rounded-lg bg-sunken px-4 py-3 text-ink-2">
              This job uses a workflow. Members of the workflow can see it. The list below applies only to standalone
              jobs.
            </p>
          )}
          <Loaded of={members} what="the members">
            {(rows) => (
              <SharedMembers
                what="this job"
                members={rows}
                roles={{
                  owner: t('manages the job and its members'),
                  member: t('runs and edits the job'),
                  viewer: t('views the job'),
                }}
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
          <TeamShares
            shares={job.teams}
            roles={[
              { value: 'member', label: 'Member: runs and edits the job' },
              { value: 'viewer', label: 'Viewer: views the job' },
            ]}
            mayManage={role === 'owner' && job.workflow_id === null}
            pending={share.isPending}
            onChange={(teams) => share.mutateAsync({ job_id, teams: teams as never })}
          />
        </>
      )}
    </JobShell>
  )
}
