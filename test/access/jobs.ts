import { until } from '#test/harness/until'
import { type Cases, type Cast, type Prepared, rows, withChanges } from './matrix.ts'
import { makeWorkflow } from './workflows.ts'

const definition = {
  nodes: [{ id: 'one', type: 'set', args: { values: { a: 1 } } }],
  edges: [],
  output: { $ref: 'nodes.one.output' },
}
const waiting = { nodes: [{ id: 'wait', type: 'wait', args: { for_s: 3600 } }], edges: [], output: null }

async function makeDataset({ author }: Cast): Promise<string> {
  const { body } = await author.call('POST', '/api/datasets', { body: { name: 'Case', records: [{ a: 1 }] } })
  return body.dataset_id
}

/** Creates a standalone job that the author owns, with a member and a viewer. */
async function makeJob(cast: Cast, graph: unknown = definition): Promise<string> {
  const { author, resourceMember, resourceViewer } = cast
  const { body, text } = await author.call('POST', '/api/enrichment-jobs', {
    body: { name: 'Case', definition: graph, dataset_id: await makeDataset(cast) },
  })
  if (!body?.job_id) throw new Error(text)
  for (const [person, role] of [
    [resourceMember, 'member'],
    [resourceViewer, 'viewer'],
  ] as const)
    if (person.id !== author.id)
      await author.call('POST', `/api/enrichment-jobs/${body.job_id}/members/invite`, {
        body: { email: person.email, role },
      })
  return body.job_id
}

const job = async (cast: Cast): Promise<Prepared> => ({ params: { job_id: await makeJob(cast) } })
const withBody =
  (body: unknown) =>
  async (cast: Cast): Promise<Prepared> => ({ ...(await job(cast)), body })

async function running(cast: Cast): Promise<Prepared> {
  const job_id = await makeJob(cast, waiting)
  await cast.author.call('POST', `/api/enrichment-jobs/${job_id}/run-now`)
  return { params: { job_id } }
}

/** Prepares a job with a run that has started. */
async function ran(cast: Cast): Promise<Prepared> {
  const { params } = await running(cast)
  const run = await until(async () => {
    const { body } = await cast.author.call('GET', `/api/enrichment-jobs/${params!.job_id}`)
    return body.last_run
  }, 'the run')
  return { params: { ...params, run_id: run.run_id } }
}

const membership =
  (body?: unknown) =>
  async (cast: Cast): Promise<Prepared> => ({
    params: { job_id: await makeJob(cast), user_id: cast.resourceViewer.id },
    ...(body !== undefined && { body }),
  })

const checks = [{ kind: 'cel', expression: 'results.a == 1' }]

async function workflow(cast: Cast): Promise<Prepared> {
  return { params: { workflow_id: await makeWorkflow(cast) } }
}

async function suite(cast: Cast): Promise<Prepared> {
  const workflowId = await makeWorkflow(cast)
  const { body, text } = await cast.author.call('POST', `/api/workflows/${workflowId}/suites`, {
    body: { name: 'Case', checks, dataset_id: await makeDataset(cast) },
  })
  if (!body?.suite_id) throw new Error(text)
  return { params: { suite_id: body.suite_id } }
}

async function suiteRun(cast: Cast): Promise<Prepared> {
  const { params } = await suite(cast)
  const { body } = await cast.author.call('POST', `/api/suites/${params!.suite_id}/run`)
  return { params: { ...params, run_id: body.run_id } }
}

async function suiteCase(cast: Cast): Promise<Prepared> {
  const { params } = await suiteRun(cast)
  const path = `/api/suites/${params!.suite_id}/runs/${params!.run_id}`
  await until(async () => (await cast.author.call('GET', path)).body.finished_at !== null, 'the report')
  return { params: { ...params, position: '0' } }
}

const seen = rows.hiddenAnyMember
const changed = rows.hiddenOwnerOrMember
const owned = rows.hiddenOwnerOnly
const unseen = { guest: 404 } as const

export const jobCases: Cases = {
  // Guests see the jobs that they were invited to; here there are none.
  listJobs: { expect: withChanges(rows.selectedRead, { guest: 'ok' }) },
  createJob: { expect: rows.selectedWrite, prepare: async () => ({ body: { name: 'Made', definition } }) },
  getJob: { expect: seen, prepare: job },
  updateJob: { expect: changed, prepare: withBody({ name: 'Renamed' }) },
  deleteJob: { expect: withChanges(owned, { workspaceOwner: 'ok' }), prepare: job },
  listLedger: { expect: seen, prepare: job },
  exportJobRecords: { expect: seen, prepare: ran },
  listJobRuns: { expect: seen, prepare: job },
  getJobRun: { expect: seen, prepare: ran },
  runJobNow: { expect: changed, prepare: job },
  retryFailedRecords: { expect: changed, prepare: job },
  pauseJob: { expect: changed, prepare: job },
  resumeJob: { expect: changed, prepare: job },
  cancelJob: { expect: changed, prepare: running },
  createBatchTicket: { expect: seen, prepare: job },
  listJobMembers: { expect: seen, prepare: job },
  inviteJobMember: { expect: owned, prepare: withBody({ email: 'somebody@example.com', role: 'viewer' }) },
  updateJobMember: { expect: owned, prepare: membership({ role: 'member' }) },
  // Every member may leave.
  removeJobMember: { expect: withChanges(owned, { resourceViewer: 'ok' }), prepare: membership() },
  searchSuites: {
    expect: withChanges(rows.selectedRead, { guest: 'ok' }),
    prepare: async (cast) => (await suite(cast)) && {},
  },
  listSuites: { expect: withChanges(rows.anyMember, unseen), prepare: workflow },
  createSuite: {
    expect: withChanges(rows.ownerOrMember, unseen),
    prepare: async (cast) => ({ ...(await workflow(cast)), body: { name: 'Made', checks } }),
  },
  getSuite: { expect: seen, prepare: suite },
  updateSuite: { expect: changed, prepare: async (cast) => ({ ...(await suite(cast)), body: { name: 'Renamed' } }) },
  deleteSuite: { expect: changed, prepare: suite },
  runSuite: { expect: changed, prepare: suite },
  listSuiteRuns: { expect: seen, prepare: suite },
  getSuiteRun: { expect: seen, prepare: suiteRun },
  getSuiteCase: { expect: seen, prepare: suiteCase, plainParameters: ['position'] },
}
