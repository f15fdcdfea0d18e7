import { beforeAll, describe, expect, test } from 'vitest'
import { type SharedService, startService, useSharedService } from '#test/harness/service'
import { openSocket, type TestFrame } from '#test/harness/socket'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { runCuts } from '../bench/chaos/cuts.ts'
import { slow } from './harness/slow.ts'

// Live progress over sockets, from any process that runs the execution.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const asking = {
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?', schema: {} } }],
  edges: [],
  output: { $ref: 'nodes.ask.output' },
}

async function start(
  definition: unknown,
  members: { user_id: string; role: string }[] = [],
): Promise<{ workflow: string; execution: string }> {
  const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Live', definition, members } })
  const ran = await world.owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { body: {} })
  return { workflow: body.workflow_id, execution: ran.body.execution_id }
}

async function connect(execution: string, as: TestPerson = world.owner, on: SharedService = service(), after?: number) {
  const { body } = await on.call('POST', `/auth/workflow-ticket/${execution}`, { token: as.key })
  return openSocket(body.url + (after === undefined ? '' : `?after=${after}`), body.ticket)
}

const journal = async (execution: string): Promise<{ seq: number; type: string }[]> => {
  const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}/events?limit=200`)
  return body.items.map(({ seq, type }: TestFrame) => ({ seq, type }))
}
const answer = (execution: string) =>
  world.owner.call('POST', `/api/workflows/executions/${execution}/respond`, { body: { response: 'yes' } })
const untilWaiting = (execution: string) =>
  until(
    async () => (await world.owner.call('GET', `/api/workflows/executions/${execution}`)).body.status === 'waiting',
    'the question',
  )

describe('live progress', () => {
  test('starts with a snapshot, then sends every event in order; events of nodes name their node', async () => {
    const { execution } = await start(asking)
    await untilWaiting(execution)
    const live = await connect(execution)
    const snapshot = await live.frame(({ type }) => type === 'snapshot')
    expect(snapshot.data).toMatchObject({
      execution_id: execution,
      status: 'waiting',
      waiting_for: [{ kind: 'clarification' }],
    })
    await answer(execution)
    await live.frame(({ type }) => type === 'execution.succeeded')
    const seen = live.frames.filter(({ type }) => type !== 'snapshot').map(({ seq, type }) => ({ seq, type }))
    expect(seen).toEqual((await journal(execution)).filter(({ seq }) => seq > snapshot.seq))
    expect(live.frames.filter(({ type }) => type.startsWith('node.')).every(({ data }) => data.node_id === 'ask')).toBe(
      true,
    )
    live.socket.terminate()
  })

  test('is the same on a socket of another process', async () => {
    const api = await startService({ database: service().database, role: 'api' })
    try {
      const { execution } = await start(asking)
      await untilWaiting(execution)
      const live = await connect(execution, world.owner, api)
      await live.frame(({ type }) => type === 'snapshot')
      await answer(execution)
      await live.frame(({ type }) => type === 'execution.succeeded')
      live.socket.terminate()
    } finally {
      await api.stop()
    }
  })

  test('is complete for a client that resumes after any number of cuts: each event arrives once', async () => {
    const steps = 60
    const definition = {
      nodes: Array.from({ length: steps }, (_, n) => ({ id: `n${n}`, type: 'wait', args: { for_s: 0.01 } })),
      edges: Array.from({ length: steps - 1 }, (_, n) => ({ from: { node: `n${n}` }, to: `n${n + 1}` })),
    }
    const { execution } = await start(definition)
    const seen: number[] = []
    let after = 0
    for (let cut = 0; ; cut++) {
      const live = await connect(execution, world.owner, service(), after)
      const stopAfter = cut % 4
      await live
        .frame(() => live.frames.length > stopAfter || live.frames.some(({ type }) => type === 'execution.succeeded'))
        .catch(() => {})
      live.socket.terminate()
      await live.closed
      for (const { seq } of live.frames) seen.push(seq)
      after = seen.at(-1) ?? 0
      if (live.frames.some(({ type }) => type === 'execution.succeeded')) break
    }
    expect(seen).toEqual((await journal(execution)).map(({ seq }) => seq).slice(0, seen.length))
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    expect(seen.at(-1)).toBe(body.seq)
  })

  // The short form of `npm run chaos -- cuts`.
  slow(
    'sockets show the whole journal even if they are cut and servers and workers are killed',
    async () => {
      const outcome = await runCuts({ seed: 3, cuts: 60, kills: 2, watchers: 3 })
      expect(outcome.violations).toEqual([])
      expect(outcome.kills).toEqual({ servers: 1, workers: 1 })
    },
    180_000,
  )

  test('reports a position beyond the journal as a gap, refuses an invalid position, and delays no other client', async () => {
    const { execution } = await start(asking)
    await untilWaiting(execution)
    const beyond = await connect(execution, world.owner, service(), 2_000_000_000)
    const { seq } = (await journal(execution)).at(-1)!
    expect(await beyond.frame(({ type }) => type === 'gap')).toMatchObject({ seq, data: { from: 1, to: seq } })
    expect(await (await connect(execution, world.owner, service(), 999_999_999_999_999)).closed).toBe(1008)
    const live = await connect(execution, world.owner, service(), seq)
    await answer(execution)
    await Promise.all([beyond, live].map((one) => one.frame(({ type }) => type === 'execution.succeeded')))
    for (const { socket } of [beyond, live]) socket.terminate()
  })

  test('ends for a removed member; a ticket of another execution is refused', async () => {
    const leaver = await makePerson(service())
    await addMember(service(), world.workspace, leaver, 'member')
    const { workflow, execution } = await start(asking, [{ user_id: leaver.id, role: 'viewer' }])
    await untilWaiting(execution)
    const live = await connect(execution, leaver)
    await live.frame(({ type }) => type === 'snapshot')
    await world.owner.call('PATCH', `/api/workflows/${workflow}`, { body: { members: [] } })
    expect(await live.closed).toBe(4403)
    const { status } = await leaver.call('POST', `/auth/workflow-ticket/${execution}`)
    expect(status).toBe(404)
    const other = await start(asking)
    const { body } = await world.owner.call('POST', `/auth/workflow-ticket/${other.execution}`)
    expect(await openSocket(body.url.replace(other.execution, execution), body.ticket).closed).toBe(4401)
  })

  test('ends for a member without a second factor when the workspace requires one', async () => {
    const { owner, workspace } = await makeWorld(service())
    const made = await owner.call('POST', '/api/workflows', { body: { name: 'Live', definition: asking } })
    const { body } = await owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })
    const live = await connect(body.execution_id, owner)
    await live.frame(({ type }) => type === 'snapshot')
    await service().sql('update workspaces set require_second_factor = true where workspace_id = $1', [workspace.uuid])
    expect(await live.closed).toBe(4403)
  })
})
