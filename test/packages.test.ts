import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect } from 'vitest'
import { slow } from './harness/slow.ts'
import { makeTemporaryDirectory } from './harness/temporary.ts'
import { until } from './harness/until.ts'

// The packages as a user gets them: built, packed, and installed into an empty folder, on the Node of the machine and
// on the Node that runs the tests.

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const packed = (name: string): string => join(root, 'dist', 'packages', `${name}-${version}.tgz`)
let folder: Awaited<ReturnType<typeof makeTemporaryDirectory>> | undefined

/** The Node that a plain shell finds, not the Node of the project's packages. */
const plainNode = (process.env.PATH ?? '')
  .split(':')
  .filter((directory) => !directory.includes('node_modules'))
  .map((directory) => join(directory, 'node'))
  .find(existsSync)
const nodes = [...new Set([plainNode, process.execPath])].filter((node) => node !== undefined)

/** Returns the folder with the installed packages, which is made once. */
async function install(): Promise<string> {
  if (folder) return folder.path
  folder = await makeTemporaryDirectory()
  await run(process.execPath, [join(root, 'scripts', 'package.ts')], { cwd: root })
  await writeFile(join(folder.path, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const archives = ['heddle', 'heddle-sdk', 'heddle-workflows'].map(packed)
  // Libraries for graphics cards, which the speech models do not use, would be downloaded from outside the registry.
  const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' }
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...archives], { cwd: folder.path, env })
  return folder.path
}
afterAll(() => folder?.remove())

const PROGRAM = `
import { all, makeClient } from '@heddle/sdk'
import { cel, ref, set, workflow, code } from '@heddle/workflows'
import { startHeddle } from '@heddle/workflows/testing'

const wf = workflow('Greeting')
const greet = wf.node('greet', set({ values: { text: cel\`'Hello ' + \${wf.input.name}\` } }))
const shout = wf.node('shout', code({ input: ref(greet).text, source: 'export default (text) => text.toUpperCase()' }), { after: greet })
wf.output(ref(shout))

const heddle = await startHeddle({ command: [process.execPath, 'node_modules/heddle/bin/heddle.mjs'] })
try {
  const { status, results } = await heddle.run(wf, { name: 'Ada' })
  const names = []
  for await (const { name } of all(heddle.client.listWorkflows)) names.push(name)
  const { baseUrl } = heddle.client.options
  const page = await fetch(baseUrl)
  const widget = await fetch(baseUrl + '/widget/v1.js')
  console.log(JSON.stringify({ status, results, listed: names.includes('Greeting'), page: page.status, widget: widget.status, client: typeof makeClient }))
} finally {
  await heddle.stop()
}
`

slow.each(nodes)(
  'the installed packages serve and run a workflow on %s',
  async (node) => {
    const home = await install()
    expect(existsSync(join(home, 'node_modules', 'heddle', 'program', 'begin.js'))).toBe(true)
    await writeFile(join(home, 'program.mjs'), PROGRAM)
    const { stdout } = await run(node, ['program.mjs'], {
      cwd: home,
      env: { PATH: process.env.PATH!, HEDDLE_LOG_LEVEL: 'error' },
    })
    expect(JSON.parse(stdout)).toEqual({
      status: 'succeeded',
      results: 'HELLO ADA',
      listed: true,
      page: 200,
      widget: 200,
      client: 'function',
    })
  },
  300_000,
)

/** The level of an error in the log. */
const ERROR = 50

slow(
  '`heddle` stores its data in ./heddle-data and exits on SIGTERM; `heddle --help` lists the commands',
  async () => {
    const home = await install()
    const node = nodes[0]!
    const place = join(home, 'place')
    await mkdir(place)
    const bin = join(home, 'node_modules', '.bin', 'heddle')
    const env = { PATH: process.env.PATH!, PORT: '0', HEDDLE_LOG_LEVEL: 'info' }
    const child = spawn(node, [bin], { cwd: place, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    let complained = ''
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      complained += chunk.toString()
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    await until(async () => printed.includes('heddle ready on'), 'the ready line', 120_000)
    expect(existsSync(join(place, 'heddle-data', 'secret.key'))).toBe(true)
    child.kill('SIGTERM')
    await ended
    const lines = complained
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: number; msg: string })
    expect(lines.filter(({ level }) => level >= ERROR)).toEqual([])
    // The schema was created from the text in the package, not by its migrations one after another.
    expect(lines.map(({ msg }) => msg)).toContain('schema created')
    expect(lines.map(({ msg }) => msg)).not.toContain('migration applied')
    await rm(place, { recursive: true })
    expect((await run(node, [bin, '--help'], { env })).stdout).toContain('heddle push DIR')
    expect((await run(node, [bin, 'serve', '--help'], { env })).stdout).toContain('--reset-password ADDRESS')
    expect((await run(node, [bin, '--version'], { env })).stdout).toMatch(/^heddle \d/)
  },
  900_000,
)

slow(
  'a strict TypeScript program compiles against the declarations',
  async () => {
    const home = await install()
    await writeFile(
      join(home, 'strict.ts'),
      `import { makeClient, NotFound } from '@heddle/sdk'
import { verifyEvent } from '@heddle/sdk/events'
import { http, ref, set, workflow } from '@heddle/workflows'
const heddle = makeClient({ baseUrl: 'http://localhost', token: 'hk_1' })
export const id: Promise<string> = heddle.createTeam({ name: 'A' }).then(({ team_id }) => team_id)
export const code = (error: unknown) => (error instanceof NotFound ? error.code : verifyEvent)
const wf = workflow<{ url: string }>('W')
const fetched = wf.node('f', http.request({ url: wf.input.url }))
wf.node('s', set({ values: { status: ref(fetched).status } }))
`,
    )
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2023,dom',
      '--skipLibCheck',
      'false',
    ]
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
    await run(tsc, [...flags, ...types, 'strict.ts'], { cwd: home })
  },
  900_000,
)
