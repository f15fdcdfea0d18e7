import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { makeWorld } from '#test/harness/world'
import { type Arrivals, arrivals, makeArrivals } from './arrivals.ts'

const KIB = 1 << 10
const service = useSharedService()
let server: Server
let watched: Arrivals
let time: number
/** The bodies that the server has begun to read. */
let begun: number
let read: number

beforeEach(async () => {
  time = 0
  begun = 0
  read = 0
  watched = makeArrivals({ now: () => time, maxTogether: 1024 * KIB, every: 5 })
  server = createServer((call, answer) => {
    begun += 1
    watched.watch(call, String(call.headers['x-caller']))
    call.on('data', (chunk: Buffer) => {
      read += chunk.length
    })
    call.on('end', () => answer.end())
    call.on('error', () => {})
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Sends all but the last byte. */
function begin(caller: string, bytes: number) {
  const call = request({
    port: (server.address() as AddressInfo).port,
    method: 'POST',
    headers: { 'x-caller': caller, 'content-length': bytes },
  })
  const outcome = { status: 0 }
  const status = new Promise<number>((resolve) => {
    call.once('response', (answer) => {
      outcome.status = answer.resume().statusCode!
      resolve(outcome.status)
    })
    call.on('error', () => {})
  })
  call.write(Buffer.alloc(bytes - 1))
  return { status, outcome, finish: () => call.end(Buffer.alloc(1)) }
}

describe('a body', () => {
  test('that does not arrive is refused after a while', async () => {
    const stalled = begin('a', 64 * KIB)
    await expect.poll(() => read).toBe(64 * KIB - 1)
    time = 59_000
    const quick = begin('a', 64 * KIB)
    await expect.poll(() => begun).toBe(2)
    time = 80_000
    expect(await stalled.status).toBe(408)
    quick.finish()
    expect(await quick.status).toBe(200)
  })

  test('that arrives slowly is refused if all together take too much memory, first those of the caller with the most', async () => {
    const few = begin('few', 256 * KIB)
    const many = Array.from({ length: 4 }, () => begin('many', 512 * KIB))
    await expect.poll(() => read).toBe((256 + 4 * 512) * KIB - 5)
    time = 2_000
    await expect.poll(() => many.filter(({ outcome }) => outcome.status === 408)).toHaveLength(3)
    for (const { finish } of [few, ...many]) finish()
    expect(await few.status).toBe(200)
    expect((await Promise.all(many.map(({ status }) => status))).sort()).toEqual([200, 408, 408, 408])
  })

  test('of a request without a connection is not watched', async () => {
    const app = fastify()
    app.addHook('preParsing', async (call) => watched.watch(call.raw, 'a'))
    app.post('/', async () => 'read')
    expect((await app.inject({ method: 'POST', url: '/', payload: { a: 1 } })).body).toBe('read')
    const stalled = begin('a', 64 * KIB)
    await expect.poll(() => begun).toBe(1)
    // The check that refuses this body looks at the others too.
    time = 80_000
    expect(await stalled.status).toBe(408)
    await app.close()
  })

  test('of a route that keeps it in memory is watched', async () => {
    const { owner } = await makeWorld(service())
    const watch = vi.spyOn(arrivals, 'watch')
    expect((await owner.call('POST', '/api/companies', { body: { name: 'Watched' } })).status).toBe(201)
    expect(watch).toHaveBeenCalledTimes(1)
    const hook = await service().call('POST', '/api/triggers/in/unknown', { body: {} })
    expect([hook.status, watch.mock.calls.length]).toEqual([404, 2])
    watch.mockRestore()
  })
})
