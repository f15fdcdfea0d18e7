import { createHash, randomBytes } from 'node:crypto'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { writeZip } from '#providers/conversion/zip'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const MAX_BYTES = 6 << 20
let vendor: Server
let host: string
let service: Service
let world: World
/** The requests that the vendor received. */
const received: { path: string; type: string; bytes: Buffer }[] = []

beforeAll(async () => {
  vendor = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push({ path: request.url!, type: request.headers['content-type'] ?? '', bytes: Buffer.concat(chunks) })
    if (request.url === '/report') {
      response.writeHead(200, {
        'content-type': 'text/csv',
        'content-disposition': 'attachment; filename="report.csv"',
      })
      response.end('a,b\n1,2\n')
    } else if (request.url === '/endless') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      for (let n = 0; n < 8; n += 1) response.write(Buffer.alloc(1 << 20))
      response.end()
    } else response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(vendor.address() as AddressInfo).port}`
  service = await startService({
    env: { HEDDLE_ALLOW_TARGETS: host, HEDDLE_MAX_FILE_BYTES: String(MAX_BYTES) },
  })
  world = await makeWorld(service)
})
afterAll(async () => {
  await service?.stop()
  vendor?.closeAllConnections()
  vendor?.close()
})

const authorized = () => ({ authorization: `Bearer ${world.owner.key}` })
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const upload = (bytes: Buffer, name = 'a.txt', type = 'text/plain', person = world.owner): Promise<Answer> =>
  person.call('POST', `/api/files?name=${encodeURIComponent(name)}`, { raw: bytes, headers: { 'content-type': type } })
const makeWorkflow = async (definition: object): Promise<string> => {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Files', definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const run = async (definition: object, input: object = {}, person = world.owner): Promise<Answer['body']> => {
  const workflow = await makeWorkflow(definition)
  const ran = await person.call('POST', `/api/workflows/${workflow}/run?wait_s=60`, { body: { input } })
  expect(ran.status, ran.text).toBeLessThan(300)
  return until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${ran.body.execution_id}`)
    return body.finished_at !== null && body
  }, 'the end of the run')
}
const one = (type: string, args: object) => ({
  nodes: [{ id: 'n', type, args }],
  edges: [],
  output: { $ref: 'nodes.n.output' },
})

