import type { Answer, Service } from './service.ts'
import type { TestPerson } from './world.ts'

// Helpers for tests of jobs and suites.

/** A definition with one node that outputs the input. */
export const echoWorkflow = {
  nodes: [{ id: 'one', type: 'set', args: { values: { seen: { $ref: 'input' } } } }],
  edges: [],
  output: { $ref: 'nodes.one.output' },
}

export const numbered = (count: number): { n: number }[] => Array.from({ length: count }, (_, n) => ({ n }))

function made(answer: Answer, id: string): string {
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body[id]
}

export const makeDataset = async (person: TestPerson, records: unknown[], name = 'Records'): Promise<string> =>
  made(await person.call('POST', '/api/datasets', { body: { name, records } }), 'dataset_id')

export const makeWorkflow = async (person: TestPerson, more: object = {}): Promise<string> =>
  made(
    await person.call('POST', '/api/workflows', { body: { name: 'Recipe', definition: echoWorkflow, ...more } }),
    'workflow_id',
  )

export const makeJob = async (person: TestPerson, body: object): Promise<string> =>
  made(await person.call('POST', '/api/enrichment-jobs', { body: { name: 'Job', ...body } }), 'job_id')

export const getJob = async (person: TestPerson, jobId: string): Promise<Answer['body']> =>
  (await person.call('GET', `/api/enrichment-jobs/${jobId}`)).body

/** Makes records that wait for a retry due now. Tests check that they are retried, not how long they wait. */
export const makeRetriesDue = (service: Pick<Service, 'sql'>): Promise<unknown> =>
  service.sql('update ledger_records set due_at = now() where due_at > now()')

/** Returns the job when a run other than `notRun` has ended. */
export async function waitForRun(
  person: TestPerson,
  jobId: string,
  notRun?: string,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<Answer['body']> {
  for (;;) {
    await meanwhile()
    const job = await getJob(person, jobId)
    const over = job.last_run !== null && job.last_run.finished_at !== null && job.last_run.run_id !== notRun
    if (over && job.status !== 'running') return job
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
}

export async function runJob(
  person: TestPerson,
  jobId: string,
  body: object = {},
  meanwhile?: () => Promise<unknown>,
): Promise<Answer['body']> {
  const before = (await getJob(person, jobId)).last_run?.run_id
  const answer = await person.call('POST', `/api/enrichment-jobs/${jobId}/run-now`, { body })
  if (answer.status !== 202) throw new Error(answer.text)
  return waitForRun(person, jobId, before, meanwhile)
}
