import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callAt } from '#test/harness/call'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Program, startProgram } from '#test/harness/program'
import { makePerson, makeWorkspace, type ServiceAccess } from '#test/harness/world'
import { bundleProgram } from '../scripts/build-server.ts'
import { ENTRY } from '../server/built.mjs'

// Runs the program as `npm start` does: built into a few files. The other tests run it from its sources.

const root = join(import.meta.dirname, '..')
let database: TestDatabase
let built: string
const target = createServer((_request, response) => response.end('7'))
let dataDir: string
let program: Program | undefined

beforeAll(async () => {
  database = await makeTestDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'heddle-bundle-'))
  // Builds inside the project, so that the packages that are not bundled are found.
  mkdirSync(join(root, 'dist'), { recursive: true })
  built = mkdtempSync(join(root, 'dist', 'bundle-'))
})
afterAll(async () => {
  await program?.stop('SIGINT')
  target.close()
  for (const directory of [built, dataDir]) rmSync(directory, { recursive: true, force: true })
  await database.drop()
})

test('the built program starts, finds packages outside the bundle, and runs a workflow with a request and code', async () => {
  const inputs = await bundleProgram({ home: root, entry: 'server/begin.ts', directory: built })
  expect(inputs).toContain('server/app.ts')
  const files = readdirSync(built)
  expect(files.length).toBeLessThan(100)
  // At each start, the router would compile its functions from strings.
  const code = files.filter((name) => name.endsWith('.js')).map((name) => readFileSync(join(built, name), 'utf8'))
  expect(code.filter((text) => /new Function\("path"|new Function\("NullObject", fnBody/.test(text))).toEqual([])
  // These packages and all exports of built-in modules would be loaded at each start, and are not used.
  expect(code.filter((text) => /^ +"node_modules\/(ajv|semver)\/|__toESM\(require_node_/m.test(text))).toEqual([])

  target.listen(0, '127.0.0.1')
  await once(target, 'listening')
  const host = `127.0.0.1:${(target.address() as AddressInfo).port}`
  program = startProgram(
    {
      HEDDLE_ALLOW_TARGETS: host,
      DATABASE_URL: database.superuserUrl,
      HEDDLE_DATA_DIR: dataDir,
      HEDDLE_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
      HEDDLE_DEMO: 'off',
    },
    [],
    join(built, ENTRY),
  )
  const base = await program.ready
  const client = await database.superuser()
  const surface: ServiceAccess = {
    sql: async (text, values) => (await client.query(text, values)).rows,
    call: (method, path, options) => callAt(base, method, path, options),
  }
  const person = await makePerson(surface)
  await makeWorkspace(surface, person)
  const definition = {
    nodes: [
      { id: 'get', type: 'http.request', args: { url: `http://${host}/` } },
      {
        id: 'c',
        type: 'code',
        args: { source: 'export default (n) => [1, n].length', input: { $ref: 'nodes.get.output.body' } },
      },
    ],
    edges: [{ from: { node: 'get' }, to: 'c' }],
    output: { $ref: 'nodes.c.output' },
  }
  const { body: workflow } = await person.call('POST', '/api/workflows', { body: { name: 'Built', definition } })
  const { body: run } = await person.call('POST', `/api/workflows/${workflow.workflow_id}/run?wait_s=60`, { body: {} })
  expect(run).toMatchObject({ status: 'succeeded', results: 2 })
  for (const path of ['/healthz', '/openapi.json', '/widget/v1.js'])
    expect([path, (await callAt(base, 'GET', path)).status]).toEqual([path, 200])
})
