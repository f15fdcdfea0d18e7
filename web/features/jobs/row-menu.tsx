import { Pause, Play, RotateCcw, Settings } from 'lucide-react'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { deletionOf } from './deletion.ts'
import { jobRole } from './use-job.ts'

/** The actions of a job that do not need its page. */
export function JobMenu({ job }: { job: EnrichmentJob }) {
  const stale = ['getJob', 'listJobs', 'listLedger', 'listJobRuns'] as const
  const { userId, isOwner } = useRole()
  const { job_id, status, paused_reason, schedule } = job
  const run = useChange('runJobNow', { stale: [...stale], done: 'Starting', failed: 'Could not start' })
  const pause = useChange('pauseJob', {
    stale: [...stale],
    done: 'Paused. Records in progress will finish',
    failed: 'Could not pause',
  })
  const resume = useChange('resumeJob', { stale: [...stale], done: 'Resumed', failed: 'Could not resume' })
  const retry = useChange('retryFailedRecords', {
    stale: [...stale],
    done: 'Trying failed records again',
    failed: 'Could not start',
  })
  const remove = useChange('deleteJob', { stale: ['listJobs'], done: `${job.name} was deleted` })
  const role = jobRole(job)
  const mayUse = role === 'owner' || role === 'member'
  const mayDelete = isOwner || job.owner_id === userId
  const busy = status === 'running' || status === 'due'
  const failed = job.last_run?.counts.failed ?? 0
  return (
    <RowMenu
      name={job.name}
      path={`/jobs/${job_id}`}
      removal={mayDelete && { ...deletionOf(job), onConfirm: () => remove.mutateAsync({ job_id }) }}
    >
      {mayUse && (
        <>
          <MenuItem icon={Play} onSelect={() => run.mutate({ job_id })}>
            Run now
          </MenuItem>
          {failed > 0 && !busy && (
            <MenuItem icon={RotateCcw} onSelect={() => retry.mutate({ job_id })}>
              Try failed again
            </MenuItem>
          )}
          {status === 'paused'
            ? paused_reason === 'manual' && (
                <MenuItem icon={Play} onSelect={() => resume.mutate({ job_id })}>
                  Resume
                </MenuItem>
              )
            : (busy || schedule) && (
                <MenuItem icon={Pause} onSelect={() => pause.mutate({ job_id })}>
                  Pause
                </MenuItem>
              )}
          <MenuItem icon={Settings} to={`/jobs/${job_id}/settings`}>
            Settings
          </MenuItem>
        </>
      )}
    </RowMenu>
  )
}
