import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { echoWorkflow, getJob, makeDataset, makeJob, numbered, runJob } from '#test/harness/jobs'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson } from '#test/harness/world'

// A site that does not respond until it is closed, so that executions that call it run as long as a test needs.
const held = new Set<ServerResponse>()
const site = createServer((_request, response) => void held.add(response))
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(site.address() as AddressInfo).port}`
afterAll(() => {
  for (const response of held) response.end()
  site.close()
})

const service = useService({ env: { HEDDLE_ALLOW_TARGETS: host } })

const asking = {
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?', schema: { type: 'string' } } }],
  edges: [],
  output: null,
}
const calling = {
  nodes: [{ id: 'call', type: 'http.request', args: { method: 'GET', url: `http://${host}/` } }],
  edges: [],
  output: null,
}

async function begin(person: TestPerson, count: number, definition: object, dataset_id: string): Promise<string[]> {
  const jobs: string[] = []
  for (let n = 0; n < count; n++) jobs.push(await makeJob(person, { definition, dataset_id }))
  for (const job of jobs) await person.call('POST', `/api/enrichment-jobs/${job}/run-now`)
  return jobs
}

const untilUnderWay = (person: TestPerson, jobs: string[]) =>
  until(async () => {
    const found = await Promise.all(jobs.map((job) => getJob(person, job)))
    return found.every(({ last_run }) => last_run?.counts.running === 1)
  }, 'a record of each job under way')

const cancel = async (person: TestPerson, jobs: string[]): Promise<void> => {
  for (const job of jobs) await person.call('POST', `/api/enrichment-jobs/${job}/cancel`)
}

test('jobs whose executions wait for people leave room for other jobs', async () => {
  const { member } = await makeWorld(service())
  const dataset = await makeDataset(member, numbered(1))
  const waiting = await begin(member, 8, asking, dataset)
  await untilUnderWay(member, waiting)
  const ran = await runJob(member, await makeJob(member, { definition: echoWorkflow, dataset_id: dataset }))
  expect(ran.last_run.status).toBe('succeeded')
  expect(await Promise.all(waiting.map(async (job) => (await getJob(member, job)).status))).toEqual(
    waiting.map(() => 'running'),
  )
  await cancel(member, waiting)
})

test('more due jobs than one workspace has room for do not delay other workspaces', async () => {
  const { member, stranger } = await makeWorld(service())
  const dataset = await makeDataset(member, numbered(1))
  const busy = await begin(member, 8, calling, dataset)
  await untilUnderWay(member, busy)
  const due = await begin(member, 55, echoWorkflow, dataset)
  const theirs = await makeJob(stranger, {
    definition: echoWorkflow,
    dataset_id: await makeDataset(stranger, numbered(1)),
  })
  expect((await runJob(stranger, theirs)).last_run.status).toBe('succeeded')
  expect((await getJob(member, due.at(-1)!)).status).toBe('due')
  await cancel(member, [...busy, ...due])
})
