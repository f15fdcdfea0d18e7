import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Client, makeClient } from '#sdk/client'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { type Answer, type SharedService, useSharedService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace, type TestPerson, type TestWorkspace } from '#test/harness/world'
import { exitCodeOf, type Line, type Options, pull, push } from './sync.ts'

// Two workspaces of one installation, staging and production, with a folder between them.

const shared = useSharedService()
let service: SharedService
let vendor: Vendor
let person: TestPerson
let staging: TestWorkspace
let production: TestWorkspace
let folder: Awaited<ReturnType<typeof makeTemporaryDirectory>>

beforeAll(async () => {
  vendor = await startVendor()
  service = shared()
  service.allow(vendor.host)
})
beforeEach(async () => {
  vendor.seen.length = 0
  person = await makePerson(service)
  staging = await makeWorkspace(service, person, 'Staging')
  production = await makeWorkspace(service, person, 'Production')
  folder = await makeTemporaryDirectory()
})
afterEach(() => folder.remove())
afterAll(async () => {
  await vendor?.stop()
})

const clientIn = ({ id }: TestWorkspace): Client =>
  makeClient({ baseUrl: service.base, token: person.key, workspaceId: id })
const options = (more: Partial<Options> = {}): Options => ({
  directory: folder.path,
  dryRun: false,
  force: false,
  delete: false,
  ...more,
})
const outcomes = (lines: Line[]) => Object.fromEntries(lines.map(({ name, outcome }) => [name, outcome]))
async function call(workspace: TestWorkspace, method: string, path: string, body?: unknown): Promise<Answer['body']> {
  const answer = await person.call(method, path, { body, headers: { 'x-workspace-id': workspace.id } })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body
}
const ref = (path: string) => ({ $ref: path })
const set = (value: unknown) => ({
  nodes: [{ id: 'a', type: 'set', args: { values: { value } } }],
  edges: [],
  output: ref('nodes.a.output.value'),
})

