import { type Cases, type Cast, rows } from './matrix.ts'

const notification = async ({ author }: Cast) => {
  const { body } = await author.call('POST', '/api/notifications', { body: { title: 'Case' } })
  return { params: { notification_id: body.notification_id as string } }
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
