import pg from 'pg'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// A vote or an answer locks the execution first, and the feeds of people last and in the order of their ids. Otherwise a vote and an answer of one person about the same execution deadlock, and PostgreSQL waits a
// second before it ends one of them. In the meantime nobody can be notified about anything else.

const service = useSharedService()
/** A connection as the superuser. */
const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: service().database.superuserUrl })
  await client.connect()
  return client
}
let world: World
let locks: pg.Client
let other: pg.Client
beforeAll(async () => {
  world = await makeWorld(service())
})
beforeEach(async () => {
  ;[locks, other] = await Promise.all([connect(), connect()])
  await locks.query('begin')
})
afterEach(async () => {
  await Promise.all([locks, other].map((client) => client.end()))
})

const policy = {
  approvers: [
    { kind: 'role', id: 'member' },
    { kind: 'role', id: 'owner' },
  ],
  quorum: 'any',
  allow_self: true,
}
const definition = {
  nodes: [
    { id: 'gate', type: 'approval', args: { title: 'Go?', payload: {}, policy } },
    { id: 'ask', type: 'clarification', args: { question: 'Well?', schema: { type: 'string' } } },
  ],
  edges: [],
}

type Waiting = { executionId: string; gate: { request_id: string; payload_sha256: string }; clarification_id: string }

const withPolicy = (changed: object): object => ({
  ...definition,
  nodes: definition.nodes.map((node) =>
    node.id === 'gate' ? { ...node, args: { ...node.args, policy: { ...policy, ...changed } } } : node,
  ),
})

async function startWaiting(asking: object = definition): Promise<Waiting> {
  const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Both', definition: asking } })
  const ran = await world.owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { body: {} })
  const execution_id = ran.body.execution_id as string
  const gate = await until(async () => {
    const view = await world.owner.call('GET', `/api/workflows/executions/${execution_id}`)
    const asked = view.body.waiting_for as { kind: string; request_id: string; clarification_id: string }[]
    return asked.length === 2 && asked
  }, 'the gate and the question')
  const approval = gate.find(({ kind }) => kind === 'approval')!
  const { body: read } = await world.owner.call('GET', `/api/approvals/${approval.request_id}`)
  return {
    executionId: execution_id,
    gate: read,
    clarification_id: gate.find(({ kind }) => kind === 'clarification')!.clarification_id,
  }
}

const vote = (person: TestPerson, { gate }: Waiting) =>
  person.call('POST', `/api/approvals/${gate.request_id}/votes`, {
    body: { decision: 'approve', payload_sha256: gate.payload_sha256 },
  })
const answer = (person: TestPerson, { executionId, clarification_id }: Waiting) =>
  person.call('POST', `/api/workflows/executions/${executionId}/respond`, {
    body: { clarification_id, response: 'yes' },
  })

/** Resolves when a transaction waits for a lock that `holder` holds; `reader` looks. */
async function someoneWaits(holder = locks, reader = other): Promise<void> {
  const { rows } = await holder.query('select pg_backend_pid() as pid')
  await until(async () => {
    const waiting = await reader.query('select from pg_locks where not granted and $1 = any (pg_blocking_pids(pid))', [
      rows[0].pid,
    ])
    return waiting.rowCount! > 0
  }, 'a transaction that waits')
}

/** Fails if another transaction has locked the feed. */
const lockFeed = (client: pg.Client, userId: string) =>
  client.query('select from feed_counters where user_id = $1 for no key update nowait', [userId])

const given = [
  ['an answer', answer, 202],
  ['a vote', vote, 201],
] as const

test.each(given)('%s waits for the execution without locking the feed of a person', async (_what, give, status) => {
  const waiting = await startWaiting()
  await locks.query('select from executions where execution_id = $1 for no key update', [
    fromWire('exe', waiting.executionId),
  ])
  const response = give(world.owner, waiting)
  await someoneWaits()
  await lockFeed(other, world.owner.uuid)
  await locks.query('commit')
  expect((await response).status).toBe(status)
})

test.each(given)(
  '%s waits for the check of waits without locking the feed of a person',
  async (_what, give, status) => {
    const waiting = await startWaiting()
    await locks.query(
      `insert into wait_checks (workspace_id, execution_id) values ($1, $2)
     on conflict (workspace_id, execution_id) do update set noted_at = wait_checks.noted_at`,
      [world.workspace.uuid, fromWire('exe', waiting.executionId)],
    )
    const response = give(world.owner, waiting)
    await someoneWaits()
    await lockFeed(other, world.owner.uuid)
    await locks.query('rollback')
    expect((await response).status).toBe(status)
  },
)

test('a vote locks the feeds of all who were asked in one order, not that of its voter first', async () => {
  const waiting = await startWaiting()
  const [first, last] = [world.owner, world.member].sort((a, b) => (a.uuid < b.uuid ? -1 : 1)) as [
    TestPerson,
    TestPerson,
  ]
  await lockFeed(locks, first.uuid)
  const response = vote(last, waiting)
  await someoneWaits()
  await lockFeed(other, last.uuid)
  await locks.query('commit')
  expect((await response).status).toBe(201)
})

test('a gate that ends at its due time waits for the execution without locking the check of its waits', async () => {
  const waiting = await startWaiting(withPolicy({ due_in_s: 10 }))
  const id = fromWire('exe', waiting.executionId)
  const gate = fromWire('apr', waiting.gate.request_id)
  // The time has passed when the engine calls for the reminder, after half of it.
  await other.query('update approval_requests set due_at = now() where request_id = $1', [gate])
  // The execution has already been claimed when its gate is due.
  await locks.query('select from approval_requests where request_id = $1 for update', [gate])
  await someoneWaits()
  await other.query('begin')
  await other.query('select from executions where execution_id = $1 for no key update', [id])
  await locks.query('commit')
  await someoneWaits(other, locks)
  await locks.query(`set lock_timeout = '5s'`)
  await locks.query(
    `insert into wait_checks (workspace_id, execution_id) values ($1, $2)
     on conflict (workspace_id, execution_id) do update set noted_at = wait_checks.noted_at`,
    [world.workspace.uuid, id],
  )
  await other.query('commit')
  await until(
    async () => (await world.owner.call('GET', `/api/approvals/${waiting.gate.request_id}`)).body.status === 'expired',
    'the end of the gate',
  )
})

test('after a person has left, a gate waits for its execution without locking the feeds of another gate', async () => {
  const leaver = await makePerson(service())
  await addMember(service(), world.workspace, leaver, 'member')
  const approvers = [world.member, leaver].map(({ id }) => ({ kind: 'user', id }))
  const asking = withPolicy({ approvers, quorum: 'all' })
  const [first, second] = [await startWaiting(asking), await startWaiting(asking)]
  for (const waiting of [first, second]) expect((await vote(world.member, waiting)).status).toBe(201)
  await locks.query('select from executions where execution_id = $1 for no key update', [
    fromWire('exe', second.executionId),
  ])
  await service().sql('delete from memberships where user_id = $1', [leaver.uuid])
  await someoneWaits()
  await lockFeed(other, leaver.uuid)
  await locks.query('commit')
  for (const { gate } of [first, second])
    await until(
      async () => (await world.member.call('GET', `/api/approvals/${gate.request_id}`)).body.status === 'approved',
      'the gate to open',
    )
})
