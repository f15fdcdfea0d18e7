import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { makeWorld, type World } from '#test/harness/world'

// Runs the protocol's official inspector against `/mcp`. It has 120 packages, so it is not a dependency of the project.
// It is installed into an empty folder when the slow tests run.

const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'
const INSTALLS_WITHIN = 300_000

const run = promisify(execFile)
const service = useService()
let world: World
let folder: Awaited<ReturnType<typeof makeTemporaryDirectory>> | undefined
beforeAll(async () => {
  world = await makeWorld(service())
  folder = await makeTemporaryDirectory()
  await writeFile(join(folder.path, 'package.json'), JSON.stringify({ private: true }))
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await run('npm', ['install', ...options, INSPECTOR], { cwd: folder.path })
}, INSTALLS_WITHIN)
afterAll(() => folder?.remove())

/** Returns the output of the inspector. It exits with an error if the server violates the protocol. */
async function inspect(key: string, method: string, ...more: string[]): Promise<Record<string, unknown>> {
  const program = join(folder!.path, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  const args = ['--cli', `${service().base}/mcp`, '--transport', 'http', '--method', method, ...more]
  const header = ['--header', `Authorization: Bearer ${key}`]
  const { stdout } = await run(process.execPath, [program, ...args, ...header], {
    cwd: folder!.path,
    env: { ...process.env, HOME: folder!.path },
  })
  return JSON.parse(stdout) as Record<string, unknown>
}

test('the inspector lists the tools, accepts their schemas as portable, and calls one', async () => {
  const definition = {
    inputs: {
      type: 'object',
      properties: { name: { type: 'string', description: 'Whom to greet' } },
      required: ['name'],
    },
    nodes: [{ id: 'greet', type: 'set', args: { values: { text: { $cel: "'Hello ' + input.name" } } } }],
    edges: [],
    output: { $ref: 'nodes.greet.output' },
  }
  const made = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Greet', definition, settings: { mcp_tool: true } },
  })
  expect(made.status, made.text).toBe(201)
  const { tools } = (await inspect(world.owner.key, 'tools/list', '--strict')) as {
    tools: { name: string; inputSchema: unknown }[]
  }
  const tool = tools.find(({ name }) => name.startsWith('greet_'))!
  expect(tool.inputSchema).toMatchObject({ required: ['name'] })
  const called = await inspect(world.owner.key, 'tools/call', '--tool-name', tool.name, '--tool-arg', 'name=Ada')
  expect(called).toMatchObject({ structuredContent: { text: 'Hello Ada' } })
  expect(called.isError ?? false).toBe(false)
})

test('the inspector is refused without a valid key', async () => {
  await expect(inspect('hk_wrong', 'tools/list')).rejects.toThrow()
})
