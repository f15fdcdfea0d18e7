import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { startSilentPostgres } from '#providers/warehouse/testing/silent-postgres'
import { echoWorkflow, getJob, makeJob, waitForRun } from '#test/harness/jobs'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Requests to a job at the moment when its run is released. Another transaction holds this moment open.

const silent = await startSilentPostgres('after sign-in')
afterAll(silent.stop)
const service = useService({ env: { HEDDLE_ALLOW_TARGETS: `127.0.0.1:${silent.port}` } })
let world: World
let source: string
beforeAll(async () => {
  world = await makeWorld(service())
  const config = { host: '127.0.0.1', port: silent.port, database: 'd', user: 'u' }
  const connection = await world.member.call('POST', '/api/connections', {
    body: { name: 'Silent', kind: 'postgres', config, secrets: { password: 'p' } },
  })
  expect(connection.status, connection.text).toBe(201)
  const path = `/api/connections/${connection.body.connection_id}/sources`
  source = (await world.member.call('POST', path, { body: { name: 'Rows', table: 'rows' } })).body.source_id
})

const untilReading = () => until(async () => silent.open() === 1, 'the run to read')

describe('a job that is resumed or cancelled at the moment', () => {
  async function pausedWhileReading(): Promise<{ job: string; id: string }> {
    const { member } = world
    const job = await makeJob(member, { definition: echoWorkflow, source_id: source })
    await member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
    await untilReading()
    await member.call('POST', `/api/enrichment-jobs/${job}/pause`)
    return { job, id: fromWire('job', job)! }
  }

  const untilHeldUp = (id: string) =>
    until(async () => {
      const isHeld = await waitsForLock(service(), '%enrichment_jobs%')
      const sql = `select from ledger_runs where job_id = $1 and (finished_at is not null or lease_until = 'infinity')`
      return isHeld || (await service().sql(sql, [id])).length > 0
    }, 'the run to be released')

  test('when its run is parked continues reading after a resume', async () => {
    const { job, id } = await pausedWhileReading()
    await inOtherTransaction(service(), async (resuming) => {
      await resuming.sql(`update enrichment_jobs set status = 'running', paused_reason = null where job_id = $1`, [id])
      await resuming.sql(
        `update ledger_runs set lease_until = now() where job_id = $1 and finished_at is null and lease_until = 'infinity'`,
        [id],
      )
      await untilHeldUp(id)
      await until(async () => silent.open() === 0, 'the connection to be released')
      await resuming.commit()
    })
    await untilReading()
    await world.member.call('POST', `/api/enrichment-jobs/${job}/cancel`)
    expect((await waitForRun(world.member, job)).last_run.status).toBe('cancelled')
  })

  test('when its run is parked ends that run after a cancellation', async () => {
    const { job, id } = await pausedWhileReading()
    await inOtherTransaction(service(), async (cancelling) => {
      await cancelling.sql('select from enrichment_jobs where job_id = $1 for update', [id])
      await untilHeldUp(id)
      await cancelling.sql(
        `update ledger_runs set cancelling = true, lease_until = case when lease_until = 'infinity' then now() else lease_until end
         where job_id = $1 and finished_at is null`,
        [id],
      )
      await cancelling.commit()
    })
    expect((await waitForRun(world.member, job)).last_run.status).toBe('cancelled')
  })

  test('when its run ends is idle afterwards', async () => {
    const { job, id } = await pausedWhileReading()
    await inOtherTransaction(service(), async (resuming) => {
      await resuming.sql(`update enrichment_jobs set status = 'running', paused_reason = null where job_id = $1`, [id])
      await service().sql(
        `update ledger_runs set cancelling = true, lease_until = case when lease_until = 'infinity' then now() else lease_until end
         where job_id = $1`,
        [id],
      )
      await until(() => waitsForLock(service(), '%enrichment_jobs%'), 'the end of the run')
      await resuming.commit()
    })
    const ended = async () => (await getJob(world.member, job)).last_run.finished_at !== null
    await until(ended, 'the end of the run')
    expect((await getJob(world.member, job)).status).toBe('idle')
  })
})
