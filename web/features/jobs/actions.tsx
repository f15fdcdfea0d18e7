import { Ban, Pause, Play, RotateCw } from 'lucide-react'
import { useState } from 'react'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'

const STALE: ('getJob' | 'listJobs' | 'listLedger')[] = ['getJob', 'listJobs', 'listLedger']

/** What one does with a job, whichever of its sections is open. */
export function JobActions({ job }: { job: EnrichmentJob }) {
  const [asked, setAsked] = useState<'full' | 'cancel' | null>(null)
  const { job_id } = job
  const run = useChange('runJobNow', {
    stale: STALE,
    done: 'It begins within a second',
    failed: 'It does not run',
  })
  const pause = useChange('pauseJob', {
    stale: STALE,
    done: 'Paused: records under way come to their end',
    failed: 'Could not pause',
  })
  const resume = useChange('resumeJob', { stale: STALE, done: 'It goes on', failed: 'Could not resume' })
  const cancel = useChange('cancelJob', { stale: STALE, done: 'The run was ended' })
  const busy = job.status === 'running' || job.status === 'due'
  return (
    <>
      {busy && (
        <Button icon={Ban} onClick={() => setAsked('cancel')}>
          Cancel run
        </Button>
      )}
      {job.status === 'paused'
        ? job.paused_reason === 'manual' && (
            <Button icon={Play} pending={resume.isPending} onClick={() => resume.mutate({ job_id })}>
              Resume
            </Button>
          )
        : (busy || job.schedule) && (
            <Button icon={Pause} pending={pause.isPending} onClick={() => pause.mutate({ job_id })}>
              Pause
            </Button>
          )}
      <Button icon={RotateCw} onClick={() => setAsked('full')}>
        Run all again
      </Button>
      <Button look="primary" icon={Play} pending={run.isPending} onClick={() => run.mutate({ job_id })}>
        Run now
      </Button>
      <ConfirmDialog
        open={asked === 'full'}
        onClose={() => setAsked(null)}
        look="primary"
        title="Do every record again?"
        consequence="Usually records that did not change are skipped. This runs the workflow for every record, with whatever that costs and sends."
        action="Run all again"
        onConfirm={() => run.mutateAsync({ job_id, full: true })}
      />
      <ConfirmDialog
        open={asked === 'cancel'}
        onClose={() => setAsked(null)}
        title="End this run?"
        consequence="Records under way are cancelled; those that are done stay done. The next run takes up what is left."
        action="Cancel run"
        onConfirm={() => cancel.mutateAsync({ job_id })}
      />
    </>
  )
}