describe('uploads', () => {
  test('have the same result as a raw body and as a form, and their bytes can be downloaded', async () => {
    const bytes = randomBytes(300_000)
    const raw = await upload(bytes, '../../etc/pass"wd', 'image/png')
    expect(raw.status, raw.text).toBe(201)
    expect(raw.body.$file).toMatchObject({
      name: 'passwd',
      media_type: 'image/png',
      bytes: 300_000,
      sha256: sha256(bytes),
    })
    const form = new FormData()
    form.set('file', new Blob([bytes], { type: 'text/html' }), 'ä b.html')
    const sent = await world.owner.call('POST', '/api/files', { raw: form })
    expect(sent.body.$file).toMatchObject({ name: 'ä b.html', media_type: 'text/html', sha256: sha256(bytes) })
    const path = `/api/files/${sent.body.$file.file_id}`
    const got = await fetch(service.base + path, { headers: authorized() })
    expect(sha256(Buffer.from(await got.arrayBuffer()))).toBe(sha256(bytes))
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="_ b.html"; filename*=UTF-8''%C3%A4%20b.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    })
    const part = await fetch(service.base + path, { headers: { ...authorized(), range: 'bytes=10-19' } })
    expect([part.status, Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20))]).toEqual([206, true])
    const beyond = await fetch(service.base + path, { headers: { ...authorized(), range: 'bytes=400000-' } })
    expect(beyond.status).toBe(416)
  })

  test('that are too large, empty or without a file are refused and leave nothing behind', async () => {
    const before = await service.sql('select count(*)::int as n from files')
    expect((await upload(Buffer.alloc(MAX_BYTES + 1))).status).toBe(413)
    expect((await world.owner.call('POST', '/api/files')).status).toBe(400)
    expect((await world.owner.call('POST', '/api/files', { raw: new FormData() })).status).toBe(422)
    expect(await service.sql('select count(*)::int as n from files')).toEqual(before)
  })

  const used = async (): Promise<number> => {
    const rows = await service.sql<{ used: string }>(
      `select used from usage_counters where workspace_id = $1 and quota = 'storage_bytes'`,
      [world.workspace.uuid],
    )
    return Number(rows[0]?.used ?? 0)
  }

  test('count towards the storage quota of the workspace', async () => {
    const before = await used()
    await upload(Buffer.alloc(1000))
    expect((await used()) - before).toBe(1000)
  })

  test('count while they arrive, and are refused then if the quota is used up', async () => {
    /** Sends all but the last byte of the largest file. */
    const begin = () => {
      const call = request(`${service.base}/api/files?name=a`, {
        method: 'POST',
        headers: { ...authorized(), 'content-type': 'text/plain', 'content-length': MAX_BYTES },
      })
      const status = new Promise<number | undefined>((resolve) => {
        call.once('response', (answer) => resolve(answer.resume().statusCode)).on('error', () => resolve(undefined))
      })
      call.write(Buffer.alloc(MAX_BYTES - 1))
      return { call, status }
    }
    const before = await used()
    const first = begin()
    await until(async () => (await used()) - before >= 4 << 20, 'the bytes to be counted')
    const plan = newId()
    await service.sql(
      `insert into plans (plan_id, org_id, name, amount, currency, interval, quotas)
       select $1, org_id, 'Free', 0, 'eur', 'month', jsonb_build_object('storage_bytes', $2::bigint) from orgs limit 1`,
      [plan, before + MAX_BYTES],
    )
    try {
      // The rest of the second file is not awaited.
      const second = begin()
      expect(await second.status).toBe(403)
      second.call.destroy()
      first.call.end(Buffer.alloc(1))
      expect(await first.status).toBe(201)
      await until(async () => (await used()) - before === MAX_BYTES, 'the size of the first file only')
    } finally {
      await service.sql('delete from plans where plan_id = $1', [plan])
    }
  })

  test('have a signed address that works for everyone, in exactly one spelling', async () => {
    const { body } = await upload(Buffer.from('hello'))
    const link = await world.owner.call('POST', `/api/files/${body.$file.file_id}/link`)
    const got = await fetch(link.body.url)
    expect([got.status, await got.text()]).toEqual([200, 'hello'])
    expect((await fetch(`${link.body.url}x`)).status).toBe(401)
    expect((await fetch(link.body.url.replace(/\d{10}/, '9999999999'))).status).toBe(401)
  })
})

describe('executions', () => {
  const echo = one('file.read', { file: { $ref: 'input.file' } })

  test('can use files that the person who starts them uploaded, and no others', async () => {
    const { body: mine } = await upload(Buffer.from('hello'))
    const ended = await run(echo, { file: mine })
    expect(ended.results).toMatchObject({ name: 'a.txt', content: 'hello' })
    const { body: theirs } = await upload(Buffer.from('secret'), 'b.txt', 'text/plain', world.member)
    expect((await run(echo, { file: theirs })).error).toMatchObject({ code: 'file_unavailable' })
    const invented = { $file: { ...mine.$file, file_id: 'file_01kf3v6h2he3wtpk1fw5c0wz9d' } }
    expect((await run(echo, { file: invented })).error).toMatchObject({ code: 'file_unavailable' })
    // A person who may read the execution may read its files.
    const path = `/api/files/${mine.$file.file_id}`
    expect((await world.member.call('GET', path)).status).toBe(404)
    expect((await world.owner.call('GET', path)).status).toBe(200)
  })

  test('keep the files that they use', async () => {
    const { body: taken } = await upload(Buffer.from('taken'))
    const { body: left } = await upload(Buffer.from('left'))
    const ended = await run(echo, { file: taken })
    await service.sql(`update files set created_at = now() - interval '2 days' where workspace_id = $1`, [
      world.workspace.uuid,
    ])
    const gone = await service.sql<{ file_id: string }>('select file_id from files_left_over(500)')
    expect(gone.length).toBeGreaterThan(0)
    expect((await world.owner.call('GET', `/api/files/${left.$file.file_id}`)).status).toBe(404)
    expect((await world.owner.call('GET', `/api/files/${taken.$file.file_id}`)).status).toBe(200)
    expect(ended.status).toBe('succeeded')
  })

  test.each<[string, object, object]>([
    ['text', { name: 'n.txt', text: 'hé' }, { name: 'n.txt', media_type: 'text/plain', bytes: 3 }],
    ['JSON', { name: 'n.json', json: { a: 1 } }, { media_type: 'application/json', bytes: 7 }],
    ['Base64', { name: 'n.bin', base64: 'AAEC', media_type: 'image/gif' }, { media_type: 'image/gif', bytes: 3 }],
  ])('create a file from %s with file.write', async (_name, args, facts) => {
    expect((await run(one('file.write', args))).results.$file).toMatchObject(facts)
  })
})

