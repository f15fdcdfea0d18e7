import { beforeAll, expect, test } from 'vitest'
import { toWire } from '#platform/ids'
import { makeDataset, makeJob, makeWorkflow, numbered, waitForRun } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// The rules of a workflow apply to the executions of a job.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const asking = { nodes: [{ id: 'q', type: 'clarification', args: { question: '?' } }], edges: [], output: null }

test('a pause of the workflow during a run keeps its next records waiting until the workflow is resumed', async () => {
  const { member } = world
  const workflow = await makeWorkflow(member, { definition: asking })
  const dataset_id = await makeDataset(member, numbered(2))
  const job = await makeJob(member, { workflow_id: workflow, dataset_id, concurrency: 1 })
  const waits = (): Promise<{ execution_id: string; kind: string; reason?: string }[]> =>
    service().sql(
      `select execution_id, waiting_for -> 0 ->> 'kind' as kind, engine.shown_flow(workspace_id, workflow_id, status, held, waiting_for) -> 0 ->> 'reason' as reason from executions where trigger_id = $1 and status = 'waiting'`,
      [job],
    )
  const answer = async () => {
    const [asked] = await waits()
    const { status, text } = await member.call(
      'POST',
      `/api/workflows/executions/${toWire('exe', asked!.execution_id)}/respond`,
      {
        body: { response: 'yes' },
      },
    )
    expect(status, text).toBe(202)
  }
  await member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
  await until(async () => (await waits())[0]?.kind === 'clarification', 'the question of the first record')
  expect((await member.call('POST', `/api/workflows/${workflow}/pause`)).status).toBe(200)
  await answer()
  await until(async () => (await waits())[0]?.reason === 'paused', 'the second record to wait')
  expect((await member.call('POST', `/api/workflows/${workflow}/resume`)).status).toBe(200)
  await until(async () => (await waits())[0]?.kind === 'clarification', 'the question of the second record')
  await answer()
  expect((await waitForRun(member, job)).last_run).toMatchObject({ counts: { succeeded: 2 } })
})
