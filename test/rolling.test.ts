import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Balancer, startBalancer } from '#test/harness/balancer'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { until } from '#test/harness/program'
import { call, type Service, startService } from '#test/harness/service'
import { makePerson, makeWorkspace } from '#test/harness/world'

// The short form of `npm run chaos -- restarts`.

let database: TestDatabase
let balancer: Balancer
const services = new Set<Service>()
beforeAll(async () => {
  database = await makeTestDatabase()
  balancer = await startBalancer()
})
afterAll(async () => {
  await balancer.stop()
  for (const service of services) await service.stop()
  await database.drop()
})

async function startApi(): Promise<Service> {
  const service = await startService({ role: 'api', database })
  services.add(service)
  balancer.use(service.base)
  await expect.poll(balancer.ready).toContain(service.base)
  return service
}

test('two servers restarted in turn behind a load balancer fail no request', async () => {
  const first = await startApi()
  const second = await startApi()
  const person = await makePerson(first)
  await makeWorkspace(first, person)
  const answers = new Map<string, number>()
  let over = false
  const caller = async (): Promise<void> => {
    while (!over) {
      const { status, text } = await call(balancer.base, 'GET', '/api/workflows', { token: person.key })
      const key = status === 200 ? '200' : `${status} ${text}`
      answers.set(key, (answers.get(key) ?? 0) + 1)
    }
  }
  const callers = Array.from({ length: 4 }, caller)
  for (const old of [first, second]) {
    services.delete(old)
    const stopping = old.stop({ drainMs: 1500 })
    await expect.poll(balancer.ready).not.toContain(old.base)
    const { status, headers } = await old.call('GET', '/readyz')
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('1')
    // The server reports that it is not ready, but still answers.
    expect(await old.call('GET', '/api/workflows', { token: person.key })).toMatchObject({ status: 200 })
    await stopping
    await expect(fetch(`${old.base}/healthz`)).rejects.toThrow()
    await startApi()
  }
  over = true
  await Promise.all(callers)
  expect([...answers.keys()]).toEqual(['200'])
})

test('stopping npm stops the program that it started', async () => {
  const root = mkdtempSync(join(tmpdir(), 'heddle-npm-'))
  const npm = spawn('npm', ['start', '--ignore-scripts', '--', '--role', 'worker'], {
    cwd: join(import.meta.dirname, '..'),
    env: {
      PATH: process.env.PATH,
      HOME: root,
      PORT: '0',
      DATABASE_URL: database.superuserUrl,
      HEDDLE_DATA_DIR: join(root, 'data'),
      HEDDLE_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
      HEDDLE_LOG_LEVEL: 'warn',
      HEDDLE_DRAIN_S: '0',
      HEDDLE_PROCESSES: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let output = ''
    npm.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await until(() => /heddle ready on/.test(output))
    const address = /heddle ready on (\S+)/.exec(output)![1]!
    npm.kill()
    await until(() =>
      fetch(`${address}/healthz`).then(
        () => false,
        () => true,
      ),
    )
  } finally {
    npm.kill('SIGKILL')
    rmSync(root, { recursive: true, force: true })
  }
})
