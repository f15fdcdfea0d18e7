import { z } from 'zod'
import { anyone, member, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import type { Inbound } from './inbound.ts'
import { ChannelConfig, ChannelConfigPatch, channelList, NewChannelConfig, TestMessage, TestOutcome } from './schema.ts'
import type { Gateway } from './service.ts'
import type { TryOut } from './try-out.ts'

const Handshake = z.looseObject({
  'hub.mode': z.string().max(100).optional(),
  'hub.verify_token': z.string().max(4000).optional(),
  'hub.challenge': z.string().max(1000).optional(),
})

export const gatewayRoutes = (gateway: Gateway, inbound: Inbound, tryOut: TryOut): AnyRoute[] =>
  routes(
    'Gateway',
    {
      listChannelConfigs: ['GET', '/api/gateway/channels', viewer('workspace')],
      putChannelConfig: ['POST', '/api/gateway/channels', member('workspace')],
      listChannelConfigsOfTemplate: ['GET', '/api/gateway/channels/by-template/:template_id', viewer('workspace')],
      getChannelConfig: ['GET', '/api/gateway/channels/:config_id', viewer('channel')],
      updateChannelConfig: ['PATCH', '/api/gateway/channels/:config_id', member('channel')],
      deleteChannelConfig: ['DELETE', '/api/gateway/channels/:config_id', member('channel')],
      tryChannelConfig: ['POST', '/api/gateway/channels/:config_id/test', member('channel'), 'run'],
      receiveFromChannel: ['POST', '/gateway/:channel/:config_id', anyone],
      answerChannelHandshake: ['GET', '/gateway/:channel/:config_id', anyone],
    },
    {
      listChannelConfigs: {
        summary: 'Channel configs of the workspace',
        query: channelList.query,
        answer: page(ChannelConfig),
        run: gateway.listConfigs,
      },
      putChannelConfig: {
        summary: 'Create a channel config, or update the one with this channel and external_id',
        description:
          'Credentials can be written, but not read: slack `bot_token, signing_secret`; telegram `bot_token, secret_token`; whatsapp `access_token, app_secret, verify_token` (external_id is the phone number id); discord `bot_token, public_key`; email `inbound_secret` (external_id is the address); webhook `signing_secret` (external_id may be the address for replies). A channel can be enabled only with all of its credentials. The status is 201 if it was created, 200 if it was updated.',
        body: NewChannelConfig,
        answer: ChannelConfig,
        status: 201,
        alsoStatus: [200],
        location: ({ config_id }, path) => `${path}/${config_id}`,
        run: gateway.putConfig,
      },
      listChannelConfigsOfTemplate: {
        summary: 'Channel configs that use a template',
        query: channelList.query,
        answer: page(ChannelConfig),
        run: gateway.listConfigsOfTemplate,
      },
      getChannelConfig: {
        summary: 'One channel config',
        extension: true,
        answer: ChannelConfig,
        run: gateway.getConfig,
      },
      updateChannelConfig: {
        summary: 'Change a channel config; null erases a credential',
        body: ChannelConfigPatch,
        answer: ChannelConfig,
        current: gateway.getConfig,
        run: gateway.updateConfig,
      },
      deleteChannelConfig: {
        summary: 'Delete a channel config and its credentials; its conversations stay',
        status: 204,
        current: gateway.getConfig,
        run: gateway.deleteConfig,
      },
      tryChannelConfig: {
        summary: 'Send a test message, and report whether the vendor accepted it',
        extension: true,
        body: TestMessage,
        answer: TestOutcome,
        transaction: false,
        examples: { body: { to: 'C024BE91L', text: 'Hello from Heddle.' } },
        run: tryOut,
      },
      receiveFromChannel: {
        summary: 'The webhook to which the vendor sends messages',
        description:
          "The request must carry the vendor's own signature; without a valid signature, or while no secret is stored, the request is refused with 401 `bad_signature`. A repeated delivery gets the same response and does nothing.",
        extension: true,
        bodyKind: 'stream',
        bodyLimit: 'file',
        produces: ['application/json', 'text/plain'],
        examples: { answer: { status: 'accepted' } },
        transaction: false,
        idempotency: 'none',
        run: inbound.receive,
      },
      answerChannelHandshake: {
        summary: 'The verification request of WhatsApp for the webhook address',
        extension: true,
        query: Handshake,
        produces: ['text/plain'],
        transaction: false,
        run: inbound.handshake,
      },
    },
  )
