import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { useSharedService } from './harness/service.ts'
import { makeTemporaryDirectory } from './harness/temporary.ts'
import { makeWorld, type World } from './harness/world.ts'

// Runs the curl commands of the documents as they are printed.

const cluster = new URL(inject('postgres').superuserUrl)
const service = useSharedService()
let world: World
let workflow: string
beforeAll(async () => {
  service().allow(`${cluster.hostname}:${cluster.port}`)
  world = await makeWorld(service())
  const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Orders', definition } })
  workflow = made.body.workflow_id
})

/** The examples, without those that change the whole installation. */
const examplesOf = (document: string): string[] =>
  [...readFileSync(join(import.meta.dirname, '..', 'docs', document), 'utf8').matchAll(/```sh\n(.*?)```/gs)]
    .map(([, example]) => example!)
    .filter((example) => !example.includes('/api/operations/'))

const hasCurl = spawnSync('curl', ['--version']).status === 0

/** The commands check the responses themselves; some of them expect an error. */
const ITSELF = ''
/** A response with an error fails the test. */
const STATUS = 'curl() { command curl --fail "$@"; }'

test.skipIf(!hasCurl).each([
  ['datasets.md', 'member', ITSELF],
  ['connections.md', 'member', ITSELF],
  ['jobs.md', 'member', ITSELF],
  ['knowledge.md', 'member', ITSELF],
  ['credentials.md', 'member', STATUS],
  ['events.md', 'member', STATUS],
  ['trying.md', 'owner', STATUS],
  ['seeing.md', 'owner', STATUS],
] as const)('the examples of %s work as they are printed', async (document, person, check) => {
  const examples = examplesOf(document)
  expect(examples.length).toBeGreaterThan(0)
  const directory = await makeTemporaryDirectory()
  const ran = await new Promise<{ code: number; output: string }>((resolve) => {
    const shell = execFile(
      'bash',
      ['-c', `set -euo pipefail\nset -x\n${check}\n${examples.join('\n')}`],
      {
        cwd: directory.path,
        env: {
          PATH: process.env.PATH ?? '',
          HEDDLE: service().base,
          KEY: world[person].key,
          WORKFLOW: workflow,
          PG_HOST: cluster.hostname,
          PG_PORT: cluster.port,
          PG_DATABASE: service().database.name,
          PG_USER: decodeURIComponent(cluster.username),
          PG_PASSWORD: decodeURIComponent(cluster.password),
        },
      },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
    )
    shell.stdin?.end()
  })
  expect(ran.code, ran.output).toBe(0)
  await directory.remove()
})
