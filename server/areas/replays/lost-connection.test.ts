import { beforeAll, expect, test } from 'vitest'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const WRITES = 'insert into replay_results%'

test('a replay whose connection to the database is lost while it is written continues', async () => {
  const definition = { nodes: [{ id: 'a', type: 'set', args: { values: { n: 1 } } }], edges: [] }
  const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'W', definition } })
  const path = `/api/workflows/${body.workflow_id}`
  await world.owner.call('POST', `${path}/run?wait_s=60`, { body: { input: {} } })
  const version = await world.owner.call('POST', `${path}/versions`, {
    body: { definition: { ...definition, layout: { positions: {} } } },
  })
  let replay = ''
  await inOtherTransaction(service(), async (holding) => {
    await holding.sql('lock table replay_results in exclusive mode')
    const started = await world.owner.call('POST', `${path}/versions/${version.body.version_id}/replay`, { body: {} })
    expect(started.status, started.text).toBe(202)
    replay = started.body.replay_id
    await until(() => waitsForLock(service(), WRITES), 'the replay to write its results')
    await holding.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like $1`,
      [WRITES],
    )
    await holding.commit()
  })
  const ended = await until(async () => {
    const found = (await world.owner.call('GET', `/api/replays/${replay}`)).body
    return found.finished_at !== null && found
  }, 'the end of the replay')
  expect(ended).toMatchObject({ status: 'succeeded', total: 1, same: 1, error: null })
})
