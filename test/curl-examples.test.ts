import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { useSharedService } from './harness/service.ts'
import { makeTemporaryDirectory } from './harness/temporary.ts'
import { makeWorld, type World } from './harness/world.ts'

const cluster = new URL(inject('postgres').superuserUrl)
const service = useSharedService()
let world: World
beforeAll(async () => {
  service().allow(`${cluster.hostname}:${cluster.port}`)
  world = await makeWorld(service())
})

const examplesOf = (document: string): string[] =>
  [...readFileSync(join(import.meta.dirname, '..', 'docs', document), 'utf8').matchAll(/```sh\n(.*?)```/gs)].map(
    ([, example]) => example!,
  )

const hasCurl = spawnSync('curl', ['--version']).status === 0

test.skipIf(!hasCurl).each(['datasets.md', 'connections.md', 'jobs.md', 'knowledge.md'])(
  'the examples of %s work as they are printed',
  async (document) => {
    const examples = examplesOf(document)
    expect(examples.length).toBeGreaterThan(0)
    const directory = await makeTemporaryDirectory()
    const ran = await new Promise<{ code: number; output: string }>((resolve) => {
      const shell = execFile(
        'bash',
        ['-c', `set -euo pipefail\nset -x\n${examples.join('\n')}`],
        {
          cwd: directory.path,
          env: {
            PATH: process.env.PATH ?? '',
            HEDDLE: service().base,
            KEY: world.member.key,
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
  },
)
