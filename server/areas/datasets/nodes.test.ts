import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Json } from '#model/definition'
import { newId } from '#platform/ids'
import { type Answer, useSharedService } from '#test/harness/service'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const cluster = new URL(inject('postgres').superuserUrl)
const service = useSharedService()
let world: World
beforeAll(async () => {
  service().allow(`${cluster.hostname}:${cluster.port}`)
  world = await makeWorld(service())
})

const makeDataset = async (records: Json[], person: TestPerson = world.owner): Promise<string> => {
  const { body } = await person.call('POST', '/api/datasets', { body: { name: 'Records', records } })
  return body.dataset_id
}
const save = (nodes: Json[], edges: Json[] = [], output: Json = { $ref: 'nodes.n.output' }): Promise<Answer> =>
  world.owner.call('POST', '/api/workflows', { body: { name: 'Data', definition: { nodes, edges, output } } })
const run = async (workflowId: string, input: Json = {}): Promise<Answer> =>
  world.owner.call('POST', `/api/workflows/${workflowId}/run?wait_s=60`, { body: { input } })
const runNode = async (type: string, args: Json, input: Json = {}): Promise<Answer['body']> => {
  const saved = await save([{ id: 'n', type, args }])
  expect(saved.status, saved.text).toBe(201)
  const done = await run(saved.body.workflow_id, input)
  expect(done.status, done.text).toBe(200)
  return done.body
}

describe('dataset.read', () => {
  test('returns records and their fingerprint, either all records or those that match', async () => {
    const id = await makeDataset([
      { n: 1, tags: ['a', 'b'], ok: true },
      { n: 2, tags: ['b', 'a'], ok: true },
      { n: 3, tags: ['a', 'b'] },
    ])
    const { sha256 } = (await world.owner.call('GET', `/api/datasets/${id}`)).body
    const all = await runNode('dataset.read', { dataset_id: id, limit: 2 })
    expect(all.results).toEqual({
      records: [
        { n: 1, tags: ['a', 'b'], ok: true },
        { n: 2, tags: ['b', 'a'], ok: true },
      ],
      sha256,
    })
    const some = await runNode('dataset.read', { dataset_id: id, where: { tags: ['a', 'b'], ok: true } })
    expect(some.results.records).toEqual([{ n: 1, tags: ['a', 'b'], ok: true }])
  })

  /**
   * Runs an execution that reads the dataset, applies `change`, reads the dataset again and fails. Returns its error.
   */
  async function readAgainAfter(id: string, change: () => Promise<unknown>): Promise<Answer['body']> {
    const saved = await save(
      [
        { id: 'first', type: 'dataset.read', args: { dataset_id: id } },
        { id: 'ask', type: 'clarification', args: { question: 'Go on?', schema: { type: 'boolean' } } },
        { id: 'n', type: 'dataset.read', args: { dataset_id: id } },
      ],
      [
        { id: 'a', from: { node: 'first' }, to: 'ask' },
        { id: 'b', from: { node: 'ask' }, to: 'n' },
      ],
    )
    const started = await world.owner.call('POST', `/api/workflows/${saved.body.workflow_id}/run`, { body: {} })
    const path = `/api/workflows/executions/${started.body.execution_id}`
    const status = async (): Promise<string> => (await world.owner.call('GET', path)).body.status
    await expect.poll(status).toBe('waiting')
    await change()
    expect((await world.owner.call('POST', `${path}/respond`, { body: { response: true } })).status).toBe(202)
    await expect.poll(status).toBe('failed')
    return (await world.owner.call('GET', path)).body.error
  }
  const fingerprint = async (id: string): Promise<string> =>
    (await world.owner.call('GET', `/api/datasets/${id}`)).body.sha256

  test('of a dataset that was replaced since the first read fails with both fingerprints', async () => {
    const id = await makeDataset([{ n: 1 }])
    const was = await fingerprint(id)
    const error = await readAgainAfter(id, () =>
      world.owner.call('PATCH', `/api/datasets/${id}`, { body: { records: [{ n: 2 }] } }),
    )
    const is = await fingerprint(id)
    expect(error).toMatchObject({ code: 'dataset_changed', node_id: 'n', details: { was, is } })
    expect(error.message).toContain(was)
    expect(error.message).toContain(is)
  })

  test('of a dataset that was deleted since the first read fails with its old fingerprint', async () => {
    const id = await makeDataset([{ n: 1 }])
    const was = await fingerprint(id)
    const error = await readAgainAfter(id, () => world.owner.call('DELETE', `/api/datasets/${id}`))
    expect(error).toMatchObject({ code: 'dataset_changed', node_id: 'n', details: { was, is: null } })
  })

  test('of another workspace is refused when the workflow is saved, and again when it is executed', async () => {
    const foreign = await makeDataset([{ secret: 1 }], world.stranger)
    const answers = await Promise.all(
      [foreign, 'ds_01kf3v6h2he3wtpk1fw5c0wz9d'].map((dataset_id) =>
        save([{ id: 'n', type: 'dataset.read', args: { dataset_id } }]),
      ),
    )
    for (const refused of answers) expect([refused.status, refused.body.code]).toEqual([422, 'unknown_reference'])
    const nodes: [string, Record<string, Json>][] = [
      ['dataset.read', {}],
      ['dataset.write', { records: [{ stolen: 1 }] }],
    ]
    for (const [type, more] of nodes) {
      const failed = await runNode(type, { dataset_id: { $ref: 'input.id' }, ...more }, { id: foreign })
      expect([type, failed.status, failed.error.code]).toEqual([type, 'failed', 'unknown_reference'])
    }
    expect((await world.stranger.call('GET', `/api/datasets/${foreign}`)).body.records).toEqual([{ secret: 1 }])
  })
})

