import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WEBHOOK_SECRET } from '#test/fakes/channels/receiver'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// The places for messages of channels, which the workspaces share.

let service: Service
let world: World
let receiver: Server
let base: string
/** The paths of the received messages. */
const received: string[] = []

beforeAll(async () => {
  receiver = createServer((request, response) => {
    received.push(request.url!)
    if (request.url !== '/silent') request.resume().on('end', () => response.end())
  })
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  service = await startService({ env: { HEDDLE_ALLOW_TARGETS: new URL(base).host } })
  world = await makeWorld(service)
})
afterAll(async () => {
  await service?.stop()
  receiver?.closeAllConnections()
  receiver?.close()
})

/** Sends messages to this number of recipients, through a channel with this path. */
async function send(person: World['member'], path: string, recipients: number): Promise<void> {
  const { body: desk } = await person.call('POST', '/api/templates', { body: { name: 'Desk' } })
  const { body: channel } = await person.call('POST', '/api/gateway/channels', {
    body: {
      channel: 'webhook',
      external_id: `${base}${path}`,
      template_id: desk.template_id,
      credentials: { signing_secret: WEBHOOK_SECRET },
    },
  })
  const nodes = Array.from({ length: recipients }, (_, n) => ({
    id: `n${n}`,
    type: 'channel.send',
    args: { config_id: channel.config_id, to: `person ${n}`, text: 'Hello' },
  }))
  const { body: workflow } = await person.call('POST', '/api/workflows', {
    body: { name: 'Tell', definition: { nodes, edges: [] } },
  })
  const ran = await person.call('POST', `/api/workflows/${workflow.workflow_id}/run?wait_s=60`, { body: {} })
  expect(ran.body, ran.text).toMatchObject({ status: 'succeeded' })
}

test('messages to a receiver that does not answer do not delay the messages of another workspace', async () => {
  await send(world.member, '/silent', 80)
  await until(async () => received.length >= 8, 'the first messages')
  await send(world.stranger, '/reply', 1)
  await until(async () => received.includes('/reply'), 'the message of the other workspace')
})
