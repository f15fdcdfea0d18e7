import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '#test/harness/cli'
import { useSharedService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { makeWorld, type World } from '#test/harness/world'
import { commands } from './commands.ts'

// Tests every command through the single entry point: its output with --json, and its exit code.

const service = useSharedService()
let world: World
let folder: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let file: string
let workflow: string
let execution: string
let receipt: string
let n8n: string

const definition = (node: object) => ({ nodes: [{ id: 'a', ...node }], edges: [], output: 1 })
const set = definition({ type: 'set', args: { values: {} } })

beforeAll(async () => {
  world = await makeWorld(service())
  folder = await makeTemporaryDirectory()
  file = join(folder.path, 'one.json')
  await writeFile(file, JSON.stringify({ heddle: 'workflow/1', name: 'Imported', definition: set }))
  n8n = join(folder.path, 'n8n.json')
  const from = { name: 'Start', type: 'n8n-nodes-base.manualTrigger', parameters: {} }
  const to = {
    name: 'Greet',
    type: 'n8n-nodes-base.set',
    typeVersion: 3.4,
    parameters: { assignments: { assignments: [{ name: 'hello', value: '={{ $json.who }}', type: 'string' }] } },
  }
  const connections = { Start: { main: [[{ node: 'Greet', type: 'main', index: 0 }]] } }
  await writeFile(n8n, JSON.stringify({ name: 'From n8n', nodes: [from, to], connections }))
  const make = async (name: string, of: object): Promise<string> =>
    (await world.owner.call('POST', '/api/workflows', { body: { name, definition: of } })).body.workflow_id
  workflow = await make('Mirror', set)
  await make('Fails', definition({ type: 'fail', args: { message: 'No' } }))
  const ran = await world.owner.call('POST', `/api/workflows/${workflow}/run?wait_s=60`, { body: {} })
  execution = ran.body.execution_id
  receipt = join(folder.path, 'signed.json')
  const signed = await world.owner.call('GET', `/api/workflows/executions/${execution}/receipt`)
  await writeFile(receipt, signed.text)
})
afterAll(() => folder?.remove())
beforeEach(() => {
  vi.stubEnv('HEDDLE_BASE', service().base)
  vi.stubEnv('HEDDLE_KEY', world.owner.key)
  vi.stubEnv('HEDDLE_WORKSPACE', world.workspace.id)
  vi.stubEnv('XDG_CONFIG_HOME', folder.path)
  return () => vi.unstubAllEnvs()
})

const heddle = (...args: string[]) => runCommand(args)

/** A valid command line for each command, and the fields of its JSON output. */
const working: Record<string, { words: () => string[]; fields: string[] }> = {
  login: {
    words: () => ['--base', service().base, '--key', world.owner.key],
    fields: ['base', 'file', 'user', 'workspace'],
  },
  keys: { words: () => [], fields: ['keys'] },
  list: { words: () => [], fields: ['workflows'] },
  run: { words: () => ['Mirror', '--wait'], fields: ['error', 'execution_id', 'results', 'status'] },
  logs: { words: () => [execution, '--follow'], fields: ['at', 'data', 'seq', 'type'] },
  export: {
    words: () => [workflow, '--to', join(folder.path, 'out.json')],
    fields: ['file', 'warnings', 'workflow_id'],
  },
  import: { words: () => [file], fields: ['active', 'created', 'number', 'version_id', 'warnings', 'workflow_id'] },
  'import n8n': { words: () => [n8n], fields: ['workflows'] },
  pull: { words: () => [join(folder.path, 'flows')], fields: ['dry_run', 'workflows'] },
  push: { words: () => [join(folder.path, 'flows')], fields: ['dry_run', 'workflows'] },
  receipt: { words: () => [execution, '--to', join(folder.path, 'receipt.json')], fields: ['file'] },
  verify: { words: () => [receipt], fields: ['problems', 'trusted', 'valid'] },
}
/** Commands that do not call a service. */
const offline = ['verify']
/** `rotate-key` is tested where a separate service can have its own key; `serve` never reaches this code. */
const elsewhere = ['rotate-key', 'serve']

describe('every command', () => {
  test('is covered by these tests', () => {
    expect(
      Object.keys({ ...working })
        .concat(elsewhere)
        .sort(),
    ).toEqual(Object.keys(commands).sort())
  })

  test.each(Object.keys(commands))('%s documents its options and exit codes', async (name) => {
    for (const words of [
      [name, '--help'],
      ['help', name],
    ]) {
      const { exit, stdout } = await heddle(...words)
      expect(exit).toBe(0)
      expect(stdout).toMatch(new RegExp(`^heddle ${name}`))
      for (const option of [...Object.keys(commands[name]!.options), 'json', 'workspace'])
        expect(stdout).toContain(`--${option}`)
      for (const code of [0, 1, 2, 5, 6]) expect(stdout).toMatch(new RegExp(`^ {2}${code} `, 'm'))
    }
  })

  test.each(Object.entries(working))('%s prints JSON with --json, and text without', async (name, line) => {
    const { exit, stdout } = await heddle(name, ...line.words(), '--json')
    expect(exit).toBe(0)
    // The output is one document, or one object per line.
    const printed = name === 'logs' ? JSON.parse(stdout.split('\n')[0]!) : JSON.parse(stdout)
    expect(Object.keys(printed).sort()).toEqual(line.fields)
    expect(stdout).not.toContain(world.owner.key)
    const plain = await heddle(name, ...line.words())
    expect(plain.exit).toBe(0)
    if (name !== 'run') expect(plain.stdout).not.toMatch(/^[{[]/)
  })

  test.each(Object.keys(commands))('%s refuses an unknown option with exit code 2', async (name) => {
    const told = await heddle(name, ...(working[name]?.words() ?? []), '--colour')
    expect([told.exit, told.stdout]).toEqual([2, ''])
    expect(told.stderr).toContain(`See: heddle ${name} --help`)
    const { exit, stderr } = await heddle(name, '--colour', '--json')
    expect([exit, JSON.parse(stderr).error.code]).toEqual([2, 'usage'])
  })

  const withWords = Object.entries(commands).filter(([, { words }]) => words.length > 0)
  test.each(withWords)('%s refuses a missing or an additional argument with exit code 2', async (name, { words }) => {
    expect(await heddle(name)).toMatchObject({ exit: 2, stderr: expect.stringContaining(`${words[0]} is missing`) })
    expect((await heddle(name, 'one', 'two')).exit).toBe(2)
  })

  const calling = [...Object.keys(working).filter((name) => !offline.includes(name)), 'rotate-key']
  test.each(calling)(
    '%s ends with 6 if the service is unreachable, and with 5 if the key is refused',
    async (name) => {
      const words = name === 'login' ? ['--key', world.owner.key] : (working[name]?.words() ?? [])
      vi.stubEnv('HEDDLE_BASE', 'http://127.0.0.1:1')
      const { exit, stderr } = await heddle(name, ...words, '--json')
      expect([exit, JSON.parse(stderr).error.code]).toEqual([6, 'unreachable'])
      vi.stubEnv('HEDDLE_BASE', service().base)
      vi.stubEnv('HEDDLE_KEY', `${world.owner.key.slice(0, -1)}!`)
      const bad = name === 'login' ? ['--key', 'hk_none'] : words
      const refused = await heddle(name, ...bad, '--json')
      expect([refused.exit, JSON.parse(refused.stderr).error.code]).toEqual([5, 'unauthenticated'])
    },
    30_000,
  )
})

describe('import n8n', () => {
  test('creates a workflow that behaves as in n8n', async () => {
    const told = await heddle('import', 'n8n', n8n, '--json')
    expect(told.exit).toBe(0)
    const [made] = JSON.parse(told.stdout).workflows
    expect(made.report).toEqual([
      expect.objectContaining({ node: 'Start', outcome: 'converted' }),
      expect.objectContaining({ node: 'Greet', outcome: 'converted' }),
    ])
    const ran = await world.owner.call('POST', `/api/workflows/${made.workflow_id}/run?wait_s=60`, {
      body: { input: { who: 'Ann' } },
    })
    expect(ran.body).toMatchObject({ status: 'succeeded' })
    expect(ran.body.results).toEqual({ hello: 'Ann' })
  })

  test('writes documents with --out, and reports a file that is not a workflow', async () => {
    const flows = join(folder.path, 'from-n8n')
    await mkdir(flows)
    await writeFile(join(flows, 'one.json'), await readFile(n8n, 'utf8'))
    await writeFile(join(flows, 'two.json'), '{"nodes": 1}')
    const out = join(folder.path, 'documents')
    const told = await heddle('import', 'n8n', flows, '--out', out, '--json')
    expect(told.exit).toBe(1)
    const [one, two] = JSON.parse(told.stdout).workflows
    expect(two.problem).toContain('not a workflow of n8n')
    expect(JSON.parse(await readFile(one.document, 'utf8'))).toMatchObject({ heddle: 'workflow/1', name: 'From n8n' })
  })
})

describe('exit codes', () => {
  test('1 if the execution fails, the workflow does not exist or the file is not JSON', async () => {
    const failed = await heddle('run', 'Fails', '--wait', '--json')
    expect([failed.exit, JSON.parse(failed.stdout).status]).toEqual([1, 'failed'])
    expect((await heddle('run', 'No such workflow')).exit).toBe(1)
    await writeFile(join(folder.path, 'bad.json'), '{')
    expect(await heddle('import', join(folder.path, 'bad.json'))).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('is not JSON'),
    })
  })

  test('2 for an unknown command, and for input that is not JSON', async () => {
    for (const words of [['fly'], ['help', 'fly'], ['run', 'Mirror', '--input', '{c']])
      expect((await heddle(...words)).exit).toBe(2)
  })

  test('2 for an unknown option, with or without a command', async () => {
    const problem = (name: string) => `Unknown option '--fly'. See: heddle ${name} --help\n`
    expect(await heddle('list', '--fly')).toMatchObject({ exit: 2, stderr: problem('list') })
    expect(await heddle('--fly')).toMatchObject({ exit: 2, stdout: '', stderr: problem('help') })
  })

  test('3 for a conflict, and 4 if a dry run finds changes', async () => {
    const flows = join(folder.path, 'conflicts')
    await mkdir(flows)
    await writeFile(
      join(flows, 'new.json'),
      JSON.stringify({ heddle: 'workflow/1', name: 'From the folder', definition: set }),
    )
    expect((await heddle('push', flows, '--dry-run')).exit).toBe(4)
    expect((await heddle('push', flows)).exit).toBe(0)
    const { stdout } = await heddle('list', '--json')
    const listed = JSON.parse(stdout).workflows as { name: string; workflow_id: string }[]
    const { workflow_id } = listed.find(({ name }) => name === 'From the folder')!
    await world.owner.call('PATCH', `/api/workflows/${workflow_id}`, { body: { description: 'Changed there' } })
    const version = await world.owner.call('POST', `/api/workflows/${workflow_id}/versions`, {
      body: { definition: { ...set, output: 2 } },
    })
    await world.owner.call('POST', `/api/workflows/${workflow_id}/versions/${version.body.version_id}/activate`)
    await writeFile(
      join(flows, 'new.json'),
      JSON.stringify({ heddle: 'workflow/1', name: 'From the folder', definition: { ...set, output: 3 } }),
    )
    expect((await heddle('push', flows)).exit).toBe(3)
  })

  test('5 if the user is not signed in, or the key lacks a scope', async () => {
    vi.stubEnv('HEDDLE_KEY', '')
    vi.stubEnv('XDG_CONFIG_HOME', join(folder.path, 'nobody'))
    expect(await heddle('list')).toMatchObject({ exit: 5, stderr: expect.stringContaining('Sign in first') })
    const { body } = await world.owner.call('POST', '/auth/api-keys', {
      body: { name: 'narrow', scopes: ['teams:read'] },
    })
    vi.stubEnv('HEDDLE_KEY', body.key)
    expect(await heddle('list', '--json')).toMatchObject({ exit: 5, stderr: expect.stringContaining('workflows:read') })
  })

  test('0 for help, which is also printed without a command', async () => {
    for (const words of [[], ['help'], ['--help'], ['-h']]) {
      const { exit, stdout } = await heddle(...words)
      expect(exit).toBe(0)
      for (const name of Object.keys(commands)) expect(stdout).toContain(`heddle ${name}`)
      expect(stdout).toContain('with its data in ./heddle-data\n')
    }
    expect((await heddle('--json', 'list')).exit).toBe(0)
  })
})

test('a reader that closes the pipe ends the command without an error', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), 'help'])
  child.stdout.destroy()
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  expect({ errors, code }).toEqual({ errors: '', code: 0 })
})