describe('dataset.write', () => {
  test('creates a dataset by its name, replaces it the next time, and appends', async () => {
    const write = (records: Json[], more: Record<string, Json> = {}) =>
      runNode('dataset.write', { name: 'Written', records, ...more })
    const made = (await write([{ n: 1 }, { n: 2 }])).results
    expect(made).toMatchObject({ record_count: 2 })
    const replaced = (await write([{ n: 3 }])).results
    expect(replaced).toMatchObject({ dataset_id: made.dataset_id, record_count: 1 })
    const appended = (await write([{ n: 4, late: 'x' }], { mode: 'append' })).results
    const read = (await world.owner.call('GET', `/api/datasets/${made.dataset_id}`)).body
    expect(read).toMatchObject({ sha256: appended.sha256, record_count: 2, records: [{ n: 3 }, { n: 4, late: 'x' }] })
    expect(read.columns).toEqual([
      { name: 'n', types: ['number'], nulls: 0 },
      { name: 'late', types: ['string'], nulls: 1 },
    ])
    const same = await world.owner.call('POST', '/api/datasets', { body: { name: 'Same', records: read.records } })
    expect(same.body.sha256).toBe(appended.sha256)
  })

  test('succeeds for forty executions that append at the same time, without lost or duplicate records', async () => {
    const name = `Log ${newId()}`
    const args = { name, records: [{ who: { $ref: 'input.who' } }], mode: 'append' }
    const saved = await save([{ id: 'n', type: 'dataset.write', args }])
    const all = Array.from({ length: 40 }, (_, who) => who)
    const done = await Promise.all(all.map((who) => run(saved.body.workflow_id, { who })))
    expect(done.map(({ body }) => [body.status, body.error])).toEqual(all.map(() => ['succeeded', null]))
    const { dataset_id } = done[0]!.body.results
    const { records } = (await world.owner.call('GET', `/api/datasets/${dataset_id}`)).body
    expect(records.map(({ who }: { who: number }) => who).sort((a: number, b: number) => a - b)).toEqual(all)
  })

  test('of an invalid record fails and leaves the dataset unchanged', async () => {
    const id = await makeDataset([{ n: 1 }])
    const failed = await runNode(
      'dataset.write',
      { dataset_id: id, records: { $ref: 'input.records' } },
      { records: [{ n: 2 }, { constructor: 1 }] },
    )
    expect(failed.error).toMatchObject({ code: 'bad_record' })
    expect((await world.owner.call('GET', `/api/datasets/${id}`)).body.records).toEqual([{ n: 1 }])
  })

  test('updates records by a key, adds the others, and keeps the fields that a record does not name', async () => {
    const id = await makeDataset([
      { id: 'a', n: 1, kept: true },
      { id: 'b', n: 2 },
    ])
    const args = { dataset_id: id, mode: 'upsert', key: 'id', records: { $ref: 'input.records' } }
    const records = [
      { id: 'c', n: 9 },
      { id: 'a', n: 5 },
      { id: 'c', n: 3 },
    ]
    expect((await runNode('dataset.write', args, { records })).results.record_count).toBe(3)
    expect((await world.owner.call('GET', `/api/datasets/${id}`)).body.records).toEqual([
      { id: 'a', n: 5, kept: true },
      { id: 'b', n: 2 },
      { id: 'c', n: 3 },
    ])
    const failed = await runNode('dataset.write', args, { records: [{ n: 1 }] })
    expect(failed.error).toMatchObject({ code: 'bad_record' })
    const saved = await save([
      { id: 'n', type: 'dataset.write', args: { dataset_id: id, mode: 'upsert', records: [] } },
    ])
    expect(saved.status).toBe(422)
    const named = { name: 'By key', mode: 'upsert', key: 'id', records: { $ref: 'input.records' } }
    expect((await runNode('dataset.write', named, { records })).results.record_count).toBe(2)
  })

  test('does not make its own execution fail when it reads the dataset again', async () => {
    const id = await makeDataset([{ n: 1 }])
    const saved = await save(
      [
        { id: 'first', type: 'dataset.read', args: { dataset_id: id } },
        { id: 'write', type: 'dataset.write', args: { dataset_id: id, records: [{ n: 2 }] } },
        { id: 'n', type: 'dataset.read', args: { dataset_id: id } },
      ],
      [
        { id: 'a', from: { node: 'first' }, to: 'write' },
        { id: 'b', from: { node: 'write' }, to: 'n' },
      ],
    )
    expect((await run(saved.body.workflow_id)).body).toMatchObject({
      status: 'succeeded',
      results: { records: [{ n: 2 }] },
    })
  })
})

