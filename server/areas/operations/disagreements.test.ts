import { beforeAll, expect, test } from 'vitest'
import { fromWire, newId } from '#platform/ids'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// An execution waits for something that has ended or does not exist, and was not notified. The test writes this state
// into the tables, since the program does not produce it. An operator sees the disagreement, and the engine repairs it.

const service = useService({ env: { HEDDLE_OPERATORS: 'op@example.com' } })
let world: World
let operator: TestPerson
beforeAll(async () => {
  world = await makeWorld(service())
  operator = await makePerson(service(), { email: 'op@example.com' })
})

const policy = { approvers: [{ kind: 'role', id: 'member' }], quorum: 'any' }
const gate = { id: 'n', type: 'approval', args: { title: 'Go?', payload: {}, policy } }
const question = { id: 'n', type: 'clarification', args: { question: 'Well?', schema: { type: 'string' } } }

const sleep = { id: 'n', type: 'wait', args: { for_s: 3600 } }

const make = async (node: object): Promise<string> => {
  const definition = { nodes: [node], edges: [], output: { $ref: 'nodes.n.output' } }
  return (await world.owner.call('POST', '/api/workflows', { body: { name: 'Waits', definition } })).body.workflow_id
}
const read = async (id: string) => (await world.owner.call('GET', `/api/workflows/executions/${id}`)).body
const startWaiting = async (node: object): Promise<string> => {
  const { body } = await world.owner.call('POST', `/api/workflows/${await make(node)}/run`, { body: {} })
  await until(async () => (await read(body.execution_id)).status === 'waiting', 'the wait')
  return body.execution_id
}
const uuid = (id: string): string => fromWire('exe', id)!
const unaccounted = async (): Promise<Map<string, string>> => {
  const { body } = await operator.call('GET', '/api/operations/engine')
  return new Map(body.unaccounted.map((one: { execution_id: string; why: string }) => [one.execution_id, one.why]))
}
const ended = (id: string) =>
  until(async () => {
    const view = await read(id)
    return view.finished_at ? view : undefined
  }, 'the end')

test('executions that disagree with what they wait for are listed and repaired', async () => {
  const { sql } = service()
  const approved = await startWaiting(gate)
  const answered = await startWaiting(question)
  const cancelled = await startWaiting(gate)
  const parent = await startWaiting({
    id: 'n',
    type: 'subworkflow',
    args: { workflow_id: await make(sleep), input: {} },
  })
  const over = await startWaiting(question)
  await world.owner.call('POST', `/api/workflows/executions/${over}/respond`, { body: { response: 'yes' } })
  await ended(over)
  const two = await startWaiting(question)
  await until(async () => (await unaccounted()).size === 0, 'no disagreements')

  const ask = (execution: string): string =>
    `insert into questions (workspace_id, clarification_id, execution_id, node_path, node_id, question, schema)
       values ('${world.workspace.uuid}', '${newId()}', '${uuid(execution)}', 'other', 'other', 'And?', '{}')`
  // Statements sent together are one transaction, so the engine sees all changes or none. The engine checks 20 s after
  // a change; here it checks only when check_at is set below.
  await sql(
    [
      `update approval_requests set status = 'approved', outcome = 'approved', resolved_at = now()
         where execution_id = '${uuid(approved)}'`,
      `update questions set status = 'answered', answer = '"late"', answered_at = now()
         where execution_id = '${uuid(answered)}'`,
      `update approval_requests set status = 'cancelled', resolved_at = now() where execution_id = '${uuid(cancelled)}'`,
      // Without `tell_end`, or the next tick would report the end to the parent.
      `update executions set status = 'succeeded', results = '7', waiting_for = '[]', due_at = null, tell_end = false,
         finished_at = now() - interval '1 minute' where parent_execution_id = '${uuid(parent)}'`,
      `update executions set finished_at = now() - interval '1 minute' where execution_id = '${uuid(over)}'`,
      ask(over),
      ask(two),
      `insert into wait_checks (workspace_id, execution_id)
         select workspace_id, execution_id from executions on conflict (workspace_id, execution_id) do nothing`,
      `update wait_checks set check_at = 'infinity'`,
    ].join(';'),
  )
  expect(await unaccounted()).toEqual(
    new Map([
      [approved, 'it waits for a gate that is not open'],
      [answered, 'it waits for a question that is not open'],
      [cancelled, 'it waits for a gate that is not open'],
      [parent, 'it waits for an execution that has ended or is not there'],
      [over, 'it has ended, and a question of its own is open'],
      [two, 'it does not wait for a question of its own that is open'],
    ]),
  )

  await sql(`update wait_checks set noted_at = now() - interval '1 minute', check_at = now()`)
  expect(await ended(approved)).toMatchObject({ status: 'succeeded', results: { outcome: 'approved' } })
  expect(await ended(answered)).toMatchObject({ status: 'succeeded', results: 'late' })
  expect(await ended(parent)).toMatchObject({ status: 'succeeded', results: 7 })
  await until(async () => (await unaccounted()).size === 0, 'no disagreements')
  const gates = () =>
    sql(`select status from approval_requests where execution_id = $1 order by request_id`, [uuid(cancelled)])
  await until(async () => (await gates()).length === 2, 'the gate to be opened again')
  expect(await gates()).toEqual([{ status: 'cancelled' }, { status: 'open' }])
  expect(await sql(`select distinct status from questions where node_path = 'other'`)).toEqual([
    { status: 'cancelled' },
  ])
  expect((await read(two)).status).toBe('waiting')
})

test('an execution of a dead worker that did not release it continues', async () => {
  const execution = await startWaiting(sleep)
  await service().sql(
    `update executions set status = 'running', waiting_for = '[]', due_at = null, worker_id = $2 where execution_id = $1`,
    [uuid(execution), newId()],
  )
  await until(async () => (await read(execution)).status === 'waiting', 'the wait')
})
