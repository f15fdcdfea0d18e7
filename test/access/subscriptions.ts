import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

const subscription = async ({ workspaceOwner }: Cast) => {
  const { body } = await workspaceOwner.call('POST', '/api/subscriptions', { body: { name: 'Case' } })
  return { params: { subscription_id: body.subscription_id as string } }
}
const changing = withChanges(rows.workspaceOwnerOnly, { guest: 404 })

export const subscriptionCases: Cases = {
  listSubscriptions: { expect: rows.signedIn },
  createSubscription: { expect: rows.selectedOwnerOnly, prepare: async () => ({ body: { name: 'Made' } }) },
  getSubscription: { expect: withChanges(rows.workspaceRead, { guest: 404 }), prepare: subscription },
  updateSubscription: {
    expect: changing,
    prepare: async (cast) => ({ ...(await subscription(cast)), body: { quantity: 2 } }),
  },
  deleteSubscription: { expect: changing, prepare: subscription },
}