const connect = async (person: TestPerson = world.owner, more: object = {}): Promise<string> => {
  const { body } = await person.call('POST', '/api/connections', {
    body: {
      ...more,
      name: 'Own',
      kind: 'postgres',
      config: {
        host: cluster.hostname,
        port: Number(cluster.port),
        database: service().database.name,
        user: decodeURIComponent(cluster.username),
      },
      secrets: { password: decodeURIComponent(cluster.password) },
    },
  })
  return body.connection_id
}

describe('warehouse.query', () => {
  test('returns rows and columns, with parameters separate from the text', async () => {
    const done = await runNode(
      'warehouse.query',
      {
        connection_id: await connect(),
        query: 'select n, $1::text as said from generate_series(1, 100) n order by n',
        params: [{ $ref: 'input.said' }],
        limit: 2,
      },
      { said: "'; drop table users; --" },
    )
    expect(done.results).toEqual({
      rows: [
        { n: 1, said: "'; drop table users; --" },
        { n: 2, said: "'; drop table users; --" },
      ],
      columns: [
        { name: 'n', type: 'int4' },
        { name: 'said', type: 'text' },
      ],
    })
  })

  test('only reads, reports the failed step, and stops when the credential is revoked', async () => {
    const connection_id = await connect()
    const written = await runNode('warehouse.query', { connection_id, query: 'create table x (a int)' })
    expect(written.error).toMatchObject({ code: 'warehouse_failed', details: { step: 'read' } })
    await world.owner.call('DELETE', `/api/connections/${connection_id}`)
    const revoked = await runNode('warehouse.query', { connection_id, query: 'select 1' })
    expect(revoked.error.code).toBe('connection_revoked')
  })

  test('through a connection of another workspace is refused when the workflow is saved, and again when it is executed', async () => {
    const foreign = await connect(world.stranger)
    const saved = await save([
      { id: 'n', type: 'warehouse.query', args: { connection_id: foreign, query: 'select 1' } },
    ])
    expect([saved.status, saved.body.code]).toEqual([422, 'unknown_reference'])
    const failed = await runNode(
      'warehouse.query',
      { connection_id: { $ref: 'input.id' }, query: 'select 1' },
      { id: foreign },
    )
    expect(failed.error.code).toBe('unknown_reference')
  })
})

