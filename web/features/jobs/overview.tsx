import { Link } from '@tanstack/react-router'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { Badge, StatusBadge } from '#web/ui/badge.tsx'
import { cronInWords } from '#web/ui/cron.ts'
import { Facts, Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { Duration, RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import { useDatasetName } from '../datasets/use-dataset.ts'
import { PersonName } from '../people/names.tsx'
import { JobShell } from './job-page.tsx'
import { ProgressOfRun } from './progress.tsx'
import { kindOf } from './run-kind.ts'
import { useJobId, useLiveJob } from './use-job.ts'

const reasons: Record<string, string> = {
  manual: 'Paused by a person. Resume or run it to continue.',
  connection_revoked: 'The credential of its connection was revoked. Store a new one to resume.',
  credential_unusable: 'A credential it uses was revoked or must be connected again. The job then resumes.',
  workflow_deleted: 'Its workflow was deleted. Choose another one in the settings.',
}

export function JobPage() {
  const job_id = useJobId()
  const live = useLiveJob(job_id)
  return (
    <JobShell section="Overview">
      {(job) => (
        <>
          {job.paused_reason && (
            <p role="status" className="mb-6 rounded-lg bg-waiting-soft px-4 py-3 text-waiting">
              Paused. {reasons[job.paused_reason]}
            </p>
          )}
          {job.dataset_id === null && job.source_id === null && (
            <p role="status" className="mb-6 rounded-lg bg-waiting-soft px-4 py-3 text-waiting">
              This job has no data. Choose a dataset or a source in the{' '}
              <Link to={`/jobs/${job_id}/settings`} className="underline">
                settings
              </Link>{' '}
              to run it.
            </p>
          )}
          <Section
            title="Newest run"
            actions={
              live.state !== 'ended' && (
                <Badge tone={live.state === 'live' ? 'success' : 'waiting'}>
                  {live.state === 'live' ? 'Live' : 'Reconnecting'}
                </Badge>
              )
            }
          >
            <NewestRun job={job} live={live} />
          </Section>
          <Section title="What it does">
            <About job={job} />
          </Section>
        </>
      )}
    </JobShell>
  )
}

function NewestRun({ job, live }: { job: EnrichmentJob; live: ReturnType<typeof useLiveJob> }) {
  const run = job.last_run
  if (!run && !live.progress)
    return (
      <Empty title="No runs yet">{job.status === 'due' ? 'Starting…' : 'Run it now, or wait for its schedule.'}</Empty>
    )
  const progress =
    live.progress ?? (run && { total: run.total, counts: run.counts, rate: null, estimated_end_at: null })
  return (
    <div className="flex flex-col gap-4">
      {progress && <ProgressOfRun progress={progress} running={job.status === 'running'} jobId={job.job_id} />}
      {run && (
        <Facts
          facts={[
            [
              'State',
              <StatusBadge
                key="state"
                status={run.status === 'starting' || run.status === 'writing' ? 'running' : run.status}
              />,
            ],
            ['Started', <RelativeTime key="began" at={run.started_at} />],
            ['Duration', <Duration key="took" from={run.started_at} to={run.finished_at} />],
            ['Kind', kindOf(run)],
            ...(run.failed_before > 0
              ? ([['Failed before', `${run.failed_before} records wait to be tried again`]] as [string, string][])
              : []),
          ]}
        />
      )}
      {run?.error && (
        <p role="alert" className="rounded-lg bg-danger-soft px-4 py-3 break-words text-danger">
          {run.error.code === 'dataset_changed'
            ? 'The dataset was changed while the job ran, so it stopped. Run it again to use the records as they are now.'
            : translateMessage(run.error.message)}
        </p>
      )}
    </div>
  )
}

function About({ job }: { job: EnrichmentJob }) {
  const workflow = useApi('getWorkflow', { workflow_id: job.workflow_id ?? '' }, { enabled: job.workflow_id !== null })
  const dataset = useDatasetName(job.dataset_id)
  const output = job.output
  return (
    <Facts
      facts={[
        [
          'Workflow',
          job.workflow_id ? (
            <Link key="wf" to={`/workflows/${job.workflow_id}`} className="text-accent hover:underline">
              {workflow.data?.name ?? 'a workflow'}
            </Link>
          ) : (
            t('its own definition')
          ),
        ],
        [
          'Data',
          job.dataset_id ? (
            <Link key="ds" to={`/datasets/${job.dataset_id}`} className="text-accent hover:underline">
              {dataset}
            </Link>
          ) : job.source_id ? (
            t('a source, captured at each run')
          ) : (
            t('nothing yet')
          ),
        ],
        ...(job.only_if
          ? ([
              [
                'Only records where',
                <code key="if" className="font-mono text-xs">
                  {job.only_if}
                </code>,
              ],
            ] as [string, React.ReactNode][])
          : []),
        [
          'Results',
          output?.dataset_id ? (
            <Link key="out" to={`/datasets/${output.dataset_id}`} className="text-accent hover:underline">
              {output.new ?? 'into a dataset'}
            </Link>
          ) : output?.new ? (
            t('into a new dataset, {0}', [output.new])
          ) : (
            t('the ledger only')
          ),
        ],
        ['Schedule', job.schedule ? `${cronInWords(job.schedule.cron)} (${job.schedule.timezone})` : 'manual'],
        ...(job.due_at
          ? ([[t('Next run'), <RelativeTime key="due" at={job.due_at} />]] as [string, React.ReactNode][])
          : []),
        ['Concurrency', `${job.concurrency} records`],
        ['Owner', <PersonName key="owner" id={job.owner_id} />],
      ]}
    />
  )
}
