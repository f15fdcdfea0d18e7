import pg from 'pg'
import { expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld } from '#test/harness/world'

const service = useService()

test('a gate whose only voter leaves the team while the gate is being opened is reported', async () => {
  const { owner, member } = await makeWorld(service())
  const { body: team } = await owner.call('POST', '/api/teams', { body: { name: 'Finance' } })
  await owner.call('POST', `/api/teams/${team.team_id}/add_users`, { body: { user_ids: [member.id] } })
  const policy = { approvers: [{ kind: 'team', id: team.team_id }], quorum: 'any' }
  const definition = { nodes: [{ id: 'gate', type: 'approval', args: { title: 'Pay?', policy } }], edges: [] }
  const { body: workflow } = await owner.call('POST', '/api/workflows', { body: { name: 'Gated', definition } })

  // The transaction that opens the gate has finished its work and waits before it commits.
  await service().sql(`create function stand_still() returns trigger language plpgsql security definer as
    'begin perform pg_advisory_xact_lock(1550); return null; end'`)
  await service().sql(`create constraint trigger stand_still after insert on approval_requests
    deferrable initially deferred for each row execute function stand_still()`)
  const holder = new pg.Client({ connectionString: service().database.superuserUrl })
  await holder.connect()
  try {
    await holder.query('select pg_advisory_lock(1550)')
    const { body: run } = await owner.call('POST', `/api/workflows/${workflow.workflow_id}/run`, { body: {} })
    await until(
      async () =>
        (await service().sql(`select from pg_locks where locktype = 'advisory' and objid = 1550 and not granted`))
          .length > 0,
      'the gate to be opened',
    )
    const left = await owner.call('DELETE', `/api/teams/${team.team_id}/members/${member.id}`)
    expect(left.status, left.text).toBe(204)
    await holder.query('select pg_advisory_unlock(1550)')
    const gate = await until(async () => {
      const { body } = await owner.call('GET', `/api/workflows/executions/${run.execution_id}/approvals`)
      return body.items[0]?.unsatisfiable && body.items[0]
    }, 'the report')
    expect(gate).toMatchObject({ status: 'open', outstanding: [] })
  } finally {
    await holder.end()
  }
})

test('a gate that no person could open waits again for a person who is added to the team', async () => {
  const { owner, member, viewer } = await makeWorld(service())
  const { body: team } = await owner.call('POST', '/api/teams', { body: { name: 'Finance' } })
  const add = (user: string) =>
    owner.call('POST', `/api/teams/${team.team_id}/add_users`, { body: { user_ids: [user] } })
  await add(member.id)
  const policy = { approvers: [{ kind: 'team', id: team.team_id }], quorum: 'any' }
  const definition = { nodes: [{ id: 'gate', type: 'approval', args: { title: 'Pay?', policy } }], edges: [] }
  const { body: workflow } = await owner.call('POST', '/api/workflows', { body: { name: 'Gated', definition } })
  const { body: run } = await owner.call('POST', `/api/workflows/${workflow.workflow_id}/run`, { body: {} })
  const gateOf = async () =>
    (await owner.call('GET', `/api/workflows/executions/${run.execution_id}/approvals`)).body.items[0]
  await until(gateOf, 'the gate')
  await owner.call('DELETE', `/api/teams/${team.team_id}/members/${member.id}`)
  await until(async () => (await gateOf()).unsatisfiable, 'the report')
  expect((await add(viewer.id)).status).toBe(200)
  expect(await gateOf()).toMatchObject({ unsatisfiable: false, outstanding: [{ id: viewer.id }] })
})
