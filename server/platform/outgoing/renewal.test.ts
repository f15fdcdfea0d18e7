import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { OutgoingCredential } from './credential.ts'
import { OutgoingFailure } from './failure.ts'
import { makeMask } from './mask.ts'
import { makeOutgoing } from './outgoing.ts'

test('a response that refuses a token is closed if the token cannot be renewed', async () => {
  const closed = Promise.withResolvers<void>()
  // The response has no end, so that only the client can close it.
  const server = createServer((_request, response) => {
    response.on('close', closed.resolve)
    response.writeHead(401).write('expired')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const outgoing = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`] })
  const credential: OutgoingCredential = {
    name: 'Orders',
    allows: () => true,
    apply: (hop) => hop,
    mask: makeMask([]),
    renew: async () => {
      throw new OutgoingFailure('credential_needs_reconnect', 'no newer token')
    },
  }
  const sent = outgoing.request({ url: `http://127.0.0.1:${port}/`, credential })
  await expect(sent).rejects.toMatchObject({ code: 'credential_needs_reconnect' })
  await closed.promise
  await outgoing.close()
  server.close()
})
