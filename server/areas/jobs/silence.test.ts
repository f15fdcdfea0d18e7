import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startSilentPostgres } from '#providers/warehouse/testing/silent-postgres'
import { echoWorkflow, getJob, makeJob, waitForRun } from '#test/harness/jobs'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const silent = await startSilentPostgres('after sign-in')
afterAll(silent.stop)
const service = useService({ env: { HEDDLE_ALLOW_TARGETS: `127.0.0.1:${silent.port}` } })
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

async function makeConnection(): Promise<{ connection: string; source: string }> {
  const config = { host: '127.0.0.1', port: silent.port, database: 'd', user: 'u' }
  const made = await world.member.call('POST', '/api/connections', {
    body: { name: 'Silent', kind: 'postgres', config, secrets: { password: 'p' } },
  })
  expect(made.status, made.text).toBe(201)
  const connection = made.body.connection_id
  const source = await world.member.call('POST', `/api/connections/${connection}/sources`, {
    body: { name: 'Rows', table: 'rows' },
  })
  return { connection, source: source.body.source_id }
}

const untilReading = () => until(async () => silent.open() === 1, 'the run to read')
const untilLetGo = () => until(async () => silent.open() === 0, 'the connection to be released')

// Cancels all reads, because the next test counts connections.
afterEach(async () => {
  const { body } = await world.member.call('GET', '/api/enrichment-jobs?limit=200')
  for (const { job_id } of body.items) await world.member.call('POST', `/api/enrichment-jobs/${job_id}/cancel`)
  await untilLetGo()
})

describe('a run that reads from an unresponsive warehouse', () => {
  test('can be cancelled', async () => {
    const { member } = world
    const { source } = await makeConnection()
    const job = await makeJob(member, { definition: echoWorkflow, source_id: source })
    await member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
    await untilReading()
    expect((await member.call('POST', `/api/enrichment-jobs/${job}/cancel`)).status).toBe(200)
    const ran = await waitForRun(member, job)
    expect(ran).toMatchObject({ status: 'idle', last_run: { status: 'cancelled', error: null } })
    await untilLetGo()
  })

  test('closes the connection while the job is paused, and reads again afterwards', async () => {
    const { member } = world
    const { source } = await makeConnection()
    const job = await makeJob(member, { definition: echoWorkflow, source_id: source })
    await member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
    await untilReading()
    await member.call('POST', `/api/enrichment-jobs/${job}/pause`)
    await untilLetGo()
    expect(await getJob(member, job)).toMatchObject({ status: 'paused', last_run: { status: 'starting' } })
    await member.call('POST', `/api/enrichment-jobs/${job}/resume`)
    await untilReading()
    await member.call('POST', `/api/enrichment-jobs/${job}/cancel`)
    expect((await waitForRun(member, job)).last_run.status).toBe('cancelled')
  })

  test('waits for a new credential when its credential is revoked', async () => {
    const { member } = world
    const { connection, source } = await makeConnection()
    const job = await makeJob(member, { definition: echoWorkflow, source_id: source })
    await member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
    await untilReading()
    expect((await member.call('DELETE', `/api/connections/${connection}`)).status).toBe(204)
    await untilLetGo()
    expect(await getJob(member, job)).toMatchObject({ status: 'paused', last_run: { status: 'starting' } })
    await member.call('PUT', `/api/connections/${connection}/credential`, { body: { secrets: { password: 'q' } } })
    await untilReading()
    expect((await getJob(member, job)).status).toBe('running')
    await member.call('POST', `/api/enrichment-jobs/${job}/cancel`)
    await waitForRun(member, job)
  })
})
