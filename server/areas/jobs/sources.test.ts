import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { echoWorkflow, getJob, makeJob, makeRetriesDue, runJob, waitForRun } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Jobs whose warehouse changes while they exist: a real PostgreSQL with its own role.

const cluster = new URL(inject('postgres').superuserUrl)
const service = useSharedService()
const role = `crm_${randomBytes(4).toString('hex')}`
let world: World
let warehouse: pg.Pool
let connection: string

beforeAll(async () => {
  service().allow(`127.0.0.1:${cluster.port}`)
  world = await makeWorld(service())
  warehouse = new pg.Pool({ connectionString: service().database.superuserUrl, max: 1 })
  // Its connection may still be open when the database is dropped.
  warehouse.on('error', () => {})
  warehouse.on('error', () => {})
  await warehouse.query(`create role ${role} login password 'first'; create schema crm;
    create table crm.leads as select n, 'lead ' || n as name from generate_series(1, 16) n;
    grant usage on schema crm to ${role}; grant select on crm.leads to ${role}`)
  const config = { host: '127.0.0.1', port: Number(cluster.port), database: service().database.name, user: role }
  const made = await world.member.call('POST', '/api/connections', {
    body: { name: 'CRM', kind: 'postgres', config, secrets: { password: 'first' } },
  })
  expect(made.status, made.text).toBe(201)
  connection = made.body.connection_id
})
afterAll(async () => {
  await warehouse.query(`drop owned by ${role}; drop role ${role}`)
  await warehouse.end()
})

async function makeSource(source: object): Promise<string> {
  const made = await world.member.call('POST', `/api/connections/${connection}/sources`, {
    body: { name: 'Leads', ...source },
  })
  return made.body.source_id
}

describe('a job over a warehouse', () => {
  test('with a cursor reads what is new since its last run, and keeps the other rows of its output', async () => {
    const { member } = world
    await warehouse.query(`create table crm.growing (id integer, name text, changed integer);
      insert into crm.growing select n, 'row ' || n, n from generate_series(1, 5) n; grant select on crm.growing to ${role}`)
    const source_id = await makeSource({ table: 'crm.growing', cursor: 'changed' })
    const body = { definition: echoWorkflow, source_id, mapping: { name: { $ref: 'record.name' } }, key: 'id' }
    const without = await member.call('POST', '/api/enrichment-jobs', {
      body: { name: 'No', ...body, output: { new: 'Rows' } },
    })
    expect([without.status, without.body.errors?.[0].path]).toEqual([422, '/output/mode'])
    const job = await makeJob(member, { ...body, output: { new: 'Rows', mode: 'upsert' } })
    expect((await runJob(member, job)).last_run).toMatchObject({ total: 5, counts: { succeeded: 5 } })
    await warehouse.query(
      `update crm.growing set name = 'other', changed = 6 where id = 2; insert into crm.growing values (9, 'new', 7)`,
    )
    const second = await runJob(member, job)
    // Rows with the highest value are read again, because other rows with that value may have been added.
    expect(second.last_run).toMatchObject({ total: 3, counts: { succeeded: 2, skipped: 1 } })
    const output = await member.call('GET', `/api/datasets/${second.output.dataset_id}`)
    const rows = output.body.records.map(({ id, result }: { id: number; result: { seen: { name: string } } }) => [
      id,
      result.seen.name,
    ])
    expect(rows.toSorted()).toEqual([
      [1, 'row 1'],
      [2, 'other'],
      [3, 'row 3'],
      [4, 'row 4'],
      [5, 'row 5'],
      [9, 'new'],
    ])
    expect((await runJob(member, job)).last_run).toMatchObject({ total: 1, counts: { skipped: 1 } })
    // All rows must now be processed differently, so every row is read.
    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { mapping: { name: { $ref: 'record.id' } } } })
    expect((await runJob(member, job)).last_run).toMatchObject({ total: 6, counts: { succeeded: 6 } })
    expect((await runJob(member, job, { full: true })).last_run).toMatchObject({ total: 6, counts: { succeeded: 6 } })
    const bad = await member.call('POST', `/api/connections/${connection}/sources`, {
      body: { name: 'No', table: 't', cursor: 'a"b' },
    })
    expect([bad.status, bad.body.errors?.[0].path]).toEqual([422, '/cursor'])
  })

  test('whose table was dropped ends with the reason, does nothing, and notifies its owner', async () => {
    const { member } = world
    await warehouse.query('create table crm.going as select 1 as n')
    await warehouse.query(`grant select on crm.going to ${role}`)
    const job = await makeJob(member, { definition: echoWorkflow, source_id: await makeSource({ table: 'crm.going' }) })
    expect((await runJob(member, job)).last_run.counts.succeeded).toBe(1)
    await warehouse.query('drop table crm.going')
    const ran = await runJob(member, job)
    expect(ran).toMatchObject({ status: 'failed', last_run: { status: 'failed', total: 0 } })
    expect(ran.last_run.error.code).toBe('source_failed')
    expect(ran.last_run.error.message).toMatch(/crm\.going/)
    const { body } = await member.call('GET', '/api/notifications')
    expect(body.items[0]).toMatchObject({ kind: 'job.failed', data: { code: 'source_failed' } })
  })

  test('whose credential expires during a run keeps finished records, and does the rest after it works again', async () => {
    const { member } = world
    const asking = {
      nodes: [
        { id: 'rest', type: 'wait', args: { for_s: 0.1 } },
        {
          id: 'look',
          type: 'warehouse.query',
          args: {
            connection_id: connection,
            query: 'select name from crm.leads where n = $1',
            params: [{ $ref: 'input.n' }],
          },
        },
      ],
      edges: [{ from: { node: 'rest' }, to: 'look' }],
      output: { $ref: 'nodes.look.output.rows' },
    }
    const job = await makeJob(member, {
      definition: asking,
      source_id: await makeSource({ query: 'select n from crm.leads order by n' }),
      concurrency: 2,
      stop_on_error_rate: null,
    })
    await member.call('POST', `/api/enrichment-jobs/${job}/run-now`)
    await until(
      async () => (await member.call('GET', `/api/enrichment-jobs/${job}/records`)).body.counts.succeeded > 2,
      'the first records',
    )
    await warehouse.query(`alter role ${role} password 'second'`)
    const failed = await waitForRun(member, job, undefined, () => makeRetriesDue(service()))
    const { succeeded, failed: wrong } = failed.last_run.counts
    expect([succeeded > 2, wrong > 0, succeeded + wrong]).toEqual([true, true, 16])
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
    expect(body.items[0].error.message).toMatch(/password|authentication/)
    expect(body.items[0].attempt).toBe(1)
    expect((await member.call('POST', `/api/connections/${connection}/verify`)).body).toMatchObject({
      status: 'failing',
      problem: { step: 'sign_in' },
    })

    await member.call('PUT', `/api/connections/${connection}/credential`, { body: { secrets: { password: 'second' } } })
    const then = await runJob(member, job)
    expect(then.last_run.counts).toMatchObject({ succeeded: wrong, skipped: succeeded, failed: 0 })
    expect((await getJob(member, job)).status).toBe('idle')
  })
})
