import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { sealedColumns } from '#platform/keys/sealed-columns'
import { keyId, makeVault, sealedUnder } from '#platform/secrets'
import { startVendor, type Vendor } from './fakes/vendor.ts'
import { type Program, startProgram } from './harness/program.ts'
import { type Answer, call } from './harness/service.ts'
import { slow } from './harness/slow.ts'
import { makeTemporaryDirectory } from './harness/temporary.ts'
import { until } from './harness/until.ts'
import { makePerson, makeWorkspace, type TestPerson } from './harness/world.ts'

const OPERATOR = 'operator@example.com'
const newKey = (): string => randomBytes(32).toString('base64')
const idOf = (key: string): string => keyId(Buffer.from(key, 'base64'))

let name: string
let admin: pg.Client
let database: pg.Pool
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let vendor: Vendor
let address: string
let running: Program[]

beforeEach(async () => {
  const { superuserUrl } = inject('postgres')
  name = `rotation_${randomBytes(4).toString('hex')}`
  admin = new pg.Client(superuserUrl)
  await admin.connect()
  await admin.query(`create database ${name}`)
  address = Object.assign(new URL(superuserUrl), { pathname: `/${name}` }).href
  database = new pg.Pool({ connectionString: address, max: 2 })
  database.on('error', () => {})
  database.on('error', () => {})
  directory = await makeTemporaryDirectory()
  vendor = await startVendor()
  running = []
})
afterEach(async () => {
  for (const program of running) await program.stop()
  await vendor.stop()
  await database.end()
  await admin.query(`drop database if exists ${name} with (force)`)
  await admin.end()
  await directory.remove()
})

async function start(key: string | undefined): Promise<{ base: string; program: Program }> {
  const program = startProgram({
    DATABASE_URL: address,
    HEDDLE_DATA_DIR: directory.path,
    HEDDLE_DEMO: 'off',
    HEDDLE_LOG_LEVEL: 'silent',
    HEDDLE_RATE_LIMITS: 'off',
    HEDDLE_OPERATORS: OPERATOR,
    HEDDLE_ALLOW_TARGETS: vendor.host,
    ...(key !== undefined && { HEDDLE_SECRET_KEY: key }),
  })
  running.push(program)
  return { base: await program.ready, program }
}

type Site = { person: TestPerson; at(base: string, method: string, path: string, body?: unknown): Promise<Answer> }
async function furnish(base: string): Promise<Site> {
  const surface = {
    sql: async (text: string, values?: unknown[]) => (await database.query(text, values)).rows as never,
    call: (method: string, path: string, options = {}) => call(base, method, path, options),
  }
  const person = await makePerson(surface, { email: OPERATOR })
  await makeWorkspace(surface, person)
  return {
    person,
    at: (where, method, path, body) =>
      call(where, method, path, { token: person.key, ...(body !== undefined && { body }) }),
  }
}

async function makeCaller({ at }: Site, base: string): Promise<string> {
  const credential = await at(base, 'POST', '/api/credentials', {
    name: 'Shop',
    kind: 'bearer',
    hosts: [vendor.host],
    secrets: { token: 'tok-9f8e7d6c5b4a' },
  })
  expect(credential.status, credential.text).toBe(201)
  const made = await at(base, 'POST', '/api/workflows', {
    name: 'Calls',
    definition: {
      nodes: [
        {
          id: 'n',
          type: 'http.request',
          args: { url: `${vendor.url}/x`, credential_id: credential.body.credential_id },
        },
      ],
      edges: [],
      output: { $ref: 'nodes.n.output.status' },
    },
  })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}

const runOnce = async ({ at }: Site, base: string, workflow: string): Promise<unknown> => {
  const ran = await at(base, 'POST', `/api/workflows/${workflow}/run?wait_s=60`, { input: {} })
  return ran.body.results ?? ran.text
}

/** Returns the sealed columns with values that are not sealed under this key, with their number. */
async function notUnder(id: string): Promise<string[]> {
  const found: string[] = []
  for (const { table, column, where = 'true' } of sealedColumns) {
    const { rows } = await database.query(
      `select count(*)::int as n from ${table} where ${column} is not null and ${where} and substring(${column} from 1 for 9) <> $1`,
      [sealedUnder(id)],
    )
    if (rows[0].n > 0) found.push(`${table}.${column}: ${rows[0].n}`)
  }
  return found
}

