import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { canonicalText } from '#model/canonical'
import type { Json } from '#model/definition'
import { fromWire } from '#platform/ids'
import type { Answer } from '#test/harness/service'
import { useService } from '#test/harness/service'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'
import { makeDatasetUse } from './use.ts'

const service = useService({
  env: { HEDDLE_MAX_DATASET_BYTES: String(8 << 20), HEDDLE_MAX_IMPORT_BYTES: String(48 << 20) },
})
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const fingerprint = (records: Json): string => createHash('sha256').update(canonicalText(records)).digest('hex')
const create = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  world.member.call('POST', '/api/datasets', { body, headers })
const sendRaw = (raw: string | Buffer, person: TestPerson = world.member): Promise<Answer> =>
  person.call('POST', '/api/datasets', { raw, headers: { 'content-type': 'application/json' } })

function form(content: string | Buffer, fields: Record<string, string> = {}, fileName = 'leads.csv'): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  data.set('file', new Blob([content as BlobPart]), fileName)
  return data
}
const importFile = (
  content: string | Buffer,
  options: {
    fields?: Record<string, string>
    query?: string
    fileName?: string
    headers?: Record<string, string>
  } = {},
): Promise<Answer> =>
  world.member.call('POST', `/api/datasets/import${options.query ?? ''}`, {
    raw: form(content, options.fields, options.fileName),
    headers: options.headers ?? {},
  })
const recordsOf = async (id: string): Promise<Json> =>
  (await world.viewer.call('GET', `/api/datasets/${id}`)).body.records

/** Counts the datasets and chunks. A refused request must leave no visible dataset and no record. */
const stored = async (): Promise<{ datasets: number; chunks: number }> => {
  const [row] = await service().sql<{ datasets: number; chunks: number }>(
    `select (select count(*)::int from datasets) as datasets, (select count(*)::int from dataset_chunks) as chunks`,
  )
  return row!
}