describe('file.convert', () => {
  test('converts rows to a workbook, and a workbook to rows', async () => {
    const rows = [
      { a: 1, b: '=SUM(1)' },
      { a: true, b: 'ä<' },
    ]
    const definition = {
      nodes: [
        { id: 'write', type: 'file.convert', args: { rows, to: 'xlsx', name: 'r.xlsx' } },
        { id: 'read', type: 'file.convert', args: { file: { $ref: 'nodes.write.output.file' }, to: 'rows' } },
        { id: 'pack', type: 'file.convert', args: { files: [{ $ref: 'nodes.write.output.file' }], to: 'zip' } },
        { id: 'open', type: 'file.convert', args: { file: { $ref: 'nodes.pack.output.file' }, to: 'files' } },
      ],
      edges: [
        { from: { node: 'write' }, to: 'read' },
        { from: { node: 'read' }, to: 'pack' },
        { from: { node: 'pack' }, to: 'open' },
      ],
      output: { rows: { $ref: 'nodes.read.output.rows' }, files: { $ref: 'nodes.open.output.files' } },
    }
    const { results } = await run(definition)
    expect(results.rows).toEqual(rows)
    expect(results.files).toMatchObject([{ path: 'r.xlsx', file: { $file: { name: 'r.xlsx' } } }])
  })

  test.each<[string, string, string | Buffer, string]>([
    [
      'an archive with a path outside its folder',
      'a.zip',
      writeZip([{ name: '../x', bytes: Buffer.from('x') }]),
      'archive_refused',
    ],
    [
      'XML with entities',
      'a.xml',
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
      'file_unreadable',
    ],
    ['a broken PDF', 'a.pdf', '%PDF-1.4 nothing', 'file_unreadable'],
  ])('ends with a clear error and leaves no file behind: %s', async (_what, name, content, code) => {
    const { body } = await upload(Buffer.from(content as string), name, 'application/octet-stream')
    const before = await service.sql('select count(*)::int as n from files')
    const to = name === 'a.zip' ? 'files' : name === 'a.xml' ? 'json' : 'text'
    const ended = await run(one('file.convert', { file: { $ref: 'input.file' }, to }), { file: body })
    expect(ended.error.code).toBe(code)
    expect(await service.sql('select count(*)::int as n from files')).toEqual(before)
  })
})

describe('http.request', () => {
  test('stores a response as a file and sends a file as its body', async () => {
    const definition = {
      nodes: [
        { id: 'get', type: 'http.request', args: { url: `http://${host}/report`, response: 'file' } },
        {
          id: 'put',
          type: 'http.request',
          args: { method: 'PUT', url: `http://${host}/body`, body: { $ref: 'nodes.get.output.body' } },
        },
      ],
      edges: [{ from: { node: 'get' }, to: 'put' }],
      output: { $ref: 'nodes.get.output.body' },
    }
    const { results } = await run(definition)
    expect(results.$file).toMatchObject({ name: 'report.csv', media_type: 'text/csv', bytes: 8 })
    const sent = received.find(({ path }) => path === '/body')
    expect([sent?.type, sent?.bytes.toString()]).toEqual(['text/csv', 'a,b\n1,2\n'])
  })

  test('ends with a clear error and leaves nothing behind if the response exceeds the limit', async () => {
    const before = await service.sql('select count(*)::int as n from files')
    const ended = await run(one('http.request', { url: `http://${host}/endless`, response: 'file' }))
    expect(ended.error.code).toBe('file_too_large')
    expect(await service.sql('select count(*)::int as n from files')).toEqual(before)
  })

  test('reads JSON as text with `response: text`', async () => {
    expect((await run(one('http.request', { url: `http://${host}/`, response: 'text' }))).results.body).toBe(
      '{"ok":true}',
    )
  })
})

