import pg from 'pg'
import { expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useService()

/**
 * Runs `work` while the transactions that insert into the table have finished their work and wait before they commit.
 * `work` gets a function that waits for such a transaction, and one that lets them commit.
 */
async function whileOpening(
  table: 'approval_requests' | 'questions',
  work: (opening: { begun(): Promise<unknown>; commit(): Promise<unknown> }) => Promise<void>,
): Promise<void> {
  await service().sql(`create or replace function stand_still() returns trigger language plpgsql security definer as
    'begin perform pg_advisory_xact_lock(1550); return null; end'`)
  await service().sql(`create constraint trigger stand_still after insert on ${table}
    deferrable initially deferred for each row execute function stand_still()`)
  const holder = new pg.Client({ connectionString: service().database.superuserUrl })
  await holder.connect()
  try {
    await holder.query('select pg_advisory_lock(1550)')
    await work({
      begun: () => until(async () => (await waitingForLocks()).includes(1550), 'the transaction that opens it'),
      commit: () => holder.query('select pg_advisory_unlock(1550)'),
    })
  } finally {
    await holder.end()
    await service().sql(`drop trigger stand_still on ${table}`)
  }
}

/** Returns the numbers of the advisory locks that transactions wait for. */
const waitingForLocks = async (): Promise<number[]> =>
  (
    await service().sql<{ objid: string }>(
      `select objid::bigint from pg_locks where locktype = 'advisory' and not granted`,
    )
  ).map(({ objid }) => Number(objid))

async function makeTeam({ owner }: World) {
  const { body: team } = await owner.call('POST', '/api/teams', { body: { name: 'Finance' } })
  const path = `/api/teams/${team.team_id}`
  return {
    line: { kind: 'team', id: team.team_id },
    add: async ({ id }: TestPerson) => {
      const added = await owner.call('POST', `${path}/add_users`, { body: { user_ids: [id] } })
      expect(added.status, added.text).toBe(200)
    },
    remove: async ({ id }: TestPerson) => {
      const left = await owner.call('DELETE', `${path}/members/${id}`)
      expect(left.status, left.text).toBe(204)
    },
  }
}

/** Starts a workflow with this node, and returns the path of its execution. */
async function start({ owner }: World, node: Record<string, unknown>): Promise<string> {
  const definition = { nodes: [node], edges: [] }
  const { body: workflow } = await owner.call('POST', '/api/workflows', { body: { name: 'Gated', definition } })
  const { body: run } = await owner.call('POST', `/api/workflows/${workflow.workflow_id}/run`, { body: {} })
  return `/api/workflows/executions/${run.execution_id}`
}

const gate = (line: unknown) => ({
  id: 'gate',
  type: 'approval',
  args: { title: 'Pay?', policy: { approvers: [line], quorum: 'any' } },
})

test('a gate whose only voter leaves the team while the gate is being opened is reported', async () => {
  const world = await makeWorld(service())
  const team = await makeTeam(world)
  await team.add(world.member)
  await whileOpening('approval_requests', async ({ begun, commit }) => {
    const path = await start(world, gate(team.line))
    await begun()
    await team.remove(world.member)
    await commit()
    const reported = await until(async () => {
      const { body } = await world.owner.call('GET', `${path}/approvals`)
      return body.items[0]?.unsatisfiable && body.items[0]
    }, 'the report')
    expect(reported).toMatchObject({ status: 'open', outstanding: [] })
  })
})

test('a person who joins the team while a question is being asked is notified', async () => {
  const world = await makeWorld(service())
  const team = await makeTeam(world)
  await team.add(world.viewer)
  const noticesOf = async (who: TestPerson) =>
    ((await who.call('GET', '/api/notifications')).body.items as { kind: string }[]).map(({ kind }) => kind)
  await whileOpening('questions', async ({ begun, commit }) => {
    await start(world, { id: 'ask', type: 'clarification', args: { question: 'Well?', who: [team.line] } })
    await begun()
    await team.add(world.member)
    await until(async () => (await waitingForLocks()).length > 1, 'the recheck to wait for the question')
    await commit()
    await until(async () => (await noticesOf(world.member)).length > 0, 'the notice')
  })
  for (const who of [world.viewer, world.member]) expect(await noticesOf(who)).toEqual(['clarification.asked'])
})

test('a gate that no person could open waits again for a person who is added to the team', async () => {
  const world = await makeWorld(service())
  const { owner, member, viewer } = world
  const team = await makeTeam(world)
  await team.add(member)
  const path = await start(world, gate(team.line))
  const gateOf = async () => (await owner.call('GET', `${path}/approvals`)).body.items[0]
  await until(gateOf, 'the gate')
  await team.remove(member)
  await until(async () => (await gateOf()).unsatisfiable, 'the report')
  await team.add(viewer)
  expect(await gateOf()).toMatchObject({ unsatisfiable: false, outstanding: [{ id: viewer.id }] })
})