describe('a dataset', () => {
  test('is created with the fingerprint of its canonical records, and returns these records', async () => {
    const records: Json[] = [
      { b: 1, a: 'é', nested: { z: [1, { y: null }], a: true } },
      { '\u20ac': 1e21, '\r': -0, '1': 0.1 },
      {},
    ]
    const made = await create({ name: ' Leads ', description: 'of May', records })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/api/datasets/${made.body.dataset_id}`)
    expect(made.body).toMatchObject({
      name: 'Leads',
      description: 'of May',
      sha256: fingerprint(records),
      record_count: 3,
      workspace_id: world.workspace.id,
      created_by: world.member.id,
    })
    expect(made.body.records).toBeUndefined()
    const read = await world.viewer.call('GET', `/api/datasets/${made.body.dataset_id}`)
    expect(read.status).toBe(200)
    expect(read.body).toEqual({ ...made.body, records: [records[0], { '\u20ac': 1e21, '\r': 0, '1': 0.1 }, {}] })
  })

  test('has a profile of its columns', async () => {
    const { body } = await create({
      name: 'Profile',
      records: [
        { a: 1, b: 'x' },
        { a: 'one', b: null },
        { b: [1], c: { d: 1 } },
      ],
    })
    expect(body.columns).toEqual([
      { name: 'a', types: ['string', 'number'], nulls: 1 },
      { name: 'b', types: ['string', 'array'], nulls: 1 },
      { name: 'c', types: ['object'], nulls: 2 },
    ])
  })

  test('may be empty', async () => {
    const { body } = await create({ name: 'Nothing', records: [] })
    expect(body).toMatchObject({ record_count: 0, sha256: fingerprint([]), columns: [] })
    expect(await recordsOf(body.dataset_id)).toEqual([])
  })

  test('is listed without records, newest first', async () => {
    const one = (await create({ name: 'One', records: [{ a: 1 }] })).body
    const two = (await create({ name: 'Two', records: [{ a: 2 }] })).body
    const { body } = await world.viewer.call('GET', '/api/datasets?limit=2')
    expect(body.items).toEqual([two, one])
    expect(body.next_cursor).not.toBeNull()
  })

  test('gets a new fingerprint when its records are replaced, but not when it is renamed', async () => {
    const made = (await create({ name: 'Changing', records: [{ a: 1 }] })).body
    const path = `/api/datasets/${made.dataset_id}`
    const renamed = await world.owner.call('PATCH', path, { body: { name: 'Renamed', description: 'now' } })
    expect(renamed.status).toBe(200)
    expect(renamed.body).toMatchObject({ name: 'Renamed', description: 'now', sha256: made.sha256 })
    const replaced = await world.member.call('PATCH', path, {
      body: { records: [{ a: 2 }, { a: 3 }], description: null },
    })
    expect(replaced.body).toMatchObject({
      name: 'Renamed',
      description: null,
      sha256: fingerprint([{ a: 2 }, { a: 3 }]),
      record_count: 2,
    })
    expect(await recordsOf(made.dataset_id)).toEqual([{ a: 2 }, { a: 3 }])
  })

  test('can be sent back as it was read, but not with a different fingerprint', async () => {
    const { dataset_id } = (await create({ name: 'Echo', records: [{ a: 1 }] })).body
    const path = `/api/datasets/${dataset_id}`
    const read = (await world.member.call('GET', path)).body
    expect((await world.member.call('PATCH', path, { body: read })).status).toBe(200)
    for (const lie of [{ sha256: '0'.repeat(64) }, { record_count: 5 }, { workspace_id: world.elsewhere.id }]) {
      const refused = await world.member.call('PATCH', path, { body: { ...read, records: [{ a: 9 }], ...lie } })
      expect([refused.status, refused.body.code]).toEqual([422, 'read_only'])
    }
    expect(await recordsOf(dataset_id)).toEqual([{ a: 1 }])
    const created = await create({ name: 'x', records: [], sha256: fingerprint([]) })
    expect([created.status, created.body.code]).toEqual([422, 'read_only'])
  })

  test('is protected by If-Match, also against deletion', async () => {
    const made = await create({ name: 'Guarded', records: [{ a: 1 }] })
    const path = `/api/datasets/${made.body.dataset_id}`
    const etag = (await world.member.call('GET', path)).headers.get('etag')!
    expect((await world.member.call('GET', path, { headers: { 'if-none-match': etag } })).status).toBe(304)
    const changed = await world.member.call('PATCH', path, { body: { records: [] }, headers: { 'if-match': etag } })
    expect(changed.status).toBe(200)
    const plain = await world.member.call('GET', path, { headers: { 'accept-encoding': 'identity' } })
    expect(changed.headers.get('etag')).toBe(plain.headers.get('etag'))
    for (const [method, options] of [
      ['PATCH', { body: { name: 'Late' } }],
      ['PATCH', { body: { records: [{ late: 1 }] } }],
      ['DELETE', {}],
    ] as const)
      expect((await world.member.call(method, path, { ...options, headers: { 'if-match': etag } })).status).toBe(412)
    expect((await world.member.call('GET', path)).body).toMatchObject({ name: 'Guarded', records: [] })
    const now = (await world.member.call('GET', path)).headers.get('etag')!
    expect((await world.member.call('DELETE', path, { headers: { 'if-match': now } })).status).toBe(204)
    expect((await world.member.call('GET', path)).status).toBe(404)
  })

  test('of another workspace gets the same 404 as an unknown dataset everywhere', async () => {
    const { dataset_id } = (await create({ name: 'Ours', records: [{ a: 1 }] })).body
    const before = await service().sql('select * from datasets order by dataset_id')
    for (const [method, rest, options] of [
      ['GET', '', {}],
      ['GET', '/records', {}],
      ['GET', '/export?format=csv', {}],
      ['PATCH', '', { body: { records: [{ stolen: 1 }] } }],
      ['DELETE', '', {}],
    ] as const) {
      const ask = (id: string, person: TestPerson) =>
        person.call(method, `/api/datasets/${id}${rest}`, { ...options, headers: { 'x-request-id': 'same' } })
      const foreign = await ask(dataset_id, world.stranger)
      const random = await ask('ds_01kf3v6h2he3wtpk1fw5c0wz9d', world.stranger)
      expect([method, foreign.status]).toEqual([method, 404])
      expect(foreign.text).toBe(random.text)
      expect((await ask(dataset_id, world.guest)).text).toBe(random.text)
    }
    expect(await service().sql('select * from datasets order by dataset_id')).toEqual(before)
    expect((await world.stranger.call('GET', '/api/datasets')).body.items).toEqual([])
  })

  test('can be read by viewers and changed by members', async () => {
    const { dataset_id } = (await create({ name: 'Roles', records: [{ a: 1 }] })).body
    expect((await world.viewer.call('GET', `/api/datasets/${dataset_id}/records`)).status).toBe(200)
    expect((await world.viewer.call('POST', '/api/datasets', { body: { name: 'x', records: [] } })).status).toBe(403)
    expect((await world.viewer.call('PATCH', `/api/datasets/${dataset_id}`, { body: { name: 'x' } })).status).toBe(403)
    expect((await world.viewer.call('DELETE', `/api/datasets/${dataset_id}`)).status).toBe(403)
    expect((await world.viewer.call('POST', '/api/datasets/import', { raw: form('a\n1') })).status).toBe(403)
    expect((await world.guest.call('GET', '/api/datasets')).status).toBe(403)
    expect((await service().call('GET', '/api/datasets')).status).toBe(401)
  })

  test('is created once per idempotency key, with the same response each time', async () => {
    const headers = { 'idempotency-key': 'make-once', 'x-request-id': 'r' }
    const body = { name: 'Once', records: [{ a: 1 }] }
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(body, headers)))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]!.status).toBe(201)
    const [row] = await service().sql<{ n: number }>(`select count(*)::int as n from datasets where name = 'Once'`)
    expect(row!.n).toBe(1)
    expect((await create({ ...body, name: 'Twice' }, headers)).body.code).toBe('idempotency_key_reused')
    const imports = [1, 2].map(() => importFile('a\n1\n', { headers: { 'idempotency-key': 'import-once' } }))
    const [first, second] = await Promise.all(imports)
    expect(second!.text).toBe(first!.text)
    const [pending] = await service().sql<{ n: number }>(
      `select count(*)::int as n from dataset_versions v where not exists (select from datasets d where d.version_id = v.version_id) and state <> 'retired'`,
    )
    expect(pending!.n).toBe(0)
  })

  test('leaves no record behind when its workspace is deleted', async () => {
    const { body } = await world.stranger.call('POST', '/api/datasets', { body: { name: 'Gone', records: [{ a: 1 }] } })
    expect(body.record_count).toBe(1)
    await service().sql('delete from workspaces where workspace_id = $1', [world.elsewhere.uuid])
    expect(await service().sql('select from dataset_chunks where workspace_id = $1', [world.elsewhere.uuid])).toEqual(
      [],
    )
    world = await makeWorld(service())
  })
})

describe('large datasets', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: index, name: `Person ${index}`, note: 'x'.repeat(100) }))

  test('are parsed in a thread, stored in chunks and returned as a whole', async () => {
    const records = many(30_000)
    const made = await create({ name: 'Large', records })
    expect(made.body).toMatchObject({ record_count: 30_000, sha256: fingerprint(records) })
    const [row] = await service().sql<{ n: number; most: number }>(
      `select count(*)::int as n, max(c.record_count)::int as most from dataset_chunks c join datasets d using (workspace_id, version_id) where d.name = 'Large'`,
    )
    expect(row!.n).toBeGreaterThan(2)
    expect(await recordsOf(made.body.dataset_id)).toEqual(records)
  })

  test('are paged in order across chunks, and a replacement during paging is reported', async () => {
    const records = many(12_000)
    const { dataset_id } = (await create({ name: 'Pages', records })).body
    const seen: Json[] = []
    let cursor = ''
    do {
      const { body } = await world.viewer.call('GET', `/api/datasets/${dataset_id}/records?limit=200${cursor}`)
      seen.push(...body.items)
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '' && seen.length < 9_000)
    expect(seen).toEqual(records.slice(0, seen.length))
    const path = `/api/datasets/${dataset_id}/records?limit=200${cursor}`
    const { sha256: was } = (await world.member.call('PATCH', `/api/datasets/${dataset_id}`, { body: { records } }))
      .body
    expect((await world.viewer.call('GET', path)).body.items[0]).toEqual(records[seen.length])
    const { sha256: is } = (
      await world.member.call('PATCH', `/api/datasets/${dataset_id}`, { body: { records: [{ a: 1 }] } })
    ).body
    const late = await world.viewer.call('GET', path)
    expect([late.status, late.body.code]).toEqual([409, 'dataset_changed'])
    expect(late.body.detail).toContain(was)
    expect(late.body.detail).toContain(is)
  })

  test('that are replaced while a job reads them return the old records to the end, or an error once these are deleted', async () => {
    const records = many(25_000)
    const { dataset_id, sha256 } = (await create({ name: 'Read by a job', records })).body
    const use = makeDatasetUse({ db: service().db })
    const id = fromWire('ds', dataset_id)!
    const start = () => use.readRecords(world.workspace.uuid, id, { sha256 })[Symbol.asyncIterator]()
    const reader = start()
    const other = start()
    const first = (await reader.next()).value!
    await other.next()
    await world.member.call('PATCH', `/api/datasets/${dataset_id}`, { body: { records: [{ a: 1 }] } })
    const texts = [...first.texts]
    for (let page = await reader.next(); !page.done; page = await reader.next()) texts.push(...page.value.texts)
    expect(texts.map((text) => JSON.parse(text))).toEqual(records)
    await expect(start().next()).rejects.toMatchObject({ code: 'dataset_changed' })
    await service().sql(`update dataset_versions set touched_at = now() - interval '2 hours'`)
    await service().sql('select sweep_datasets()')
    await expect(other.next()).rejects.toMatchObject({ code: 'dataset_changed' })
    await world.member.call('DELETE', `/api/datasets/${dataset_id}`)
    await expect(use.readRecords(world.workspace.uuid, id).next()).rejects.toMatchObject({ code: 'dataset_unbound' })
  })

  test('over the limit are refused and leave nothing behind', async () => {
    const before = await stored()
    const refused = await sendRaw(`{"name":"x","records":[{"a":"${'x'.repeat(9 << 20)}"}]}`)
    expect([refused.status, refused.body.code]).toEqual([413, 'too_large'])
    expect(await stored()).toEqual(before)
  })

  test('lose their old versions and abandoned uploads in a sweep, but not the current version', async () => {
    const { dataset_id } = (await create({ name: 'Swept', records: many(10) })).body
    await world.member.call('PATCH', `/api/datasets/${dataset_id}`, { body: { records: many(20) } })
    // Simulates a server that died in the middle of an import.
    await service().sql(
      `insert into dataset_versions (workspace_id, version_id) select workspace_id, gen_random_uuid() from workspaces limit 1`,
    )
    await service().sql(
      `insert into dataset_chunks select workspace_id, version_id, 0, 0, 1, '' from dataset_versions where state = 'pending'`,
    )
    await service().sql(`update dataset_versions set touched_at = now() - interval '2 hours'`)
    await service().sql('select sweep_datasets()')
    const rest = await service().sql<{ state: string }>('select distinct state from dataset_versions')
    expect(rest).toEqual([{ state: 'current' }])
    expect(await service().sql(`select from dataset_chunks where body = ''`)).toEqual([])
    expect(await recordsOf(dataset_id)).toEqual(many(20))
  })
})

describe('invalid bodies', () => {
  const record = (text: string) => `{"name":"Bad","records":[{"fine":1},${text}]}`
  test.each<[name: string, body: string, status: number, code: string, path?: string]>([
    ['no records', '{"name":"x"}', 422, 'invalid', '/records'],
    ['no name', '{"records":[]}', 422, 'invalid', '/name'],
    ['records that are not an array', '{"name":"x","records":{"a":1}}', 422, 'invalid', '/records'],
    ['records that are null', '{"name":"x","records":null}', 422, 'invalid', '/records'],
    ['an unknown field', '{"name":"x","records":[],"colour":1}', 422, 'invalid', '/colour'],
    ['a NUL in the name', '{"name":"a\\u0000b","records":[]}', 422, 'invalid', '/name'],
    ['a number as a record', record('5'), 422, 'bad_record', '/records/1'],
    ['an array as a record', record('[1]'), 422, 'bad_record', '/records/1'],
    ['a key named twice', record('{"a":1,"b":{"c":1,"c":2}}'), 422, 'bad_record', '/records/1'],
    ['__proto__', record('{"__proto__":{"admin":true}}'), 422, 'bad_record', '/records/1'],
    ['a nested __proto__', record('{"a":[{"\\u005f_proto__":1}]}'), 422, 'bad_record', '/records/1'],
    ['constructor', record('{"constructor":{"prototype":1}}'), 422, 'bad_record', '/records/1'],
    ['a number too large for a double', record('{"a":1e400}'), 422, 'bad_record', '/records/1'],
    ['NaN', record('{"a":NaN}'), 400, 'malformed'],
    ['a NUL in a text', record('{"a":"\\u0000"}'), 422, 'bad_record', '/records/1'],
    ['a lone surrogate', record('{"a":"\\ud800"}'), 422, 'bad_record', '/records/1'],
    [
      'too many keys',
      record(JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [n, 1])))),
      422,
      'bad_record',
      '/records/1',
    ],
    ['a key that is too long', record(`{"${'k'.repeat(257)}":1}`), 422, 'bad_record', '/records/1'],
    ['a nesting depth of 65', record(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`), 400, 'too_deep'],
    ['a nesting depth of 100,000', record(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), 400, 'too_deep'],
    ['a truncated body', '{"name":"x","records":[{"a":1}', 400, 'malformed'],
    ['data after the end', '{"name":"x","records":[]} true', 400, 'malformed'],
    ['an array as the body', '[]', 400, 'malformed'],
    ['records twice', '{"name":"x","records":[{"a":1}],"records":[]}', 400, 'malformed'],
  ])('with %s are refused and leave nothing behind', async (_name, body, status, code, path) => {
    const before = await stored()
    const refused = await sendRaw(body)
    expect([refused.status, refused.body.code]).toEqual([status, code])
    if (path !== undefined) expect(refused.body.errors.map((error: { path: string }) => error.path)).toEqual([path])
    expect(await stored()).toEqual(before)
  })

  test('are refused with a message that explains the error', async () => {
    const errors = async (body: string) => (await sendRaw(body)).body.errors
    expect(await errors('{"records":[]}')).toEqual([{ path: '/name', message: 'is required' }])
    expect(await errors('{"name":" ","records":[]}')).toEqual([{ path: '/name', message: 'must not be empty' }])
    expect((await sendRaw('[]')).body.detail).toBe('The body cannot be read: the body must be an object.')
  })

  test('that are not UTF-8, or not JSON, are refused', async () => {
    expect((await sendRaw(Buffer.from('{"name":"x","records":[{"a":"\xff"}]}', 'latin1'))).body.code).toBe('malformed')
    const text = await world.member.call('POST', '/api/datasets', {
      raw: 'a=1',
      headers: { 'content-type': 'text/csv' },
    })
    expect(text.body.code).toBe('unsupported_media_type')
    expect((await world.member.call('POST', '/api/datasets')).body.code).toBe('invalid')
  })

  test('do not include nesting of 64 levels, 2^53 + 1 (stored as its double) and -0 (stored as 0)', async () => {
    const deep = `${'{"a":'.repeat(64)}1${'}'.repeat(64)}`
    const made = await sendRaw(`{"name":"Edge","records":[${deep},{"n":9007199254740993,"z":-0}]}`)
    expect(made.status).toBe(201)
    expect(((await recordsOf(made.body.dataset_id)) as Json[])[1]).toEqual({ n: 9007199254740992, z: 0 })
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })
})