/** Creates the resources that the workflow uses: with the same names, but other ids and contents in each workspace. */
async function furnish(workspace: TestWorkspace, region: string) {
  const credential = await call(workspace, 'POST', '/api/credentials', {
    name: 'Shop API',
    kind: 'bearer',
    hosts: [vendor.host],
    secrets: { token: `token-of-${region}-1234` },
  })
  const connection = await call(workspace, 'POST', '/api/connections', { name: 'Mill', kind: 'duckdb', config: {} })
  const dataset = await call(workspace, 'POST', '/api/datasets', { name: 'Orders', records: [{ region }] })
  const template = await call(workspace, 'POST', '/api/templates', { name: 'Desk' })
  const channel = await call(workspace, 'POST', '/api/gateway/channels', {
    channel: 'webhook',
    name: 'Alerts',
    external_id: `${vendor.url}/${region}`,
    template_id: template.template_id,
    credentials: { signing_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  })
  await call(workspace, 'PUT', '/api/variables/REGION', { value: region })
  return { credential, connection, dataset, channel }
}

async function makeBoth(): Promise<{ workflow_id: string }> {
  const used = await furnish(staging, 'test')
  const child = await call(staging, 'POST', '/api/workflows', { name: 'Part', definition: set(ref('vars.REGION')) })
  const node = (id: string, type: string, args: object) => ({ id, type, args })
  return call(staging, 'POST', '/api/workflows', {
    name: 'Alles über Aufträge',
    settings: { timeout_s: 60, error_workflow_id: child.workflow_id },
    definition: {
      nodes: [
        node('call', 'http.request', { url: `${vendor.url}/x`, credential_id: used.credential.credential_id }),
        node('query', 'warehouse.query', { connection_id: used.connection.connection_id, query: 'select 7 as n' }),
        node('read', 'dataset.read', { dataset_id: used.dataset.dataset_id }),
        node('tell', 'channel.send', { config_id: used.channel.config_id, to: 'u1', text: 'Done' }),
        node('part', 'subworkflow', { workflow_id: child.workflow_id, input: {} }),
      ],
      edges: [],
      output: [
        ref('nodes.call.output.status'),
        ref('nodes.query.output.rows'),
        ref('nodes.read.output.records'),
        ref('nodes.part.output'),
        ref('vars.REGION'),
      ],
    },
  })
}

describe('from staging to production', () => {
  test('a workflow is moved without an edit, and runs with the resources of production', async () => {
    const { workflow_id } = await makeBoth()
    expect(outcomes(await pull(clientIn(staging), options()))).toEqual({
      Part: 'created',
      'Alles über Aufträge': 'created',
    })
    const files = (await readdir(folder.path)).sort()
    expect(files).toEqual(['.heddle.json', 'alles-uber-auftrage.json', 'part.json'])
    const text = await readFile(join(folder.path, 'alles-uber-auftrage.json'), 'utf8')
    expect(text).not.toMatch(/(cred|conn|ds|chan|wf)_[0-9a-z]{26}/)
    expect(JSON.parse(text)).toMatchObject({
      heddle: 'workflow/1',
      settings: { timeout_s: 60, error_workflow_id: { $name: 'Part', kind: 'workflow' } },
      definition: { nodes: [{ args: { credential_id: { $name: 'Shop API', kind: 'credential' } } }, {}, {}, {}, {}] },
    })

    const refused = await push(clientIn(production), options())
    expect(outcomes(refused)).toEqual({ Part: 'created', 'Alles über Aufträge': 'failed' })
    const { message } = refused.find(({ outcome }) => outcome === 'failed')!
    for (const missing of ['credential "Shop API"', 'connection "Mill"', 'dataset "Orders"', 'channel "Alerts"'])
      expect(message).toContain(`there is no ${missing} here that you may use`)
    expect(exitCodeOf(refused, false)).toBe(1)

    await furnish(production, 'live')
    expect(outcomes(await push(clientIn(production), options()))).toEqual({
      Part: 'same',
      'Alles über Aufträge': 'created',
    })
    const { items } = await call(production, 'GET', '/api/workflows')
    const there = items.find(({ name }: { name: string }) => name === 'Alles über Aufträge')
    expect(there.workflow_id).not.toBe(workflow_id)
    const { execution_id } = await call(production, 'POST', `/api/workflows/${there.workflow_id}/run`, { input: {} })
    const ended = await until(async () => {
      const found = await call(production, 'GET', `/api/workflows/executions/${execution_id}`)
      return found.finished_at !== null && found
    }, 'the end of the run')
    expect(ended.error).toBeNull()
    expect(ended.results).toEqual([200, [{ n: 7 }], [{ region: 'live' }], 'live', 'live'])
    expect(vendor.seen.find(({ path }) => path === '/x')?.headers.authorization).toBe('Bearer token-of-live-1234')
    await until(async () => vendor.seen.some(({ path }) => path === '/live'), 'the message of the channel')
    expect(vendor.seen.some(({ path }) => path === '/test')).toBe(false)
    expect(outcomes(await push(clientIn(production), options()))).toEqual({
      Part: 'same',
      'Alles über Aufträge': 'same',
    })
  })

  test('a name of two resources is reported as ambiguous, and nothing is created', async () => {
    await makeBoth()
    await pull(clientIn(staging), options())
    await furnish(production, 'live')
    await call(production, 'POST', '/api/datasets', { name: 'Orders', records: [] })
    const document = JSON.parse(await readFile(join(folder.path, 'alles-uber-auftrage.json'), 'utf8'))
    const refused = await person.call('POST', '/api/workflows/import', {
      body: { document },
      headers: { 'x-workspace-id': production.id },
    })
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({ code: 'unknown_reference' })
    expect(refused.body.errors.map(({ path, message }: Answer['body']) => `${path} ${message}`).sort()).toEqual([
      '/document/definition/nodes/2/args/dataset_id 2 things of the kind dataset here are called "Orders"; rename all but one',
      '/document/definition/nodes/4/args/workflow_id there is no workflow "Part" here that you may use',
      '/document/settings/error_workflow_id there is no workflow "Part" here that you may use',
    ])
    const { items } = await call(production, 'GET', '/api/workflows')
    expect(items.filter(({ kind }: { kind: string }) => kind === 'user')).toEqual([])
  })

  test('a credential that the user may not use is not found by its name', async () => {
    const other = await makePerson(service)
    await makeWorkspace(service, other, 'Elsewhere')
    const document = {
      name: 'W',
      definition: {
        nodes: [
          {
            id: 'n',
            type: 'http.request',
            args: { url: `${vendor.url}/x`, credential_id: { $name: 'Shop API', kind: 'credential' } },
          },
        ],
        edges: [],
      },
    }
    await furnish(staging, 'test')
    expect((await other.call('POST', '/api/workflows/import', { body: { document } })).status).toBe(422)
  })
})

describe('a folder and a workspace', () => {
  const fileOf = (name: string) => join(folder.path, name)
  const edit = async (name: string, value: unknown) => {
    const document = JSON.parse(await readFile(fileOf(name), 'utf8'))
    await writeFile(fileOf(name), JSON.stringify({ ...document, definition: set(value) }))
  }
  const change = (workflow_id: string, value: unknown) =>
    call(staging, 'POST', `/api/workflows/${workflow_id}/versions`, { definition: set(value), activate: true })
  let made: { workflow_id: string }
  beforeEach(async () => {
    made = await call(staging, 'POST', '/api/workflows', { name: 'One', definition: set(1) })
    await pull(clientIn(staging), options())
  })

  test('remain the same if nothing changed, and files are always written in the same format', async () => {
    const before = await readFile(fileOf('one.json'), 'utf8')
    expect(outcomes(await pull(clientIn(staging), options()))).toEqual({ One: 'same' })
    expect(outcomes(await push(clientIn(staging), options()))).toEqual({ One: 'same' })
    expect(await readFile(fileOf('one.json'), 'utf8')).toBe(before)
    const { items } = await call(staging, 'GET', `/api/workflows/${made.workflow_id}/versions`)
    expect(items).toHaveLength(1)
  })

  test('push a changed file once, and a dry run only reports it', async () => {
    await edit('one.json', 2)
    const dry = await push(clientIn(staging), options({ dryRun: true }))
    expect([outcomes(dry), exitCodeOf(dry, true)]).toEqual([{ One: 'changed' }, 4])
    expect(outcomes(await push(clientIn(staging), options()))).toEqual({ One: 'changed' })
    expect(outcomes(await push(clientIn(staging), options()))).toEqual({ One: 'same' })
    const { items } = await call(staging, 'GET', `/api/workflows/${made.workflow_id}/versions`)
    expect(items.map(({ number, active }: Answer['body']) => [number, active])).toEqual([
      [2, true],
      [1, false],
    ])
  })

  test('report a conflict in both directions if both sides changed, and --force resolves it', async () => {
    await edit('one.json', 2)
    await change(made.workflow_id, 3)
    const pushed = await push(clientIn(staging), options())
    expect([outcomes(pushed), exitCodeOf(pushed, false)]).toEqual([{ One: 'conflict' }, 3])
    expect(outcomes(await pull(clientIn(staging), options()))).toEqual({ One: 'conflict' })
    expect(await readFile(fileOf('one.json'), 'utf8')).toContain('2')
    expect(outcomes(await push(clientIn(staging), options({ force: true })))).toEqual({ One: 'changed' })
  })

  test('pull a workflow that changed only in the workspace, and refuse a push of an old version', async () => {
    await change(made.workflow_id, 3)
    expect(outcomes(await pull(clientIn(staging), options()))).toEqual({ One: 'changed' })
    expect(JSON.parse(await readFile(fileOf('one.json'), 'utf8')).definition).toEqual(set(3))
    const late = await person.call('POST', '/api/workflows/import', {
      body: {
        workflow_id: made.workflow_id,
        expected_version_id: 'wfv_01kf3v6h2he3wtpk1fw5c0wz9d',
        document: { name: 'One', definition: set(4) },
      },
      headers: { 'x-workspace-id': staging.id },
    })
    expect(late.status).toBe(412)
  })

  test('delete no workflow without --delete', async () => {
    await rm(fileOf('one.json'))
    expect(outcomes(await push(clientIn(staging), options()))).toEqual({ One: 'only_there' })
    expect(outcomes(await push(clientIn(staging), options({ delete: true, dryRun: true })))).toEqual({ One: 'deleted' })
    expect(outcomes(await push(clientIn(staging), options({ delete: true })))).toEqual({ One: 'deleted' })
    expect(
      (await call(staging, 'GET', '/api/workflows')).items.some(({ name }: Answer['body']) => name === 'One'),
    ).toBe(false)
  })

  test('keep the file of a deleted workflow until --delete', async () => {
    await call(staging, 'DELETE', `/api/workflows/${made.workflow_id}`)
    expect(outcomes(await pull(clientIn(staging), options()))).toEqual({ One: 'only_here' })
    expect(await readdir(folder.path)).toContain('one.json')
    expect(outcomes(await pull(clientIn(staging), options({ delete: true })))).toEqual({ One: 'deleted' })
    expect(await readdir(folder.path)).not.toContain('one.json')
  })
})

test('workflows in code are pushed, and pull does not change their files', async () => {
  const file = join(folder.path, 'greeting.workflow.ts')
  const builder = join(import.meta.dirname, '..', 'workflows')
  const code = (text: string) => `
    import { ref, workflow } from '${builder}/build.ts'
    import { set } from '${builder}/nodes.generated.ts'
    const wf = workflow('Greeting')
    const greet = wf.node('greet', set({ values: { text: ${JSON.stringify(text)} as string } }))
    wf.output(ref(greet).text)
    export default wf\n`
  await writeFile(file, code('hello'))
  expect(outcomes(await push(clientIn(staging), options()))).toEqual({ Greeting: 'created' })
  expect(outcomes(await push(clientIn(staging), options()))).toEqual({ Greeting: 'same' })
  expect(outcomes(await pull(clientIn(staging), options()))).toEqual({ Greeting: 'same' })
  const [{ workflow_id }] = (await call(staging, 'GET', '/api/workflows')).items.filter(
    ({ name }: Answer['body']) => name === 'Greeting',
  )
  const ran = await call(staging, 'POST', `/api/workflows/${workflow_id}/run?wait_s=60`, {})
  expect(ran.results).toBe('hello')
  await call(staging, 'POST', `/api/workflows/${workflow_id}/versions`, { definition: set(1) }).then(({ version_id }) =>
    call(staging, 'POST', `/api/workflows/${workflow_id}/versions/${version_id}/activate`, {}),
  )
  expect(outcomes(await pull(clientIn(staging), options()))).toEqual({ Greeting: 'conflict' })
  expect(await readFile(file, 'utf8')).toBe(code('hello'))
  await writeFile(join(folder.path, 'none.workflow.mjs'), 'export const a = 1\n')
  await expect(push(clientIn(staging), options())).rejects.toThrow('has no workflow as its default export')
})