describe('the key of the installation', () => {
  test('is rotated under load in two processes: no request fails, and the new key alone opens all secrets', async () => {
    const [first, second] = [newKey(), newKey()]
    const one = await start(first)
    const two = await start(first)
    const site = await furnish(one.base)
    const workflow = await makeCaller(site, one.base)
    const answers: unknown[] = []
    let isOver = false
    const load = [one.base, two.base].map(async (base) => {
      while (!isOver) {
        answers.push(await runOnce(site, base, workflow))
        const made = await site.at(base, 'POST', '/api/credentials', {
          name: 'More',
          kind: 'bearer',
          hosts: [vendor.host],
          secrets: { token: `tok-${randomBytes(6).toString('hex')}` },
        })
        answers.push(made.status)
      }
    })
    expect((await site.at(one.base, 'POST', '/api/operations/key-rotation', {})).status).toBe(422)
    const begun = await site.at(two.base, 'POST', '/api/operations/key-rotation', { key: second })
    expect(begun.status, begun.text).toBe(202)
    expect((await site.at(one.base, 'POST', '/api/operations/key-rotation', { key: newKey() })).status).toBe(409)
    const { rows: audited } = await database.query(`select action from audit_log where action = 'key.rotated'`)
    expect(audited).toHaveLength(1)
    const state = () => site.at(one.base, 'GET', '/api/operations/key-rotation')
    await until(
      async () => (await state()).body.rotation?.phase === 'restarting',
      'everything to be sealed anew',
      90_000,
    )
    isOver = true
    await Promise.all(load)
    expect(answers.length).toBeGreaterThan(4)
    expect(answers.filter((answer) => answer !== 200 && answer !== 201)).toEqual([])
    expect(await notUnder(idOf(second))).toEqual([])

    // Both keys are accepted until every process has the new key.
    await two.program.stop()
    const again = await start(second)
    expect(await runOnce(site, again.base, workflow)).toBe(200)
    await one.program.stop()
    await until(
      async () => (await site.at(again.base, 'GET', '/api/operations/key-rotation')).body.rotation === null,
      'the end of the rotation',
      90_000,
    )
    await again.program.stop()
    const refused = startProgram({ DATABASE_URL: address, HEDDLE_DATA_DIR: directory.path, HEDDLE_SECRET_KEY: first })
    const { code, errors } = await refused.ended
    expect(code).toBe(1)
    expect(errors).toContain(idOf(second))
    const alone = await start(second)
    expect(await runOnce(site, alone.base, workflow)).toBe(200)
    expect(vendor.seen.at(-1)?.headers.authorization).toBe('Bearer tok-9f8e7d6c5b4a')
    const { rows } = await database.query<{ value: Buffer }>(`select value from installation where name = 'key_check'`)
    expect(makeVault(Buffer.from(second, 'base64')).open(['', 'installation', 'key', 'check'], rows[0]!.value)).toBe(
      'heddle',
    )
  })

  slow('in a file is replaced there, and the old key is kept next to it for old backups', async () => {
    const one = await start(undefined)
    const site = await furnish(one.base)
    const workflow = await makeCaller(site, one.base)
    const file = join(directory.path, 'secret.key')
    const before = (await readFile(file, 'utf8')).trim()
    expect((await site.at(one.base, 'POST', '/api/operations/key-rotation', {})).status).toBe(202)
    const { body } = await until(async () => {
      const found = await site.at(one.base, 'GET', '/api/operations/key-rotation')
      return found.body.rotation === null && found
    }, 'the end of the rotation')
    const after = (await readFile(file, 'utf8')).trim()
    expect([idOf(after), after === before]).toEqual([body.current, false])
    expect((await readFile(`${file}.${idOf(before)}`, 'utf8')).trim()).toBe(before)
    await one.program.stop()
    const again = await start(undefined)
    expect(await runOnce(site, again.base, workflow)).toBe(200)
  })
})

/** Columns of bytes without sealed values: hashes, public keys, contents, embeddings. */
const notSealed =
  /(_hash|sha256|request_key|public_key|embedding)$|^dataset_|\.body$|^installation\.value$|^suite_recordings\.key$|^questions\.reuse_key$|^run_blocks\./

test('every column of bytes is sealed again under the new key, or contains nothing sealed', {
  timeout: 120_000,
}, async () => {
  const { program } = await start(undefined)
  const { rows } = await database.query<{ place: string }>(
    `select c.table_name || '.' || c.column_name as place from information_schema.columns c
     join pg_class k on k.relname = c.table_name and k.relnamespace = c.table_schema::regnamespace
     where c.data_type = 'bytea' and c.table_schema in ('public', 'engine') and k.relkind in ('r', 'p') and not k.relispartition`,
  )
  const covered = new Set(sealedColumns.map(({ table, column }) => `${table}.${column}`))
  const places = rows.map(({ place }) => place)
  expect(places.filter((place) => !covered.has(place) && !notSealed.test(place))).toEqual([])
  expect([...covered].filter((place) => !places.includes(place))).toEqual([])
  await program.stop()
})