describe('warehouse.execute', () => {
  const sql = (text: string) => service().sql<Record<string, unknown>>(text)

  test('writes with parameters and rows by key, all or nothing, through a connection that allows writing', async () => {
    const connection_id = await connect(world.owner, { allow_write: true })
    await sql('create table written (id integer primary key, name text)')
    const execute = (args: object, input: Json = {}) => runNode('warehouse.execute', { connection_id, ...args }, input)
    const text = "'; drop table users; --"
    const statement = 'insert into written values ($1, $2)'
    expect((await execute({ statement, params: [1, { $ref: 'input.said' }] }, { said: text })).results).toEqual({
      affected: 1,
    })
    const rows: Json[] = [{ id: 1, name: 'Ada' }, { id: 2 }]
    expect((await execute({ table: 'written', rows: { $ref: 'input.rows' }, key: ['id'] }, { rows })).results).toEqual({
      affected: 2,
    })
    expect(await sql('select * from written order by id')).toEqual([
      { id: 1, name: 'Ada' },
      { id: 2, name: null },
    ])
    const failed = await execute({ table: 'written', rows: [{ id: 7 }, { id: 1 }] })
    expect(failed.error).toMatchObject({ code: 'warehouse_failed', details: { step: 'write' } })
    expect((await sql('select * from written')).length).toBe(2)
    expect((await execute({ table: 'written', rows: [] })).results).toEqual({ affected: 0 })
    const quoted = await execute({ table: 'written"; drop table written; --', rows: [{ id: 1 }] })
    expect(quoted.error).toMatchObject({ code: 'warehouse_failed', details: { step: 'write' } })
    const both = await save([
      { id: 'n', type: 'warehouse.execute', args: { connection_id, statement, table: 'written', rows: [] } },
    ])
    expect(both.status).toBe(422)
  })

  test('writes nothing through a connection that does not allow writing, or no longer does', async () => {
    const connection_id = await connect(world.owner)
    const statement = 'create table never (a int)'
    const refused = await runNode('warehouse.execute', { connection_id, statement })
    expect(refused.error.code).toBe('connection_read_only')
    const patch = (person: TestPerson, body: object) =>
      person.call('PATCH', `/api/connections/${connection_id}`, { body })
    expect((await patch(world.member, { allow_write: true })).status).toBe(403)
    expect((await patch(world.member, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', allow_write: false })
    expect((await patch(world.owner, { allow_write: true })).body.allow_write).toBe(true)
    expect((await runNode('warehouse.execute', { connection_id, statement })).results).toEqual({ affected: null })
    await patch(world.owner, { allow_write: false })
    expect((await runNode('warehouse.execute', { connection_id, statement })).error.code).toBe('connection_read_only')
    const duckdb = { name: 'Local', kind: 'duckdb', config: {}, allow_write: true }
    const local = await world.owner.call('POST', '/api/connections', { body: duckdb })
    expect([local.status, local.body.errors?.[0].path]).toEqual([422, '/allow_write'])
  })

  test('through a connection of another workspace is refused when the workflow is saved, and again when it is executed', async () => {
    const foreign = await connect(world.stranger, { allow_write: true })
    const args = { connection_id: foreign, statement: 'create table never (a int)' }
    const saved = await save([{ id: 'n', type: 'warehouse.execute', args }])
    expect([saved.status, saved.body.code]).toEqual([422, 'unknown_reference'])
    const failed = await runNode('warehouse.execute', { ...args, connection_id: { $ref: 'input.id' } }, { id: foreign })
    expect(failed.error.code).toBe('unknown_reference')
  })
})
