import { afterAll, beforeAll, expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type NetworkProxy, startProxy, targetOf } from '#test/harness/proxy'
import { type Service, startService } from '#test/harness/service'
import { makePerson, makeWorkspace } from '#test/harness/world'

// Short forms of `npm run chaos -- partition`: the bytes of one process are lost while its sockets stay open.

let database: TestDatabase
let proxies: { api: NetworkProxy; worker: NetworkProxy }
let api: Service
let worker: Service
beforeAll(async () => {
  database = await makeTestDatabase()
  const target = targetOf(database.superuserUrl)
  proxies = { api: await startProxy(target), worker: await startProxy(target) }
  const through = (proxy: NetworkProxy): TestDatabase => {
    const { owner, app, engine, operator } = database.urls
    const [o, a, e, p] = [owner, app, engine, operator].map(proxy.through)
    return { ...database, urls: { owner: o!, app: a!, engine: e!, operator: p! } }
  }
  api = await startService({ role: 'api', database: through(proxies.api) })
  worker = await startService({ role: 'worker', database: through(proxies.worker) })
})
afterAll(async () => {
  for (const proxy of Object.values(proxies)) proxy.thaw()
  await worker?.stop()
  await api?.stop()
  for (const proxy of Object.values(proxies)) await proxy.stop()
  await database.drop()
})

const readiness = async (service: Service): Promise<number> => (await service.call('GET', '/readyz')).status

test('an API process with half-open connections answers 503 with Retry-After, and 200 when the network is back', async () => {
  const person = await makePerson(api)
  await makeWorkspace(api, person)
  expect((await person.call('GET', '/api/workflows')).status).toBe(200)
  proxies.api.freeze()
  const begun = performance.now()
  const answers = await Promise.all([
    api.call('GET', '/readyz'),
    ...Array.from({ length: 4 }, () => person.call('GET', '/api/workflows')),
  ])
  for (const { status, headers } of answers) {
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('1')
  }
  // Timers limit the duration to four seconds on any machine.
  expect(performance.now() - begun).toBeLessThan(15 * SECOND)
  proxies.api.thaw()
  await expect.poll(() => readiness(api)).toBe(200)
  expect((await person.call('GET', '/api/workflows')).status).toBe(200)
})

test('a worker whose bytes are lost reports that it is not ready, and works again when the network is back', async () => {
  await expect.poll(() => readiness(worker)).toBe(200)
  proxies.worker.freeze()
  await expect.poll(() => readiness(worker)).toBe(503)
  proxies.worker.thaw()
  await expect.poll(() => readiness(worker)).toBe(200)
})
