import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase, type Tx } from '#platform/db/pool'
import { LAST_ID, newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { measure } from '../alerts/measure.ts'
import { chooseRuns } from '../replays/store.ts'
import { readRecorded } from '../trials/store.ts'
import { countLiveExecutions } from '../workflows/store.ts'
import { countFound, listFound } from './bulk-find.ts'
import type { BulkRow } from './bulk-store.ts'
import { searchExecutions } from './search.ts'
import { listByWorkflow } from './store.ts'

// A workflow has many executions of jobs and many that have ended. Statements read the few that they need through the
// indexes.

const MANY = 3000
const MOST_READ = 250
const LISTING = { oldestFirst: false, after: null, from: null, to: null, limit: 10 }
const FILTER = { status: null, trigger: null, systemSlug: null }
const [org, userId, company, workspaceId, workflowId] = [newId(), newId(), newId(), newId(), newId()]

let database: TestDatabase
let superuser: pg.Client
let db: Database

const insertExecutions = (count: number, kind: string, status: string): Promise<unknown> =>
  superuser.query(
    `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, input, trigger_kind, finished_at, waiting_for)
     select uuidv7(), $1, $2, 'adhoc:none', $5, '{}', $4, case when $5 <> 'waiting' then now() end,
       case when $5 = 'waiting' then '[{"kind": "timer"}]'::jsonb else '[]' end from generate_series(1, $3::integer)`,
    [workspaceId, workflowId, count, kind, status],
  )

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = new pg.Client({ connectionString: database.superuserUrl })
  await superuser.connect()
  await superuser.query(`insert into orgs (org_id, name) values ($1, 'Test')`, [org])
  await superuser.query(`insert into users (user_id, org_id, email, name) values ($1, $2, 'ada@example.com', 'Ada')`, [
    userId,
    org,
  ])
  await superuser.query(`insert into companies (company_id, org_id, owner_id, name) values ($1, $2, $3, 'Test')`, [
    company,
    org,
    userId,
  ])
  await superuser.query(`insert into workspaces (workspace_id, company_id, org_id, name) values ($1, $2, $3, 'Test')`, [
    workspaceId,
    company,
    org,
  ])
  await superuser.query(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'owner')`, [
    workspaceId,
    userId,
  ])
  await superuser.query(
    `insert into workflows (workspace_id, workflow_id, name, owner_id) values ($1, $2, 'Test', $3)`,
    [workspaceId, workflowId, userId],
  )
  await insertExecutions(3, 'user', 'failed')
  await insertExecutions(2, 'user', 'waiting')
  await insertExecutions(20, 'user', 'succeeded')
  await insertExecutions(MANY, 'job', 'succeeded')
  await superuser.query('analyze executions')
  db = openDatabase({ urls: database.urls, log: pino({ level: 'fatal' }) })
})
afterAll(async () => {
  await superuser?.end()
  await db?.close()
  await database?.drop()
})

const bulk = (action: BulkRow['action'], filter: BulkRow['filter'] = {}): BulkRow => ({
  bulk_id: newId(),
  action,
  filter,
  options: {},
  status: 'running',
  reached: LAST_ID,
  created_by: userId,
  created_at: new Date(Date.now() + 60_000),
})
const rule = { kind: 'silence', workspace_id: workspaceId, workflow_id: workflowId, created_at: new Date(0) } as never

test.each<[what: string, found: number, read: (tx: Tx) => Promise<unknown[]>]>([
  ['the list of a workflow', 11, (tx) => listByWorkflow(tx, workspaceId, workflowId, LISTING)],
  ['the list with jobs', 11, (tx) => listByWorkflow(tx, workspaceId, workflowId, { ...LISTING, jobs: true })],
  [
    'the oldest of the list with jobs',
    11,
    (tx) => listByWorkflow(tx, workspaceId, workflowId, { ...LISTING, jobs: true, oldestFirst: true }),
  ],
  ['a search', 11, (tx) => searchExecutions(tx, workspaceId, userId, { ...FILTER, workflowId }, LISTING)],
  [
    'a search for failed executions',
    3,
    (tx) => searchExecutions(tx, workspaceId, userId, { ...FILTER, workflowId, status: ['failed'] }, LISTING),
  ],
  ['the count of live executions', 1, async (tx) => [await countLiveExecutions(tx, workspaceId, workflowId)]],
  ['a bulk retry', 3, (tx) => listFound(tx, workspaceId, bulk('retry'), 100)],
  ['a bulk retry of jobs', 0, (tx) => listFound(tx, workspaceId, bulk('retry', { trigger: ['job'] }), 100)],
  ['a bulk cancellation', 2, (tx) => listFound(tx, workspaceId, bulk('cancel'), 100)],
  [
    'a bulk cancellation by id',
    0,
    (tx) => listFound(tx, workspaceId, bulk('cancel', { execution_ids: [newId(), newId()] }), 100),
  ],
  ['the count of a bulk operation', 1, async (tx) => [await countFound(tx, workspaceId, bulk('retry'), 100)]],
  ['the choice of replays', 10, (tx) => chooseRuns(tx, workspaceId, workflowId, { ids: null, filter: {}, limit: 10 })],
  ['recorded outputs', 0, async (tx) => [...(await readRecorded(tx, workspaceId, workflowId, ['n1']))]],
  ['the silence of a workflow', 1, async (tx) => [await measure(tx, rule)]],
  [
    'the cancellation of a deleted workflow',
    2,
    (tx) => tx.rows('select engine.cancel_workflow($1, $2, null)', [workspaceId, workflowId]),
  ],
])('%s reads no more executions than it needs', async (_what, found, read) => {
  await db.tenant({ workspaceId, userId }, async (tx) => {
    expect(await read(tx)).toHaveLength(found)
    const { count } = await tx.row<{ count: number }>(
      `select sum(seq_tup_read + idx_tup_fetch)::integer as count from pg_stat_xact_user_tables where relname like 'executions\\_%'`,
    )
    expect(count).toBeLessThan(MOST_READ)
  })
})