test('keys shows the scopes of each key', async () => {
  await world.owner.call('POST', '/auth/api-keys', { body: { name: 'reader', scopes: ['*:read'] } })
  const { stdout } = await heddle('keys')
  expect(stdout).toMatch(/\treader\t\*:read\t/)
  expect(stdout).toMatch(/\ttest\teverything\t/)
})

describe('heddle verify', () => {
  test('reports what was changed, and whether the key is the trusted key', async () => {
    const { public_key } = (await service().call('GET', '/api/receipt-key')).body
    const trusted = await heddle('verify', receipt, '--key', public_key, '--json')
    expect([trusted.exit, JSON.parse(trusted.stdout)]).toEqual([0, { valid: true, trusted: true, problems: [] }])
    expect((await heddle('verify', receipt)).stdout).toContain('pass the key you trust with --key')
    const other = await heddle('verify', receipt, '--key', 'A'.repeat(43))
    expect([other.exit, other.stdout]).toEqual([1, '/public_key is not the key that you trust\n'])
    const changed = join(folder.path, 'changed.json')
    await writeFile(changed, (await readFile(receipt, 'utf8')).replace('"succeeded"', '"failed"'))
    const told = await heddle('verify', changed)
    expect([told.exit, told.stdout]).toEqual([1, '/execution was changed\n'])
    await writeFile(changed, '{')
    expect((await heddle('verify', changed)).stderr).toContain('cannot be read as JSON')
  })
})
