import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// The deletion of a workflow with `cancel_runs`. It needs its own service, because it adds a trigger to a table.

const service = useService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

async function make(definition: unknown, settings: object = {}): Promise<string> {
  const { body, text } = await world.owner.call('POST', '/api/workflows', { body: { name: 'W', definition, settings } })
  if (!body.workflow_id) throw new Error(text)
  return body.workflow_id
}

async function run(id: string, body: object = {}): Promise<string> {
  const answer = await world.owner.call('POST', `/api/workflows/${id}/run`, { body })
  if (answer.status !== 202) throw new Error(answer.text)
  return answer.body.execution_id
}

const read = async (id: string) => (await world.owner.call('GET', `/api/workflows/executions/${id}`)).body
const becomes = (id: string, status: string) =>
  until(async () => (await read(id)).status === status, `${id} to be ${status}`)
const remove = (id: string) => world.owner.call('DELETE', `/api/workflows/${id}?cancel_runs=true`)

const sleeping = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 3600 } }], edges: [] }
const asking = () => ({
  nodes: [
    { id: 'ask', type: 'clarification', args: { question: 'Tea?', schema: { type: 'string' } } },
    {
      id: 'gate',
      type: 'approval',
      args: {
        title: 'Pay?',
        payload: {},
        policy: { approvers: [{ kind: 'user', id: world.member.id }], quorum: 'any' },
      },
    },
  ],
  edges: [],
})

describe('the deletion of a workflow with cancel_runs', () => {
  test('cancels executions in every state, closes gates and questions, and tells waiting parents', async () => {
    const { owner } = world
    const id = await make(asking(), { concurrency: { limit: 2, count: 'live' } })
    const parent = await make({
      nodes: [{ id: 's', type: 'subworkflow', args: { workflow_id: id, input: {} } }],
      edges: [],
    })
    const asked = await run(id)
    const gate = await until(async () => {
      const { body } = await owner.call('GET', `/api/workflows/executions/${asked}/approvals`)
      return (await read(asked)).waiting_for?.length === 2 && body.items[0]
    }, 'the gate')
    const outer = await run(parent)
    await until(async () => (await read(outer)).waiting_for?.[0]?.kind === 'execution', 'the parent to wait')
    const child = (await read(outer)).waiting_for[0].execution_id
    const isFull = await run(id)
    const later = await run(id, { start_at: '2999-01-01T00:00:00Z' })
    await until(async () => (await read(isFull)).waiting_for?.[0]?.kind === 'slot', 'a full workflow')
    const questions = async () => (await owner.call('GET', '/api/clarifications/inbox')).body.items
    // The parent waits as soon as the child exists, which may be before the child asks.
    await until(async () => (await questions()).length === 2, 'both questions')

    expect((await remove(id)).status).toBe(204)
    for (const one of [asked, child, isFull, later]) await becomes(one, 'cancelled')
    await becomes(outer, 'failed')
    expect((await read(outer)).error.code).toBe('cancelled')
    await until(
      async () => (await owner.call('GET', `/api/approvals/${gate.request_id}`)).body.status === 'cancelled',
      'the gate to close',
    )
    await until(async () => (await questions()).length === 0, 'the questions to close')
    const events = (await owner.call('GET', `/api/workflows/executions/${asked}/events`)).body.items
    const cancelled = events.find(({ type }: { type: string }) => type === 'execution.cancelled')
    expect(cancelled.data.by).toBe(owner.id)
  })

  test('cancels executions of a paused workflow, and leaves those of other workflows alone', async () => {
    const [paused, other] = [await make(sleeping), await make(sleeping)]
    await world.owner.call('POST', `/api/workflows/${paused}/pause`)
    const [waits, goesOn] = [await run(paused), await run(other)]
    await becomes(goesOn, 'waiting')
    expect((await remove(paused)).status).toBe(204)
    await becomes(waits, 'cancelled')
    expect((await read(goesOn)).status).toBe('waiting')
  })

  test('tells all executions in one statement', async () => {
    const id = await make(sleeping)
    const runs = Array.from({ length: 300 }, () => ({ input: {}, start_at: '2999-01-01T00:00:00Z' }))
    const { body } = await world.owner.call('POST', `/api/workflows/${id}/run-batch`, { body: { runs } })
    const ids: string[] = body.runs.map(({ execution_id }: { execution_id: string }) => execution_id)
    await service().sql('create table told (messages bigint)')
    await service().sql(`create function note_told() returns trigger language plpgsql security definer as
      $$ begin insert into public.told select count(*) from arrived; return null; end $$`)
    await service().sql(`create trigger note_told after insert on inbox referencing new table as arrived
      for each statement execute function note_told()`)
    expect((await remove(id)).status).toBe(204)
    await service().sql('drop trigger note_told on inbox')
    expect(await service().sql('select messages::integer from told')).toEqual([{ messages: 300 }])
    await until(async () => {
      const [left] = await service().sql(
        `select count(*)::integer as live from executions where workflow_id = $1 and status <> 'cancelled'`,
        [fromWire('wf', id)],
      )
      return left!.live === 0
    }, 'all to be cancelled')
    expect((await read(ids[299]!)).status).toBe('cancelled')
  })

  // Such an execution is written after the deletion, which can therefore not see it.
  test('also ends an execution that was started during the deletion', async () => {
    const id = await make(sleeping)
    const late = await run(id)
    await becomes(late, 'waiting')
    await service().sql('update workflows set deleted_at = now() where workflow_id = $1', [fromWire('wf', id)])
    await becomes(late, 'cancelled')
    const { items } = (await world.owner.call('GET', `/api/workflows/executions/${late}/events`)).body
    const cancelled = items.find(({ type }: { type: string }) => type === 'execution.cancelled')
    expect(cancelled.data).toMatchObject({ by: null, reason: 'the workflow was deleted' })
  })
})
