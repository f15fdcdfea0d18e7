import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Json, JsonObject } from '#model/definition'
import { type SharedService, useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'
import { base, type Given, runConverted } from './run.ts'

// Runs converted nodes for databases, tables and vendors against servers on this machine.

const cluster = new URL(inject('postgres').superuserUrl)
let vendor: Server
let site: string
let asked: string[] = []
const shared = useSharedService()
let service: SharedService
let world: World

beforeAll(async () => {
  vendor = createServer((request, response) => {
    asked.push(request.url!)
    const page = Number(new URL(request.url!, 'http://localhost').searchParams.get('page'))
    response.writeHead(200, { 'content-type': 'application/json' })
    const isNext = request.url!.startsWith('/next')
    const answer: Json = isNext
      ? { items: [page], next: page < 2 ? `${site}/next?page=${page + 1}` : null }
      : page < 3
        ? [{ n: page * 10 }, { n: page * 10 + 1 }]
        : []
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  service = shared()
  service.allow(`127.0.0.1:${port}`, `127.0.0.1:${cluster.port}`)
  world = await makeWorld(service)
})
afterAll(async () => {
  vendor?.close()
})

async function setVariable(name: string, value: Json): Promise<void> {
  const set = await world.owner.call('PUT', `/api/variables/${name}`, { body: { value } })
  expect(set.status, set.text).toBeLessThan(300)
}
/** Returns edges that connect the nodes in this order. */
const chained = (names: string[]): [string, number, string][] => names.slice(1).map((name, at) => [names[at]!, 0, name])

test('values in SQL statements become parameters, never parts of the statement', async () => {
  await service.sql('create schema shop')
  await service.sql(`create table shop.people (id integer primary key, name text, age integer)`)
  await service.sql(`create role n8n_shop login password 'a secret'`).catch(() => {})
  await service.sql('grant usage on schema shop to n8n_shop')
  await service.sql('grant select, insert, update, delete on shop.people to n8n_shop')
  const config = { host: '127.0.0.1', port: Number(cluster.port), database: service.database.name, user: 'n8n_shop' }
  const made = await world.owner.call('POST', '/api/connections', {
    body: { name: 'Shop', kind: 'postgres', config, secrets: { password: 'a secret' }, allow_write: true },
  })
  expect(made.status, made.text).toBe(201)
  await setVariable('connection_shop', made.body.connection_id)
  const sql = (name: string, parameters: JsonObject): Given => ({
    name,
    type: base('postgres'),
    typeVersion: 2.5,
    credentials: { postgres: { id: '1', name: 'Shop' } },
    parameters: { schema: { __rl: true, mode: 'list', value: 'shop' }, table: 'people', ...parameters },
  })
  const output = await runConverted(
    world,
    [
      sql('Insert', {
        operation: 'insert',
        columns: { mappingMode: 'defineBelow', value: { id: 1, name: "O'Neil", age: 30 } },
      }),
      sql('Change', {
        operation: 'executeQuery',
        query: "=update shop.people set name = 'Mr. {{ $json.name }}', age = $1 where id = {{ $json.id }}",
        options: { queryReplacement: '=31' },
      }),
      sql('Update', {
        operation: 'update',
        columns: { mappingMode: 'defineBelow', value: { id: 1, age: 32 }, matchingColumns: ['id'] },
      }),
      sql('Upsert', {
        operation: 'upsert',
        columns: { mappingMode: 'defineBelow', value: { id: 2, name: 'Bob', age: 5 }, matchingColumns: ['id'] },
      }),
      sql('Select', {
        operation: 'select',
        where: { values: [{ column: 'age', condition: '>', value: '={{ $json.age }}' }] },
        sort: { values: [{ column: 'id', direction: 'DESC' }] },
      }),
      sql('Find', {
        operation: 'executeQuery',
        query: "=select name, age from shop.people where name like '%{{ $json.name.slice(-4) }}' limit {{ 1 }}",
      }),
    ],
    chained(['Start', 'Insert', 'Change', 'Update', 'Upsert', 'Select', 'Find']),
  )
  expect(output).toEqual([{ name: "Mr. O'Neil", age: 32 }])
})

test('data tables of n8n become datasets', async () => {
  const records = [{ id: 1, name: 'Ann', age: 30 }]
  const dataset = await world.owner.call('POST', '/api/datasets', { body: { name: 'People', records } })
  expect(dataset.status, dataset.text).toBe(201)
  await setVariable('dataset_people', dataset.body.dataset_id)
  const table = (name: string, parameters: JsonObject): Given => ({
    name,
    type: base('dataTable'),
    parameters: { dataTableId: { __rl: true, mode: 'name', value: 'People' }, ...parameters },
  })
  const is = (keyName: string, condition: string, keyValue: Json) => ({
    filters: { conditions: [{ keyName, condition, keyValue }] },
  })
  const columns = (value: JsonObject) => ({ columns: { mappingMode: 'defineBelow', value } })
  const output = await runConverted(
    world,
    [
      table('Add', columns({ name: 'Bob', age: 20 })),
      table('Change', { operation: 'upsert', ...is('name', 'eq', '={{ $json.name }}'), ...columns({ age: 21 }) }),
      table('Older', { operation: 'rowExists', ...is('age', 'gt', 25) }),
      table('Missing', { operation: 'rowNotExists', ...is('name', 'ilike', 'c%') }),
      table('Remove', { operation: 'deleteRows', ...is('name', 'eq', 'Ann') }),
      table('All', { operation: 'get', returnAll: true }),
    ],
    chained(['Start', 'Add', 'Change', 'Older', 'Missing', 'Remove', 'All']),
  )
  expect(output).toMatchObject([{ name: 'Bob', age: 21, id: expect.any(Number) }])
})

const pages = (path: string, pagination: JsonObject): Given => ({
  name: 'Pages',
  type: base('httpRequest'),
  typeVersion: 4.2,
  parameters: { url: `${site}${path}`, options: { pagination: { pagination } } },
})

test('numbered pages are fetched until a page is empty; the first request has a page number too', async () => {
  asked = []
  const parameters = { parameters: [{ name: 'page', value: '={{ $pageCount + 1 }}' }] }
  const output = await runConverted(world, [pages('/list', { parameters })], [['Start', 0, 'Pages']])
  expect(output).toEqual([{ n: 10 }, { n: 11 }, { n: 20 }, { n: 21 }])
  expect(asked).toEqual(['/list?page=1', '/list?page=2', '/list?page=3'])
})

test('pages are fetched from the address in each response until there is none', async () => {
  asked = []
  const pagination = {
    paginationMode: 'responseContainsNextURL',
    nextURL: '={{ $response.body.next }}',
    paginationCompleteWhen: 'other',
    completeExpression: '={{ !$response.body.next }}',
  }
  const output = await runConverted(world, [pages('/next?page=1', pagination)], [['Start', 0, 'Pages']])
  expect(output).toMatchObject([{ items: [1] }, { items: [2], next: null }])
  expect(asked).toEqual(['/next?page=1', '/next?page=2'])
})

test('each change in a message from WhatsApp becomes an item', async () => {
  const value = (text: string) => ({ messages: [{ text: { body: text } }] })
  const body = {
    entry: [{ changes: [{ value: value('a') }, { value: value('b') }] }, { changes: [{ value: value('c') }] }],
  }
  const said: Given = {
    name: 'Said',
    type: base('set'),
    typeVersion: 3.4,
    parameters: {
      assignments: { assignments: [{ name: 'text', type: 'string', value: '={{ $json.messages[0].text.body }}' }] },
    },
  }
  const output = await runConverted(
    world,
    [{ name: 'Message', type: base('whatsAppTrigger') }, said],
    [['Message', 0, 'Said']],
    { body },
  )
  expect(output).toEqual([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
})