describe('a file', () => {
  test('passes from a webhook form through a workbook, a map, a request and a mail to a download', async () => {
    const workbook = (
      await run(
        one('file.convert', {
          rows: [
            { sku: 'a', n: 2 },
            { sku: 'b', n: 3 },
          ],
          to: 'xlsx',
        }),
      )
    ).results
    const link = await world.owner.call('POST', `/api/files/${workbook.file.$file.file_id}/link`)
    const bytes = Buffer.from(await (await fetch(link.body.url)).arrayBuffer())
    const definition = {
      nodes: [
        { id: 'rows', type: 'file.convert', args: { file: { $ref: 'input.files[0].file' }, to: 'rows' } },
        {
          id: 'double',
          type: 'map',
          args: {
            items: { $ref: 'nodes.rows.output.rows' },
            body: {
              nodes: [
                { id: 's', type: 'set', args: { values: { sku: { $ref: 'item.sku' }, n: { $cel: 'item.n * 2' } } } },
              ],
              edges: [],
              output: { $ref: 'nodes.s.output' },
            },
          },
        },
        {
          id: 'csv',
          type: 'file.convert',
          args: { rows: { $ref: 'nodes.double.output' }, to: 'csv', name: 'out.csv' },
        },
        {
          id: 'send',
          type: 'http.request',
          args: {
            method: 'POST',
            url: `http://${host}/form`,
            multipart: { note: { $ref: 'input.body.note' }, sheet: { $ref: 'nodes.csv.output.file' } },
          },
        },
        {
          id: 'mail',
          type: 'mail.send',
          args: {
            to: world.owner.email,
            subject: 'Out',
            text: 'See',
            attachments: [{ $ref: 'nodes.csv.output.file' }],
          },
        },
      ],
      edges: ['rows>double', 'double>csv', 'csv>send', 'send>mail'].map((pair) => {
        const [from, to] = pair.split('>')
        return { from: { node: from }, to }
      }),
      output: { $ref: 'nodes.csv.output.file' },
    }
    const workflow = await makeWorkflow(definition)
    const token = await world.owner.call('POST', `/api/workflows/${workflow}/tokens`, {
      body: { auth: { kind: 'url' }, input: 'request' },
    })
    const form = new FormData()
    form.set('note', 'from the shop')
    form.set('sheet', new Blob([bytes]), 'orders.xlsx')
    const called = await service.call('POST', new URL(token.body.url).pathname, { raw: form })
    expect(called.status, called.text).toBe(202)
    const ended = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${called.body.execution_id}`)
      return body.finished_at !== null && body
    }, 'the end')
    expect(ended.error).toBeNull()
    const sent = received.find(({ path }) => path === '/form')
    const parts = await new Response(sent!.bytes as BodyInit, { headers: { 'content-type': sent!.type } }).formData()
    expect(parts.get('note')).toBe('from the shop')
    expect(await (parts.get('sheet') as File).text()).toBe('sku,n\r\na,4\r\nb,6\r\n')
    const mails = await service.sql<{ attachments: object[] }>(
      'select attachments from mail_outbox where subject = $1',
      ['Out'],
    )
    expect(mails[0]?.attachments).toMatchObject([{ name: 'out.csv', media_type: 'text/csv', bytes: 17 }])
    const got = await world.owner.call('GET', `/api/files/${ended.results.$file.file_id}`)
    expect(got.text).toBe('sku,n\r\na,4\r\nb,6\r\n')
  })
})
