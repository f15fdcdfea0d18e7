import { Ban, FlaskConical, Pause, Play, RotateCcw, RotateCw } from 'lucide-react'
import { useState } from 'react'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'

const STALE: ('getJob' | 'listJobs' | 'listLedger' | 'listJobRuns')[] = [
  'getJob',
  'listJobs',
  'listLedger',
  'listJobRuns',
]

/** Enough records to see what a job does, few enough to be cheap. */
const SAMPLE = 10

/** The actions of a job, in all of its sections. */
export function JobActions({ job }: { job: EnrichmentJob }) {
  const [asked, setAsked] = useState<'full' | 'cancel' | null>(null)
  const { job_id } = job
  const run = useChange('runJobNow', {
    stale: STALE,
    done: 'Starting',
    failed: 'Could not start',
  })
  const pause = useChange('pauseJob', {
    stale: STALE,
    done: 'Paused. Records in progress will finish',
    failed: 'Could not pause',
  })
  const resume = useChange('resumeJob', { stale: STALE, done: 'Resumed', failed: 'Could not resume' })
  const retry = useChange('retryFailedRecords', {
    stale: STALE,
    done: 'Trying failed records again',
    failed: 'Could not start',
  })
  const failed = job.last_run?.counts.failed ?? 0
  const cancel = useChange('cancelJob', { stale: STALE, done: 'Run cancelled' })
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
      {failed > 0 && !busy && (
        <Button icon={RotateCcw} pending={retry.isPending} onClick={() => retry.mutate({ job_id })}>
          Try failed again
        </Button>
      )}
      <Button icon={FlaskConical} pending={run.isPending} onClick={() => run.mutate({ job_id, sample: SAMPLE })}>
        {`Try ${SAMPLE} records`}
      </Button>
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
        title="Process every record again?"
        consequence="Unchanged records are usually skipped. This runs the workflow for every record and may cost money or send messages again."
        action="Run all again"
        onConfirm={() => run.mutateAsync({ job_id, full: true })}
      />
      <ConfirmDialog
        open={asked === 'cancel'}
        onClose={() => setAsked(null)}
        title="Cancel this run?"
        consequence="Records in progress are cancelled. Finished records are kept. The next run continues with the rest."
        action="Cancel run"
        onConfirm={() => cancel.mutateAsync({ job_id })}
      />
    </>
  )
}
