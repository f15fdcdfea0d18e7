import { fromWire, newId, toWire } from '#platform/ids'
import { makeTemplate } from '#test/harness/widget'
import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

const notification = async ({ author }: Cast) => {
  const { body } = await author.call('POST', '/api/notifications', { body: { title: 'Case' } })
  return { params: { notification_id: body.notification_id as string } }
}

let made = 0
async function channel({ author }: Cast): Promise<string> {
  made += 1
  const template_id = await makeTemplate(author, [])
  const { body } = await author.call('POST', '/api/gateway/channels', {
    body: {
      channel: 'telegram',
      external_id: `case_bot_${made}`,
      template_id,
      credentials: { bot_token: '1:a', secret_token: 'a-secret-token' },
    },
  })
  return body.config_id
}

const presence = async ({ author }: Cast) => {
  const { body } = await author.call('POST', '/api/presence')
  return { params: { presence_id: body.presence_id as string } }
}

export const notificationCases: Cases = {
  listNotifications: { expect: rows.signedIn },
  createNotification: { expect: rows.signedIn, prepare: async () => ({ body: { title: 'Made' } }) },
  readNotifications: { expect: rows.signedIn, prepare: async () => ({ body: {} }) },
  deleteNotifications: {
    expect: rows.signedIn,
    prepare: async (cast) => ({ body: { notification_ids: [(await notification(cast)).params.notification_id] } }),
  },
  getNotification: { expect: rows.ownOnly, prepare: notification },
  updateNotification: {
    expect: rows.ownOnly,
    prepare: async (cast) => ({ ...(await notification(cast)), body: { read: true } }),
  },
  deleteNotification: { expect: rows.ownOnly, prepare: notification },
  createNotificationTicket: { expect: rows.signedIn },
  getNotificationPreferences: { expect: rows.signedIn },
  setNotificationPreferences: {
    expect: rows.signedIn,
    prepare: async () => ({
      body: { preferences: [{ kind: 'execution.failed', app: true, mail: false }] },
    }),
  },
  listReachableChannels: { expect: rows.selectedRead },
  linkChannel: {
    expect: withChanges(rows.selectedRead, { stranger: 422, operator: 422 }),
    prepare: async (cast) => ({ body: { config_id: await channel(cast) } }),
  },
  listChannelIdentities: {
    expect: rows.selectedRead,
    prepare: async (cast) => {
      await identity(cast)
      return {}
    },
  },
  getChannelIdentity: { expect: withChanges(rows.ownOnly, { guest: 403 }), prepare: (cast) => identity(cast) },
  deleteChannelIdentity: { expect: withChanges(rows.ownOnly, { guest: 403 }), prepare: (cast) => identity(cast) },
}

/** Prepares an account in a channel that the author has verified. */
const identity = async (cast: Cast) => {
  const [config_id, identityId] = [await channel(cast), newId()]
  await cast.service.sql(
    `insert into channel_identities (workspace_id, identity_id, config_id, user_id, sender_id, sender_name, address)
     values ($1, $2, $3, $4, $5, 'Ada', '{}')`,
    [cast.workspace.uuid, identityId, fromWire('chan', config_id), cast.author.uuid, identityId],
  )
  return { params: { identity_id: toWire('chid', identityId) } }
}

export const presenceCases: Cases = {
  listPresence: { expect: rows.signedIn },
  recordPresence: { expect: rows.signedIn },
  getPresence: { expect: rows.ownOnly, prepare: presence },
  deletePresence: { expect: rows.ownOnly, prepare: presence },
  listColleagues: {
    expect: rows.workspaceRead,
    prepare: async ({ workspace }) => ({ params: { workspace_id: workspace.id } }),
  },
}
