import { beforeAll, describe, expect, test } from 'vitest'
import type { Tx } from '#platform/db/pool'
import { fromWire, newId, toWire } from '#platform/ids'
import { useService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'
import type { Listing } from './newest.ts'
import { type Filter, searchExecutions } from './search.ts'
import { listByWorkflow } from './store.ts'

const MANY = 20_000
const PAGE = 50
const anything: Filter = { workflowId: null, systemSlug: null, status: null, trigger: null }
const newest: Listing = { oldestFirst: false, after: null, from: null, to: null, limit: PAGE }

const service = useService()
let world: World
let [owned, shared, foreign, ofJob]: string[] = []

const makeWorkflow = async (person: World['owner'], members: object[] = []): Promise<string> => {
  const { body } = await person.call('POST', '/api/workflows', {
    body: { name: 'W', definition: { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }, members },
  })
  return fromWire('wf', body.workflow_id)!
}

/** `ago`: the start of the first execution in hours before now. The others follow one second apart. */
const fill = (
  workflow: string | null,
  count: number,
  more: { status?: string; by?: string; ago?: number; trigger?: string } = {},
) =>
  service().sql(
    `insert into executions (execution_id, workspace_id, workflow_id, system_slug, definition_ref, status, trigger_kind, started_by, created_at, finished_at)
     select uuidv7(at - now()), $1, $2, case when $2::uuid is null then 'echo' end, 'adhoc:x', $4, $7, $5, at, at
     from generate_series(1, $3::integer) as n, lateral (select now() - $6 * interval '1 hour' + n * interval '1 second' as at) as t`,
    [
      world.workspace.uuid,
      workflow,
      count,
      more.status ?? 'succeeded',
      more.by ?? null,
      more.ago ?? 24,
      more.trigger ?? 'user',
    ],
  )

beforeAll(async () => {
  world = await makeWorld(service())
  owned = await makeWorkflow(world.member)
  shared = await makeWorkflow(world.owner, [{ user_id: world.member.id, role: 'viewer' }])
  foreign = await makeWorkflow(world.owner)
  ofJob = await makeWorkflow(world.member)
  await fill(ofJob, 2, { ago: 41 })
  await fill(ofJob, MANY, { trigger: 'job', ago: 40 })
  await fill(owned, MANY)
  await fill(owned, 3, { status: 'failed', ago: 48 })
  await fill(shared, 4, { ago: 12 })
  await fill(foreign, MANY, { ago: 10 })
  await fill(foreign, 2, { by: world.member.uuid, ago: 72 })
  await fill(null, 2, { by: world.member.uuid, ago: 72 })
  await fill(null, 2, { by: world.owner.uuid, ago: 72 })
  await service().sql('analyze executions')
})

const LOOKED = `select (coalesce(sum(seq_tup_read), 0) + coalesce(sum(idx_tup_fetch), 0))::integer as n
  from pg_stat_xact_user_tables where relname like 'executions%'`

/** Returns the member's result and the number of rows that were read for it. */
const reading = <T>(read: (tx: Tx) => Promise<T>) =>
  service().db.tenant({ workspaceId: world.workspace.uuid, userId: world.member.uuid }, async (tx) => {
    const before = await tx.row<{ n: number }>(LOOKED)
    const found = await read(tx)
    return { found, looked: (await tx.row<{ n: number }>(LOOKED)).n - before.n }
  })
const search = (filter: Partial<Filter>, listing: Partial<Listing> = {}) =>
  reading((tx) =>
    searchExecutions(
      tx,
      world.workspace.uuid,
      world.member.uuid,
      { ...anything, ...filter },
      { ...newest, ...listing },
    ),
  )

describe('searching executions', () => {
  test('shows executions of the person’s workflows and those that the person started, newest first', async () => {
    const { found } = await search({})
    expect(found).toHaveLength(PAGE + 1)
    expect(found.map(({ execution_id }) => execution_id)).toEqual(
      found
        .map(({ execution_id }) => execution_id)
        .toSorted()
        .reverse(),
    )
    expect(new Set(found.map(({ workflow_id }) => workflow_id))).toEqual(new Set([owned, shared]))
    expect((await search({ workflowId: shared! })).found).toHaveLength(4)
    expect((await search({ workflowId: foreign! })).found).toHaveLength(2)
    expect((await search({ systemSlug: 'echo' })).found).toHaveLength(2)
    expect((await search({ status: ['failed', 'cancelled', 'failed'] })).found).toHaveLength(3)
    expect((await search({ workflowId: newId() })).found).toEqual([])
    const hour = (ago: number) => new Date(Date.now() - ago * 3_600_000)
    expect((await search({}, { from: hour(73), to: hour(71) })).found).toHaveLength(4)
    expect((await search({}, { to: hour(49) })).found).toHaveLength(4)
    expect((await search({}, { from: hour(11) })).found).toEqual([])
  })

  test('shows the oldest first on request, page after page', async () => {
    const all = (await search({ workflowId: ofJob!, trigger: ['user'] })).found
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const { found } = await search({}, { oldestFirst: true, after, limit: 3 })
      seen.push(...found.slice(0, 3).map(({ execution_id }) => execution_id))
      if (seen.length >= 12) break
      after = seen.at(-1)!
    }
    expect(seen).toEqual(seen.toSorted())
    expect(new Set(seen).size).toBe(12)
    // Before them are the four of 72 hours ago and the three failed ones of 48 hours ago.
    expect(seen.slice(7, 9)).toEqual(all.map(({ execution_id }) => execution_id).reverse())
  })

  test('reads about as many rows as it shows, regardless of the total', async () => {
    const [last] = await service().sql<{ id: string }>(
      'select execution_id as id from executions where workflow_id = $1 order by execution_id offset 100 limit 1',
      [owned],
    )
    const most = 6 * PAGE
    const { looked } = await search({})
    expect(looked).toBeLessThan(most)
    // The rows are in the partitions, so the count includes them.
    expect(looked).toBeGreaterThan(PAGE)
    expect((await search({ status: ['failed'] })).looked).toBeLessThan(most)
    expect((await search({ status: ['waiting', 'running'] })).looked).toBeLessThan(most)
    expect((await search({ workflowId: foreign! })).looked).toBeLessThan(most)
    expect((await search({}, { to: new Date(Date.now() - 60 * 3_600_000) })).looked).toBeLessThan(most)
    const deep = await search({}, { after: last!.id })
    expect(deep.found.length).toBeGreaterThan(PAGE)
    expect(deep.looked).toBeLessThan(most)
    expect((await search({}, { oldestFirst: true })).looked).toBeLessThan(most)
    expect((await search({}, { oldestFirst: true, after: last!.id })).looked).toBeLessThan(most)
  })

  test('reads as few rows for a late page of a workflow’s list as for the first', async () => {
    const [last] = await service().sql<{ id: string }>(
      'select execution_id as id from executions where workflow_id = $1 order by execution_id offset 60 limit 1',
      [owned],
    )
    for (const listing of [{ after: last!.id }, { oldestFirst: true }, { oldestFirst: true, after: last!.id }]) {
      const { found, looked } = await reading((tx) =>
        listByWorkflow(tx, world.workspace.uuid, owned!, { ...newest, ...listing }),
      )
      expect(found).toHaveLength(PAGE + 1)
      expect(looked).toBeLessThan(2 * PAGE)
    }
  })

  test('omits executions of jobs from a workflow’s list unless they are requested', async () => {
    const list = (jobs: boolean) =>
      reading((tx) => listByWorkflow(tx, world.workspace.uuid, ofJob!, { ...newest, jobs }))
    const others = await list(false)
    expect(others.found).toHaveLength(2)
    expect(others.looked).toBeLessThan(2 * PAGE)
    expect((await list(true)).found).toHaveLength(PAGE + 1)
    const path = `/api/workflows/${toWire('wf', ofJob!)}/executions`
    const kinds = async (query: string) =>
      (await world.member.call('GET', `${path}${query}`)).body.items.map(
        ({ trigger }: { trigger: { kind: string } }) => trigger.kind,
      )
    expect(await kinds('')).not.toContain('job')
    expect(await kinds('?include_jobs=true')).toContain('job')
  })

  test('finds only the executions of jobs, or only the others', async () => {
    expect((await search({ trigger: ['job'], workflowId: shared! })).found).toEqual([])
    expect((await search({ trigger: ['job'], workflowId: ofJob! })).found).toHaveLength(PAGE + 1)
    expect((await search({ trigger: ['user', 'schedule'], workflowId: ofJob! })).found).toHaveLength(2)
    expect((await search({ trigger: ['schedule', 'webhook'] })).found).toEqual([])
    expect((await search({ trigger: ['job', 'user'], status: ['failed'] })).found).toHaveLength(3)

    // The member now also started the job, so the search by starter finds its many executions too.
    await fill(ofJob!, MANY / 10, { trigger: 'job', by: world.member.uuid, ago: 45 })
    await service().sql('analyze executions')
    for (const trigger of [['user'], ['job'], ['job', 'user']] as Filter['trigger'][])
      expect((await search({ trigger, workflowId: ofJob! })).looked).toBeLessThan(6 * PAGE)
  })
})
