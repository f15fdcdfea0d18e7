import { fromWebhook, WEBHOOK_SECRET } from '#test/fakes/channels/receiver'
import { type Cases, type Cast, type Prepared, rows, withChanges } from './matrix.ts'

async function makeTemplate({ author }: Cast): Promise<string> {
  const { body, text } = await author.call('POST', '/api/templates', { body: { name: 'Case' } })
  if (!body?.template_id) throw new Error(text)
  return body.template_id
}

let count = 0
const config = async (cast: Cast, more: Record<string, unknown> = {}) => ({
  channel: 'webhook',
  external_id: `case ${++count}`,
  template_id: await makeTemplate(cast),
  credentials: { signing_secret: WEBHOOK_SECRET },
  ...more,
})

async function makeChannel(cast: Cast, more: Record<string, unknown> = {}): Promise<string> {
  const { body, text } = await cast.author.call('POST', '/api/gateway/channels', { body: await config(cast, more) })
  if (!body?.config_id) throw new Error(text)
  return body.config_id
}

const channel = async (cast: Cast): Promise<Prepared> => ({ params: { config_id: await makeChannel(cast) } })

/** Guests see no channels. */
const write = withChanges(rows.workspaceWrite, { guest: 404 })

export const gatewayCases: Cases = {
  listChannelConfigs: { expect: rows.selectedRead },
  // Strangers work in their own workspaces, in which the template does not exist.
  putChannelConfig: {
    expect: withChanges(rows.selectedWrite, { stranger: 422, operator: 422 }),
    prepare: async (cast) => ({ body: await config(cast) }),
  },
  listChannelConfigsOfTemplate: {
    expect: rows.workspaceRead,
    prepare: async (cast) => ({ params: { template_id: await makeTemplate(cast) } }),
  },
  getChannelConfig: { expect: withChanges(rows.workspaceRead, { guest: 404 }), prepare: channel },
  updateChannelConfig: {
    expect: write,
    prepare: async (cast) => ({ ...(await channel(cast)), body: { name: 'Renamed' } }),
  },
  deleteChannelConfig: { expect: write, prepare: channel },
  tryChannelConfig: {
    expect: write,
    prepare: async (cast) => {
      const mail = {
        channel: 'email',
        external_id: `case${++count}@example.com`,
        credentials: { inbound_secret: 'a secret of ours' },
      }
      return { params: { config_id: await makeChannel(cast, mail) }, body: { to: 'somebody@example.com' } }
    },
  },
  // Only the signature of the vendor decides; the identity of the caller does not matter.
  receiveFromChannel: {
    expect: rows.anyone,
    prepare: async (cast) => ({
      params: { channel: 'webhook', config_id: await makeChannel(cast) },
      ...fromWebhook({ sender_id: 'somebody', text: 'Hello' }),
    }),
    plainParameters: ['channel'],
  },
  answerChannelHandshake: {
    expect: rows.anyone,
    prepare: async (cast) => ({
      params: {
        channel: 'whatsapp',
        config_id: await makeChannel(cast, {
          channel: 'whatsapp',
          external_id: `10000${++count}`,
          credentials: { verify_token: 'verify' },
        }),
      },
      query: '?hub.mode=subscribe&hub.verify_token=verify&hub.challenge=1',
    }),
  },
}