describe('an import', () => {
  test.each<[name: string, content: string | Buffer, records: Json[]]>([
    [
      'CSV',
      'a,b\r\n1,"x, ""y"""\r\n2,z\r\n',
      [
        { a: '1', b: 'x, "y"' },
        { a: '2', b: 'z' },
      ],
    ],
    ['CSV with semicolons and a BOM', '\ufeffname;sum\nAda;1,5\n', [{ name: 'Ada', sum: '1,5' }]],
    ['CSV with tabs', 'a\tb\n1\t2\n', [{ a: '1', b: '2' }]],
    ['CSV with a line break in a cell', 'a,b\n"1\n2",3\n', [{ a: '1\n2', b: '3' }]],
    ['CSV with one column', 'a\n1\n\n2', [{ a: '1' }, { a: '2' }]],
    ['only a header', 'a,b\n', []],
    ['a JSON array', ' [ {"a": 1},\n {"a": 2} ] ', [{ a: 1 }, { a: 2 }]],
    ['an empty JSON array', '[]', []],
    ['JSON Lines', '{"a":1}\n\n{"b":{"c":[2]}}', [{ a: 1 }, { b: { c: [2] } }]],
    ['gzip', gzipSync('a,b\n1,2\n'), [{ a: '1', b: '2' }]],
    ['texts that look like markup and formulas', 'a\n{{1+1}}\n', [{ a: '{{1+1}}' }]],
  ])('accepts %s', async (_name, content, records) => {
    const made = await importFile(content, { fields: { name: 'Imported' } })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'Imported', record_count: records.length, sha256: fingerprint(records) })
    expect(await recordsOf(made.body.dataset_id)).toEqual(records)
  })

  test('detects the format from the content, not from the file name, and uses the file name as the name', async () => {
    const made = await importFile('[{"a":1}]', { fileName: '../../etc/Kunden März.csv' })
    expect(made.body).toMatchObject({ name: 'Kunden März', record_count: 1 })
  })

  test('leaves cells as text without infer=true', async () => {
    const content = 'a,b,c,d,e,f,g\n1,-2.50,true,,007,12345678901234567890,1e400\n'
    const plain = await importFile(content)
    expect(await recordsOf(plain.body.dataset_id)).toEqual([
      { a: '1', b: '-2.50', c: 'true', d: '', e: '007', f: '12345678901234567890', g: '1e400' },
    ])
    const inferred = await importFile(content, { query: '?infer=true' })
    expect(await recordsOf(inferred.body.dataset_id)).toEqual([
      { a: 1, b: -2.5, c: true, d: null, e: '007', f: '12345678901234567890', g: '1e400' },
    ])
  })

  test.each<[name: string, content: string | Buffer, status: number, told: RegExp]>([
    ['a row with too few cells', 'a,b\n1,2\n3\n', 422, /line 3: the row has 1 cell, the header 2/],
    ['a quote that is never closed', 'a,b\n1,"2\n3,4\n', 422, /quote/],
    ['a column named twice', 'a,b,a\n1,2,3\n', 422, /line 1.*twice/],
    ['a column without a name', 'a,,c\n1,2,3\n', 422, /column 2/],
    ['a __proto__ column', 'a,__proto__\n1,2\n', 422, /__proto__/],
    ['10,000 columns', Array.from({ length: 10_000 }, (_, n) => `c${n}`).join(','), 422, /columns/],
    ['a quote that is never closed', 'a,b\n1,2\n3,"4\n5,6\n7,8\n', 422, /line 3: a quote is never closed/],
    ['a quote that is never closed, late in the file', `a,b\n1,2\n3,"4\n${'5,6\n'.repeat(1_300_000)}`, 413, /Line 3/],
    ['a bad row of several lines', 'a,b\n\n"1\n2",3\n"4\n5\n6"\n', 422, /line 5: the row has 1 cell/],
    ['a bad row after line breaks in cells', 'a,b\r\n"1\r\n2\r\n3",4\r\n5\r\n', 422, /line 5: the row has 1 cell/],
    ['a forbidden name in the header', '\na,constructor\n1,2\n', 422, /line 2: has the key .{1,2}constructor/],
    ['a NUL byte between carriage returns', 'a,b\r1,2\r3,\0\r', 422, /line 3.*NUL/],
    ['a row that is too large', `a,b\n1,2\n3,${'x'.repeat(5 << 20)}\n`, 413, /Line 3/],
    ['a NUL byte', 'a,b\n1,2\n3,\0\n', 422, /line 3.*NUL/],
    ['bytes that are not UTF-8', Buffer.from('a,b\n1,\xff\n', 'latin1'), 422, /line 2.*UTF-8/],
    [
      'bytes that are not UTF-8, late in the file',
      Buffer.from(`a,b\n${'1,2\n'.repeat(50_000)}3,\xff\n`, 'latin1'),
      422,
      /line 50002.*UTF-8/,
    ],
    ['UTF-16', Buffer.from('\ufeffa,b\n1,2', 'utf16le'), 415, /UTF-8/],
    ['a ZIP archive', Buffer.from('PK\x03\x04xxxx', 'latin1'), 415, /CSV/],
    ['gzip inside gzip', gzipSync(gzipSync('a\n1')), 415, /twice/],
    ['damaged gzip', gzipSync('a,b\n1,2\n').subarray(0, 20), 422, /gzip/],
    ['an empty file', '', 422, /empty/],
    ['a file of spaces', ' \n \n', 422, /empty/],
    ['JSON with a bad record', '[\n{"a":1},\n{"a":1e999}\n]', 422, /line 3/],
    ['JSON of one line with a bad record', '[{"a":1},{"a":2},5]', 422, /line 1, record 3: is not an object/],
    ['JSON Lines with a bad line', '{"a":1}\n{"a":\n', 422, /line 2/],
    ['JSON Lines that are not objects', '{"a":1}\n[1]\n', 422, /line 2/],
    ['deeply nested JSON', `[{"a":${'['.repeat(100_000)}`, 422, /deep/],
    ['a truncated JSON file', '[{"a":1},{"b"', 422, /incomplete/],
  ])('refuses %s with the position, and stores nothing', async (_name, content, status, told) => {
    const before = await stored()
    const refused = await importFile(content)
    expect([refused.status, refused.text]).toEqual([status, expect.stringMatching(told)])
    expect(await stored()).toEqual(before)
  })

  test.each<[name: string, make: () => Buffer]>([
    // The rows are long, so that the size exceeds its limit before the number of records does.
    [
      'a gzip bomb',
      () => gzipSync(Buffer.concat([Buffer.from('a,b\n'), Buffer.alloc(40 << 20, `${'1'.repeat(1000)},2\n`)])),
    ],
    ['a gzip bomb of one line', () => gzipSync(Buffer.alloc(40 << 20, 97))],
    ['one endless line', () => Buffer.alloc(40 << 20, 97)],
    ['one endless quoted cell', () => Buffer.concat([Buffer.from('a,b\n"'), Buffer.alloc(20 << 20, 'aaaa\n')])],
    ['one endless JSON text', () => Buffer.concat([Buffer.from('[{"a":"'), Buffer.alloc(20 << 20, 97)])],
    ['one endless line of JSON', () => Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(20 << 20, 97)])],
    ['more data than the limit', () => Buffer.concat([Buffer.from('a\n'), Buffer.alloc(50 << 20, 'aaaaaaaaa\n')])],
  ])('stops reading %s early, with little memory, and stores nothing', async (_name, make) => {
    const content = make()
    const before = await stored()
    const memory = process.memoryUsage().rss
    const refused = await importFile(content)
    expect([refused.status, refused.body.code]).toEqual([413, 'too_large'])
    // The test itself holds the file twice to send it. The service may add its own part.
    expect(process.memoryUsage().rss - memory).toBeLessThan(content.length * 4 + (64 << 20))
    expect(await stored()).toEqual(before)
  })

  test('without a file, with two files or with an unknown field is refused', async () => {
    const empty = new FormData()
    empty.set('name', 'x')
    expect((await world.member.call('POST', '/api/datasets/import', { raw: empty })).body.errors[0].path).toBe('/file')
    const text = new FormData()
    text.set('file', 'a,b')
    const { body: refused } = await world.member.call('POST', '/api/datasets/import', { raw: text })
    expect(refused.errors).toEqual([{ path: '/file', message: 'has no file name; send it as a file, not as text' }])
    const two = form('a\n1')
    two.append('file', new Blob(['a\n2']), 'b.csv')
    expect((await world.member.call('POST', '/api/datasets/import', { raw: two })).status).toBe(422)
    expect((await importFile('a\n1', { fields: { owner_id: 'x' } })).body.errors[0].path).toBe('/owner_id')
    expect((await importFile('a\n1', { query: '?infer=maybe' })).status).toBe(422)
    const json = await world.member.call('POST', '/api/datasets/import', {
      body: { file: { filepath: '/etc/passwd' } },
    })
    expect(json.status).toBe(415)
  })

  test('that is aborted leaves nothing behind, and the service continues', async () => {
    const before = await stored()
    const cut = new AbortController()
    async function* slow(): AsyncGenerator<Buffer> {
      yield Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\n')
      for (let block = 0; block < 40; block++) yield Buffer.from(`${'x'.repeat(60)},2\n`.repeat(4096))
      cut.abort()
      await new Promise(() => {})
    }
    await expect(
      fetch(`${service().base}/api/datasets/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.member.key}`, 'content-type': 'multipart/form-data; boundary=b' },
        body: slow() as unknown as BodyInit,
        duplex: 'half',
        signal: cut.signal,
      } as RequestInit),
    ).rejects.toThrow()
    await expect.poll(stored).toEqual(before)
    expect((await importFile('a\n1\n')).status).toBe(201)
  })
})

