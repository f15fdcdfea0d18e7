import { beforeAll, describe, expect, test } from 'vitest'
import { makeDataset } from '#test/harness/jobs'
import { type Answer, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const giving = (output: number) => ({ nodes: [], edges: [], output })
const call = (method: string, path: string, body?: object): Promise<Answer> =>
  world.owner.call(method, path, body === undefined ? {} : { body })

async function create(): Promise<string> {
  return (await call('POST', '/api/workflows', { name: 'Guarded', definition: giving(1) })).body.workflow_id
}
const addVersion = async (workflow: string, output: number): Promise<string> =>
  (await call('POST', `/api/workflows/${workflow}/versions`, { definition: giving(output) })).body.version_id
const activate = (workflow: string, version: string): Promise<Answer> =>
  call('POST', `/api/workflows/${workflow}/versions/${version}/activate`)
const ended = (path: string): Promise<Answer['body']> =>
  until(async () => {
    const { body } = await call('GET', path)
    return body.finished_at !== null && body
  }, path)
async function replay(workflow: string, version: string, body: object): Promise<string> {
  const { body: made } = await call('POST', `/api/workflows/${workflow}/versions/${version}/replay`, body)
  await ended(`/api/replays/${made.replay_id}`)
  return made.replay_id
}

describe('activation', () => {
  test('requires a replay with few enough differences', async () => {
    const workflow = await create()
    const settings = { activation: { replay: { limit: 10, max_different: 0 } } }
    expect((await call('PATCH', `/api/workflows/${workflow}`, { settings })).body.settings).toMatchObject(settings)
    // There are no past executions yet, so nothing could be different.
    expect((await activate(workflow, await addVersion(workflow, 1))).status).toBe(200)
    await call('POST', `/api/workflows/${workflow}/run?wait_s=60`, {})
    const [same, other] = [await addVersion(workflow, 1), await addVersion(workflow, 2)]

    const missing = await activate(workflow, same)
    expect(missing.status).toBe(409)
    expect(missing.body).toMatchObject({
      code: 'activation_blocked',
      report: { replay: { replay_id: null, limit: 10, max_different: 0 } },
    })
    // A replay of fewer or of selected executions is not sufficient.
    await replay(workflow, same, { limit: 5 })
    await replay(workflow, same, { limit: 10, filter: { status: ['succeeded'] } })
    expect((await activate(workflow, same)).body.code).toBe('activation_blocked')
    await replay(workflow, same, { limit: 10 })
    expect((await activate(workflow, same)).status).toBe(200)

    const replay_id = await replay(workflow, other, { limit: 10 })
    expect((await activate(workflow, other)).body).toMatchObject({
      code: 'activation_blocked',
      report: { replay: { replay_id, total: 1, different: 1 } },
    })
    const forced = await call('POST', `/api/workflows/${workflow}/versions`, { definition: giving(3), activate: true })
    expect(forced.body.code).toBe('activation_blocked')
    expect((await call('GET', `/api/workflows/${workflow}`)).body.active_version_id).toBe(same)
    await call('PATCH', `/api/workflows/${workflow}`, { settings: { activation: null } })
    expect((await activate(workflow, other)).status).toBe(200)
  })

  test('requires a suite that passes', async () => {
    const workflow = await create()
    const suite = await call('POST', `/api/workflows/${workflow}/suites`, {
      name: 'One',
      dataset_id: await makeDataset(world.owner, [{ expected: 1 }, { expected: 2 }]),
      checks: [{ kind: 'equal', expected: { $ref: 'record.expected' } }],
    })
    const { suite_id } = suite.body
    const settings = (min_score: number) => ({ settings: { activation: { suite_id, min_score } } })
    expect((await call('PATCH', `/api/workflows/${workflow}`, settings(1))).status).toBe(200)
    const version = await addVersion(workflow, 1)
    expect((await activate(workflow, version)).body).toMatchObject({
      report: { suite: { run_id: null, min_score: 1 } },
    })
    const { run_id } = (await call('POST', `/api/suites/${suite_id}/run`, { version_id: version })).body
    await ended(`/api/suites/${suite_id}/runs/${run_id}`)
    expect((await activate(workflow, version)).body).toMatchObject({
      code: 'activation_blocked',
      report: { suite: { suite_id, run_id, score: 0.5, min_score: 1 } },
    })
    await call('PATCH', `/api/workflows/${workflow}`, settings(0.5))
    expect((await activate(workflow, version)).status).toBe(200)

    const foreign = await call('PATCH', `/api/workflows/${await create()}`, settings(1))
    expect(foreign.body).toMatchObject({
      code: 'unknown_reference',
      errors: [{ path: '/settings/activation/suite_id' }],
    })
  })
})
