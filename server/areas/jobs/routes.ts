import { member, owner, sees, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { IssuedTicket, socketOf } from '#platform/realtime/tickets'
import {
  Job,
  JobPut,
  JobRun,
  jobList,
  jobRunList,
  Ledger,
  LedgerExportQuery,
  LedgerQuery,
  NewJob,
  RunNow,
} from './schema.ts'
import type { Jobs } from './service.ts'

const example = {
  name: 'Score leads',
  definition: {
    inputs: { type: 'object', properties: { company: { type: 'string' } }, required: ['company'] },
    nodes: [{ id: 'score', type: 'set', args: { values: { length: { $cel: 'size(input.company)' } } } }],
    edges: [],
    output: { $cel: 'nodes.score.output' },
  },
  mapping: { company: { $cel: 'record.company' } },
  only_if: 'has(record.company)',
  output: { new: 'Scored leads' },
  schedule: { cron: '0 6 * * *', timezone: 'Europe/Amsterdam' },
}

export const jobRoutes = (jobs: Jobs): AnyRoute[] =>
  routes(
    'Enrichment jobs',
    {
      listJobs: ['GET', '/api/enrichment-jobs', sees('workspace')],
      createJob: ['POST', '/api/enrichment-jobs', member('workspace')],
      getJob: ['GET', '/api/enrichment-jobs/:job_id', viewer('job')],
      updateJob: ['PUT', '/api/enrichment-jobs/:job_id', member('job')],
      deleteJob: ['DELETE', '/api/enrichment-jobs/:job_id', owner('owned_job')],
      listLedger: ['GET', '/api/enrichment-jobs/:job_id/records', viewer('job')],
      exportJobRecords: ['GET', '/api/enrichment-jobs/:job_id/records/export', viewer('job')],
      listJobRuns: ['GET', '/api/enrichment-jobs/:job_id/runs', viewer('job')],
      getJobRun: ['GET', '/api/enrichment-jobs/:job_id/runs/:run_id', viewer('job')],
      runJobNow: ['POST', '/api/enrichment-jobs/:job_id/run-now', member('job'), 'run'],
      retryFailedRecords: ['POST', '/api/enrichment-jobs/:job_id/retry-failed', member('job'), 'run'],
      pauseJob: ['POST', '/api/enrichment-jobs/:job_id/pause', member('job'), 'run'],
      resumeJob: ['POST', '/api/enrichment-jobs/:job_id/resume', member('job'), 'run'],
      cancelJob: ['POST', '/api/enrichment-jobs/:job_id/cancel', member('job'), 'run'],
      createBatchTicket: ['POST', '/auth/batch-ticket/:job_id', viewer('job'), 'read'],
    },
    {
      listJobs: {
        summary: 'Jobs the caller may see: standalone ones by membership, pinned ones by that of their workflow',
        query: jobList.query,
        answer: page(Job),
        run: jobs.listJobs,
      },
      createJob: {
        summary: 'Create a job, pinned to a workflow or with its own definition',
        description:
          '`mapping` builds the input of each execution from `record`; without it the record is the input. A record is processed again when its input or the definition changes. A record that failed waits for such a change, or for `retry-failed`.',
        body: NewJob,
        answer: Job,
        status: 201,
        location: ({ job_id }) => `/api/enrichment-jobs/${job_id}`,
        examples: { body: example },
        run: jobs.createJob,
      },
      getJob: { summary: 'One job', answer: Job, extension: true, run: jobs.getJob },
      updateJob: {
        summary: 'Change a job; fields that are left out stay as they are',
        description: 'A run in progress continues with the settings that it started with.',
        body: JobPut,
        answer: Job,
        current: jobs.getJob,
        examples: { body: { concurrency: 16, schedule: null } },
        run: jobs.updateJob,
      },
      deleteJob: {
        summary: 'Delete a job and its ledger: its owner or the owner of the workspace',
        description: 'Executions of a run in progress are cancelled.',
        status: 204,
        current: jobs.getJob,
        run: jobs.deleteJob,
      },
      listLedger: {
        summary: 'The ledger of a run: how many records have which status; with `status`, which ones',
        description: 'Of the newest run, or of `run_id`. Records that failed carry the record itself.',
        query: LedgerQuery,
        answer: Ledger,
        run: jobs.listLedger,
      },
      runJobNow: {
        summary: 'Make the job due at once',
        description:
          'While it runs, one further run follows. `full` processes every record again. `sample` tries a few records and writes no output. A manual pause is lifted.',
        body: RunNow,
        answer: Job,
        status: 202,
        examples: { body: { sample: 10 } },
        run: jobs.runNow,
      },
      retryFailedRecords: {
        summary: 'Run the job, and retry records that failed in earlier runs',
        answer: Job,
        status: 202,
        extension: true,
        run: jobs.retryFailed,
      },
      exportJobRecords: {
        summary: 'Records of a run as a file, each with its `result` and `error`',
        description:
          'Those that failed, or those of another `status`. Records that did not fail are read from the dataset, while that is unchanged. In CSV, texts that a spreadsheet would run as a formula get a leading apostrophe.',
        query: LedgerExportQuery,
        produces: ['text/csv', 'application/x-ndjson'],
        transaction: false,
        extension: true,
        run: jobs.exportRecords as never,
      },
      listJobRuns: {
        summary: 'The runs of a job, newest first',
        query: jobRunList.query,
        answer: page(JobRun),
        extension: true,
        run: jobs.listRuns,
      },
      getJobRun: { summary: 'One run of a job', answer: JobRun, extension: true, run: jobs.getRun },
      pauseJob: {
        summary: 'Pause the job: no more records are started; records in progress are completed',
        answer: Job,
        extension: true,
        run: jobs.pauseJob,
      },
      resumeJob: {
        summary: 'Resume a paused job',
        answer: Job,
        extension: true,
        run: jobs.resumeJob,
      },
      cancelJob: {
        summary: 'Cancel the run in progress, or a requested run',
        answer: Job,
        extension: true,
        run: jobs.cancelJob,
      },
      createBatchTicket: {
        summary: 'A ticket for the batch-progress socket; valid for 30 seconds and one connection',
        answer: IssuedTicket,
        status: 201,
        location: socketOf,
        run: jobs.issueBatchTicket,
      },
    },
  )
