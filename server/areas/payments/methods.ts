import type { z } from 'zod'
import type { AccessLevelFinders, FindAccessLevel } from '#platform/access/check'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import type { ProviderName } from '#providers/billing/index'
import { type BillingParts, changing, inTransaction } from './customers.ts'
import type { ConfirmSetupIntent, PaymentMethod } from './schema.ts'
import * as store from './store.ts'

type ById = { payment_method_id: string }

/** Members of the workspace see payment methods and setup intents; guests do not. */
const accessLevelIn =
  (exists: (tx: Tx, workspaceId: string, id: string) => Promise<boolean>): FindAccessLevel =>
  async (ctx, id) => {
    const workspace = ctx.maybeWorkspace
    if (workspace === null || workspace.role === 'guest') return undefined
    return (await exists(ctx.tx, workspace.workspace_id, id)) ? workspace.role : undefined
  }

export const paymentAccessLevels = (provider: ProviderName): AccessLevelFinders => ({
  payment_method: accessLevelIn(
    async (tx, workspaceId, id) => (await store.findMethod(tx, workspaceId, provider, id)) !== undefined,
  ),
  setup_intent: accessLevelIn((tx, workspaceId, id) => store.hasSetupIntent(tx, workspaceId, provider, id)),
})

export function makeMethods(parts: BillingParts & { publishableKey: string | null }) {
  const { provider, cache } = parts

  const findMethod = async (ctx: Context, methodId: string): Promise<store.MethodRow> => {
    const method = await inTransaction(ctx, (tx) =>
      store.findMethod(tx, ctx.workspace.workspace_id, provider.name, methodId),
    )
    if (!method) throw problem('not_found')
    return method
  }

  return {
    async listMethods(ctx: Context, asked: ListInput) {
      const { workspace_id } = ctx.workspace
      await cache.refreshIfOld(workspace_id)
      const page = await inTransaction(ctx, (tx) => store.pageMethods(tx, workspace_id, provider.name, asked))
      return { ...page, items: page.items.map(shown) }
    },

    async createSetupIntent(ctx: Context) {
      const { workspace_id } = ctx.workspace
      return changing(ctx, parts, async ({ customer, requestKey }) => {
        const intent = await inTransaction(ctx, (tx) =>
          store.ensureSetupIntent(tx, workspace_id, {
            setup_intent_id: newId(),
            provider: provider.name,
            request_key: requestKey,
          }),
        )
        const made = await provider.createSetupIntent(customer, { id: intent.setup_intent_id, key: requestKey })
        await inTransaction(ctx, (tx) => store.setIntentRef(tx, workspace_id, intent.setup_intent_id, made.ref))
        return {
          setup_intent_id: intent.setup_intent_id,
          client_secret: made.client_secret,
          customer_id: customer.customerId,
          provider: provider.name,
          publishable_key: parts.publishableKey,
        }
      })
    },

    async confirmSetupIntent(
      ctx: Context,
      { setup_intent_id, client_secret, card }: { setup_intent_id: string } & z.output<typeof ConfirmSetupIntent>,
    ) {
      const confirm = provider.confirmSetupIntent
      if (confirm === null)
        throw problem('conflict', 'Cards are confirmed with Stripe itself: use the client_secret with Stripe.js.')
      return changing(ctx, parts, async ({ customer }) => {
        const outcome = await confirm(customer, { id: setup_intent_id, client_secret, card })
        if (outcome.status === 'requires_action') return { status: outcome.status }
        return { status: outcome.status, payment_method: shown(await findMethod(ctx, outcome.methodRef)) }
      })
    },

    getMethod: async (ctx: Context, { payment_method_id }: ById): Promise<PaymentMethod> =>
      shown(await findMethod(ctx, payment_method_id)),

    async setDefaultMethod(ctx: Context, { payment_method_id }: ById): Promise<PaymentMethod> {
      return changing(ctx, parts, async ({ customer, requestKey }) => {
        const method = await findMethod(ctx, payment_method_id)
        await provider.setDefaultMethod(customer, method.provider_ref, requestKey)
        await cache.refresh(customer.workspaceId)
        return shown(await findMethod(ctx, payment_method_id))
      })
    },

    /** Makes the newest other method the default. The last method cannot be deleted while a subscription needs it. */
    async deleteMethod(ctx: Context, { payment_method_id }: ById): Promise<void> {
      await changing(ctx, parts, async ({ customer, requestKey }) => {
        const { workspaceId } = customer
        const method = await findMethod(ctx, payment_method_id)
        const nextDefault = await inTransaction(ctx, async (tx) => {
          const others = (await store.listMethods(tx, workspaceId, provider.name)).filter(
            (other) => other.payment_method_id !== payment_method_id,
          )
          if (others.length === 0 && (await store.findLiveSubscription(tx, workspaceId, provider.name)))
            throw problem('method_in_use', 'Add another card first, or cancel the subscription.')
          return method.default ? (others[0]?.provider_ref ?? null) : null
        })
        await provider.removeMethod(customer, { ref: method.provider_ref, nextDefault }, requestKey)
        await cache.refresh(workspaceId)
        await inTransaction(ctx, (tx) =>
          recordAudit(ctx, tx, { action: 'payment_method.deleted', subject: toWire('pm', payment_method_id) }),
        )
      })
    },
  }
}

/** Removes the provider's reference, which users do not see. */
const shown = ({ provider_ref: _ref, ...method }: store.MethodRow): PaymentMethod => method
