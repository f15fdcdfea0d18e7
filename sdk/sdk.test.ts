import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { makeWorld, type World } from '#test/harness/world'
import { type Client, HeddleProblem, makeClient } from './client.ts'
import { all } from './lists.ts'
import { type Frame, watchExecution } from './sockets.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const service = useService()
let world: World
let heddle: Client
beforeAll(async () => {
  world = await makeWorld(service())
  heddle = makeClient({ baseUrl: service().base, token: world.owner.key })
})

const environment = () => ({ ...process.env, HEDDLE_BASE: service().base, HEDDLE_KEY: world.owner.key })

describe('the client', () => {
  test('a refusal is a problem with its code and the paths of the mistakes', async () => {
    const refused = await heddle.createTeam({ name: '' }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(HeddleProblem)
    expect(refused).toMatchObject({ status: 422, code: 'invalid', errors: [{ path: '/name' }] })
  })

  test('a list is walked page by page', async () => {
    for (let n = 0; n < 5; n++) await heddle.createTeam({ name: `Team ${n}` })
    const names: string[] = []
    for await (const team of all(heddle.listTeams, { limit: 2 })) names.push(team.name)
    expect(names).toEqual(['Team 4', 'Team 3', 'Team 2', 'Team 1', 'Team 0'])
  })

  test('a request that may be repeated is tried again after 503, one that may not is not', async () => {
    const flaky = (failures: number) => {
      let calls = 0
      const send: typeof fetch = async (...given) =>
        calls++ < failures ? new Response('{"code":"unavailable"}', { status: 503 }) : fetch(...given)
      return { client: heddle.with({ fetch: send, retries: 3 }), calls: () => calls }
    }
    const once = flaky(1)
    await expect(once.client.createTeam({ name: 'Never' })).rejects.toMatchObject({ code: 'unavailable' })
    expect(once.calls()).toBe(1)
    const again = flaky(1)
    await again.client.createTeam({ name: 'Once' }, { idempotencyKey: 'a-key' })
    expect(again.calls()).toBe(2)
  })

  test('events of an execution arrive in order, with a snapshot first', async () => {
    const { workflow_id } = await heddle.createWorkflow({
      name: 'Asks',
      definition: { nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?', schema: {} } }], edges: [] },
    })
    const { execution_id } = await heddle.runWorkflow({ workflow_id })
    const frames: Frame[] = []
    await new Promise<void>((resolve) => {
      const watching = watchExecution(heddle, execution_id, {
        onFrame(frame) {
          frames.push(frame)
          if (
            frame.type === 'clarification.asked' ||
            (frame.type === 'snapshot' && JSON.stringify(frame.data).includes('"waiting"'))
          ) {
            heddle.respondToExecution({ execution_id, response: 1 }).catch(() => {})
          }
          if (frame.type !== 'execution.succeeded') return
          watching.close()
          resolve()
        },
      })
    })
    expect(frames[0]!.type).toBe('snapshot')
    const seqs = frames.slice(1).map(({ seq }) => seq)
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    expect(new Set(seqs).size).toBe(seqs.length)
  })
})

describe('docs/sdk.md', () => {
  test('its examples run as they stand', async () => {
    const text = await readFile(join(root, 'docs', 'sdk.md'), 'utf8')
    const examples = [...text.matchAll(/^```ts (\w+)\n([\s\S]*?)^```/gm)]
    const directory = await mkdtemp(join(root, 'sdk', '.example-'))
    const printed: string[] = []
    try {
      for (const [, name, source] of examples) {
        const file = join(directory, `${name}.ts`)
        await writeFile(file, source!)
        printed.push((await run(process.execPath, [file], { env: environment(), cwd: root })).stdout.trim())
      }
    } finally {
      await rm(directory, { recursive: true })
    }
    expect(printed).toEqual([expect.stringMatching(/^wf_/), 'Hello Ada'])
  })
})

describe('the command line', () => {
  const cli = async (...words: string[]) => {
    const { stdout } = await run(process.execPath, [join(root, 'sdk', 'cli', 'main.ts'), ...words], {
      env: environment(),
    })
    return stdout.trim()
  }

  test('a workflow goes out to a file and comes back as a version, runs and shows its journal', async () => {
    const directory = await makeTemporaryDirectory()
    const file = join(directory.path, 'hello.json')
    const definition = {
      nodes: [{ id: 'a', type: 'set', args: { values: { b: { $ref: 'input.c' } } } }],
      edges: [],
      output: { $ref: 'nodes.a.output.b' },
    }
    await writeFile(file, JSON.stringify({ name: 'From a file', definition }))
    const id = await cli('import', file)
    expect(await cli('list')).toContain(`${id}\tuser\tFrom a file`)
    const ran = JSON.parse(await cli('run', 'From a file', '--input', '{"c":5}', '--wait'))
    expect(ran).toMatchObject({ status: 'succeeded', results: 5 })
    expect(await cli('logs', ran.execution_id, '--follow')).toContain('execution.succeeded')
    await cli('export', id, '--to', file)
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ name: 'From a file', definition })
    expect(await cli('import', file, '--workflow', id, '--activate', '--note', 'again')).toContain('number 2, active')
    await directory.remove()
  })

  test('a refusal says what is wrong and ends with 1', async () => {
    await expect(cli('run', 'No such workflow')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no workflow'),
    })
    await expect(cli('list', '--colour')).rejects.toMatchObject({
      code: 1,
      stderr: expect.not.stringContaining('node:internal'),
    })
    await expect(cli('run', 'echo', '--input', '{c')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--input is not JSON'),
    })
    await expect(cli('fly')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('no command "fly"') })
  })

  test('login remembers who one is', async () => {
    const directory = await makeTemporaryDirectory()
    const env = { ...environment(), XDG_CONFIG_HOME: directory.path }
    const heddleCli = (words: string[], more = {}) =>
      run(process.execPath, [join(root, 'sdk', 'cli', 'main.ts'), ...words], { env: { ...env, ...more } })
    await heddleCli(['login', '--base', service().base, '--key', world.owner.key])
    const { stdout } = await heddleCli(['list'], { HEDDLE_BASE: undefined, HEDDLE_KEY: undefined })
    expect(stdout).toContain('system')
    await directory.remove()
  })
})