describe('an export', () => {
  test('to CSV neutralises formulas and quotes where needed', async () => {
    const records: Json[] = [
      { a: '=1+1', b: '+1', c: '-1', d: '@x', e: '\tx', n: -5, o: { x: 1 }, t: 'x, "y"\nz', z: null },
      { a: 'plain', n: 2.5, '=evil': true },
    ]
    const { dataset_id } = (await create({ name: 'Formeln "x"', records })).body
    const csv = await world.viewer.call('GET', `/api/datasets/${dataset_id}/export?format=csv`)
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/)
    expect(csv.headers.get('content-disposition')).toMatch(/^attachment; filename="Formeln _x_\.csv"/)
    expect(csv.text).toBe(
      `a,b,c,d,e,n,o,t,z,'=evil\r\n'=1+1,'+1,'-1,'@x,'\tx,-5,"{""x"":1}","x, ""y""\nz",,\r\nplain,,,,,2.5,,,,true\r\n`,
    )
  })

  test('to CSV with one column keeps records in which it is empty', async () => {
    const { dataset_id } = (await create({ name: 'One', records: [{ a: 'x' }, {}, { a: '' }] })).body
    const csv = await world.viewer.call('GET', `/api/datasets/${dataset_id}/export?format=csv`)
    expect(csv.text).toBe('a\r\nx\r\n""\r\n""\r\n')
    const again = await importFile(csv.text)
    expect(await recordsOf(again.body.dataset_id)).toEqual([{ a: 'x' }, { a: '' }, { a: '' }])
  })

  test('to JSON Lines returns the records exactly', async () => {
    const records = [{ a: '=1', b: { c: [1, 2] } }, { a: null }]
    const made = (await create({ name: 'Lines', records })).body
    const lines = await fetch(`${service().base}/api/datasets/${made.dataset_id}/export?format=jsonl`, {
      headers: { authorization: `Bearer ${world.viewer.key}` },
    })
    const again = await importFile(await lines.text())
    expect(again.body.sha256).toBe(made.sha256)
  })
})
