import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, createConnection } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { OutgoingFailure } from '#platform/outgoing/failure'
import { makeMask } from '#platform/outgoing/mask'
import { makeOutgoing, type Outgoing } from '#platform/outgoing/outgoing'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { type CallPermissions, type Egress, openEgress } from './egress.ts'

let vendor: Server
let port: number
let outgoing: Outgoing
let egress: Egress
let folder: Awaited<ReturnType<typeof makeTemporaryDirectory>>

beforeAll(async () => {
  vendor = createServer((_request, response) => response.writeHead(401).end('expired'))
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  port = (vendor.address() as AddressInfo).port
  outgoing = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`] })
  folder = await makeTemporaryDirectory()
  egress = await openEgress(outgoing, join(folder.path, 'out'))
})
afterAll(async () => {
  await egress.close()
  await outgoing.close()
  await folder.remove()
  vendor.close()
})

/** Sends a request as the walled process does: the target in the first line, then plain HTTP. */
const ask = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(join(folder.path, 'out'))
    socket.write(`http 127.0.0.1 ${port}\n`)
    request({ createConnection: () => socket, path: '/orders' }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })

test.each(['credential_needs_reconnect', 'credential_refresh_failed'] as const)(
  'a call whose refused token cannot be renewed is reported with %s, as sent',
  async (code) => {
    const credential: OutgoingCredential = {
      name: 'Orders',
      allows: () => true,
      apply: (hop) => hop,
      mask: makeMask([]),
      renew: async () => {
        throw new OutgoingFailure(code, 'no newer token')
      },
    }
    const signal = new AbortController().signal
    const passage: CallPermissions = { credential, signal, sent: 0, refused: [], invented: new Map() }
    egress.open(passage)
    expect(await ask()).toBe(502)
    expect([passage.sent, passage.refused.map((failure) => failure.code)]).toEqual([1, [code]])
  },
)
