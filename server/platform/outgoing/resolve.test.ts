import { createSocket, type Socket } from 'node:dgram'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeResolve, type Resolve } from './resolve.ts'

// A name server that knows `two.test`, `four.test` and `six.test`, does not answer for names that begin with `never`,
// and knows no others.

const ADDRESSES: Record<string, [type: 1 | 28, bytes: number[]][]> = {
  'two.test': [
    [1, [93, 184, 216, 34]],
    [28, [0x20, 0x01, 0x48, 0x60, ...Array.from({ length: 11 }, () => 0), 1]],
  ],
  'four.test': [[1, [93, 184, 216, 35]]],
  'six.test': [[28, [0x20, 0x01, 0x48, 0x60, ...Array.from({ length: 11 }, () => 0), 2]]],
}

function answerTo(query: Buffer): Buffer | undefined {
  const labels: string[] = []
  let at = 12
  for (; query[at]! > 0; at += query[at]! + 1) labels.push(query.subarray(at + 1, at + 1 + query[at]!).toString())
  const name = labels.join('.').toLowerCase()
  if (name.startsWith('never')) return undefined
  const type = query.readUInt16BE(at + 1)
  const known = ADDRESSES[name]
  const found = (known ?? []).filter(([of]) => of === type).map(([, bytes]) => bytes)
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(known ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(found.length, 6)
  const records = found.map((bytes) => Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]))
  return Buffer.concat([head, query.subarray(12, at + 5), ...records])
}

let server: Socket
let servers: string[]
beforeAll(async () => {
  server = createSocket('udp4')
  server.on('message', (query, { port, address }) => {
    const answer = answerTo(query)
    if (answer) server.send(answer, port, address)
  })
  await new Promise<void>((done) => server.bind(0, '127.0.0.1', done))
  servers = [`127.0.0.1:${server.address().port}`]
})
afterAll(() => void server.close())

const ask = (resolve: Resolve, host: string): Promise<string[]> =>
  new Promise((done, fail) => {
    resolve(host, (error, addresses) => (error ? fail(error) : done(addresses.map(({ address }) => address))))
  })

const notAsked: Resolve = (_host, callback) => callback(new Error('the system was asked'), [])

describe('a lookup', () => {
  test('returns the addresses of both families, IPv4 first', async () => {
    const resolve = makeResolve({ servers, system: notAsked })
    expect(await ask(resolve, 'two.test')).toEqual(['93.184.216.34', '2001:4860::1'])
    expect(await ask(resolve, 'four.test')).toEqual(['93.184.216.35'])
    expect(await ask(resolve, 'six.test')).toEqual(['2001:4860::2'])
  })

  test('does not wait for names whose name server does not answer', async () => {
    const resolve = makeResolve({ servers, system: notAsked })
    let ended = 0
    for (let index = 0; index < 50; index++)
      resolve(`never${index}.test`, () => {
        ended += 1
      })
    expect(await ask(resolve, 'four.test')).toEqual(['93.184.216.35'])
    expect(ended).toBe(0)
  })

  test('does not ask the system for them', async () => {
    const resolve = makeResolve({ servers, system: notAsked, asking: { timeout: 100, tries: 1 } })
    await expect(ask(resolve, 'never.test')).rejects.toMatchObject({ code: 'ETIMEOUT' })
  })

  test('asks the system for names that the name servers do not know, one at a time', async () => {
    const asked: string[] = []
    const answers: (() => void)[] = []
    const system: Resolve = (host, callback) => {
      asked.push(host)
      answers.push(() => callback(null, [{ address: '93.184.216.36', family: 4 }]))
    }
    const resolve = makeResolve({ servers, system })
    const both = Promise.all([ask(resolve, 'first.hosts'), ask(resolve, 'second.hosts')])
    // A known name is looked up after both, so the name server has answered for them.
    expect(await ask(resolve, 'four.test')).toEqual(['93.184.216.35'])
    await expect.poll(() => asked).toHaveLength(1)
    answers[0]!()
    await expect.poll(() => asked).toHaveLength(2)
    answers[1]!()
    expect(await both).toEqual([['93.184.216.36'], ['93.184.216.36']])
  })
})
