import { execFile } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '#test/harness/cli'
import { useSharedService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { makePerson, makeWorkspace, makeWorld, type World } from '#test/harness/world'
import { type Client, makeClient } from './client.ts'
import { waitForExecution } from './executions.ts'
import { all } from './lists.ts'
import { InvalidRequest, PreconditionFailed } from './problems.ts'
import { type Frame, watchExecution } from './sockets.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const service = useSharedService()
let world: World
let heddle: Client
beforeAll(async () => {
  world = await makeWorld(service())
  heddle = makeClient({ baseUrl: service().base, token: world.owner.key })
})

const own = () => ({ HEDDLE_BASE: service().base, HEDDLE_KEY: world.owner.key })
const environment = () => ({ ...process.env, ...own() })

describe('the client', () => {
  test('throws a problem with a code and the paths of the invalid fields for a refusal', async () => {
    const refused = await heddle.createTeam({ name: '' }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(InvalidRequest)
    expect(refused).toMatchObject({ status: 422, code: 'invalid', errors: [{ path: '/name' }] })
  })

  test('reads a list page by page', async () => {
    for (let n = 0; n < 5; n++) await heddle.createTeam({ name: `Team ${n}` })
    const names: string[] = []
    for await (const team of all(heddle.listTeams, { limit: 2 })) names.push(team.name)
    expect(names).toEqual(['Team 4', 'Team 3', 'Team 2', 'Team 1', 'Team 0'])
  })

  test('uses the ETag of a response for cheap reads and safe changes', async () => {
    const { team_id } = await heddle.createTeam({ name: 'Tagged' })
    const { etag } = await heddle.detailed.getTeam({ team_id })
    expect(await heddle.detailed.getTeam({ team_id }, { ifNoneMatch: etag! })).toMatchObject({
      status: 304,
      data: undefined,
    })
    await heddle.updateTeam({ team_id, name: 'Renamed' }, { ifMatch: etag! })
    const stale = heddle.updateTeam({ team_id, name: 'Again' }, { ifMatch: etag! })
    await expect(stale).rejects.toBeInstanceOf(PreconditionFailed)
  })

  test('repeats a POST after a lost response, and the POST takes effect once', async () => {
    let lost = 0
    const losing: typeof fetch = async (...given) => {
      const response = await fetch(...given)
      if (lost++ === 0) throw new TypeError('fetch failed')
      return response
    }
    const { team_id } = await heddle.with({ fetch: losing }).createTeam({ name: 'Once only' })
    const made: string[] = []
    for await (const team of all(heddle.listTeams)) if (team.name === 'Once only') made.push(team.team_id)
    expect(made).toEqual([team_id])
  })

  test('receives the events of an execution in order, with a snapshot first', async () => {
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

describe('waiting for an execution', () => {
  const answering = (...answers: (number | 'lost')[]) => {
    let calls = 0
    const send: typeof fetch = async () => {
      const answer = answers[Math.min(calls++, answers.length - 1)]!
      if (answer === 'lost') throw new TypeError('fetch failed')
      return Response.json(answer === 200 ? { status: 'succeeded' } : { code: 'unavailable' }, { status: answer })
    }
    return { client: makeClient({ fetch: send, retries: 0 }), calls: () => calls }
  }

  test('continues after lost connections, and while a service is busy or restarting', async () => {
    const { client, calls } = answering('lost', 503, 429, 502, 'lost', 200)
    const { signal } = new AbortController()
    expect(await waitForExecution(client, 'exe_1', { signal, everyMs: 1 })).toEqual({ status: 'succeeded' })
    expect(calls()).toBe(6)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('ends with a refusal, after the time that the caller set, and when the caller aborts', async () => {
    await expect(waitForExecution(answering(404).client, 'exe_1')).rejects.toMatchObject({ status: 404 })
    const silent = answering('lost')
    await expect(waitForExecution(silent.client, 'exe_1', { patienceMs: 0 })).rejects.toThrow('fetch failed')
    const stop = new AbortController()
    const waiting = waitForExecution(silent.client, 'exe_1', { signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })
})

describe('docs/sdk.md', () => {
  test('contains examples that run unchanged', async () => {
    const text = await readFile(join(root, 'docs', 'sdk.md'), 'utf8')
    const examples = [...text.matchAll(/^```ts (\w+)\n([\s\S]*?)^```/gm)]
    const directory = await mkdtemp(join(root, 'sdk', '.example-'))
    const printed: string[] = []
    // The examples import the package, which is these files.
    const installed = join(directory, 'node_modules', '@heddle', 'sdk')
    const modules = ['client', 'lists', 'executions'].map((name) => `export * from '${join(root, 'sdk', name)}.ts'\n`)
    try {
      await mkdir(installed, { recursive: true })
      await writeFile(join(installed, 'package.json'), '{"type": "module", "exports": "./index.js"}')
      await writeFile(join(installed, 'index.js'), modules.join(''))
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
  const MAIN = join(root, 'sdk', 'cli', 'main.ts')
  const cli = async (...words: string[]) => {
    const { exit, stdout, stderr } = await runCommand(words, own())
    expect([exit, stderr]).toEqual([0, expect.any(String)])
    return stdout.trim()
  }

  test('exports a workflow to a file, imports it as a version, runs it and shows its journal', async () => {
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
    expect(await cli('import', file, '--workflow', id, '--activate')).toContain('number 1, active')
    const other = { name: 'From a file', definition: { ...definition, output: 1 } }
    await writeFile(file, JSON.stringify(other))
    expect(await cli('import', file, '--workflow', id, '--activate', '--note', 'again')).toContain('number 2, active')
    await directory.remove()
  })

  test('run --wait prints the execution id at once and keeps waiting when connections are lost', async () => {
    const keys: unknown[] = []
    let toLose = 4
    const proxy = createServer(async (request, response) => {
      if (request.url!.startsWith('/api/workflows/executions/') && toLose-- > 0) return void request.socket.destroy()
      if (request.method === 'POST') keys.push(request.headers['idempotency-key'])
      const body = await new Response(request as unknown as ReadableStream).text()
      const answer = await fetch(service().base + request.url, {
        method: request.method!,
        headers: { authorization: request.headers.authorization!, 'content-type': 'application/json' },
        ...(body !== '' && { body }),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    try {
      const env = { ...environment(), HEDDLE_BASE: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
      const { workflow_id } = await heddle.createWorkflow({
        name: 'Held on to',
        definition: { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] },
      })
      const { stdout, stderr } = await run(process.execPath, [MAIN, 'run', workflow_id, '--wait'], { env })
      const { execution_id, status } = JSON.parse(stdout)
      expect([status, stderr.trim()]).toEqual(['succeeded', execution_id])
      expect(keys).toEqual([expect.stringMatching(/^[\da-f-]{36}$/)])
      expect(toLose).toBeLessThan(0)
    } finally {
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    }
  })

  test('uses the workspace that --workspace or HEDDLE_WORKSPACE names', async () => {
    const person = await makePerson(service())
    const [here, there] = [await makeWorkspace(service(), person), await makeWorkspace(service(), person)]
    const client = makeClient({ baseUrl: service().base, token: person.key, workspaceId: there.id })
    const { workflow_id } = await client.createWorkflow({ name: 'Only there' })
    const list = async (words: string[], more = {}) =>
      (await runCommand(['list', ...words], { ...own(), HEDDLE_KEY: person.key, ...more })).stdout
    expect(await list(['--workspace', there.id])).toContain(workflow_id)
    expect(await list([], { HEDDLE_WORKSPACE: there.id })).toContain(workflow_id)
    expect(await list(['--workspace', here.id], { HEDDLE_WORKSPACE: there.id })).not.toContain(workflow_id)
  })

  test('explains a refusal and ends with 1, and ends with 2 for a wrong command', async () => {
    const refused = run(process.execPath, [MAIN, 'run', 'No such workflow'], { env: environment() })
    await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('There is no workflow') })
    const wrong = run(process.execPath, [MAIN, 'list', '--colour'], { env: environment() })
    await expect(wrong).rejects.toMatchObject({ code: 2, stderr: expect.not.stringContaining('node:internal') })
    expect(await runCommand(['run', 'echo', '--input', '{c'], own())).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--input is not JSON'),
    })
    for (const none of ['fly', 'toString', '__proto__'])
      expect(await runCommand([none], own())).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining(`no command "${none}"`),
      })
  })

  test('login stores the credentials of the user', async () => {
    const directory = await makeTemporaryDirectory()
    const heddleCli = (words: string[], more = {}) =>
      runCommand(words, { ...own(), XDG_CONFIG_HOME: directory.path, ...more })
    await heddleCli(['login', '--base', service().base, '--key', world.owner.key])
    const { stdout } = await heddleCli(['list'], { HEDDLE_BASE: undefined, HEDDLE_KEY: undefined })
    expect(stdout).toContain('system')
    await directory.remove()
  })

  test('login reads the key that is piped into it', async () => {
    const directory = await makeTemporaryDirectory()
    const env = { ...environment(), XDG_CONFIG_HOME: directory.path, HEDDLE_KEY: undefined }
    const piped = run(process.execPath, [MAIN, 'login', '--base', service().base], { env })
    piped.child.stdin!.end(`${world.owner.key}\n`)
    expect((await piped).stdout).toContain('Signed in as')
    expect(await readFile(join(directory.path, 'heddle', 'credentials.json'), 'utf8')).toContain(world.owner.key)
    await directory.remove()
  })
})
