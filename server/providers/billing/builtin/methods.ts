import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Tx } from '#platform/db/pool'
import { problem, unknownReference } from '#platform/errors'
import { newId, toWire } from '#platform/ids'
import type { Card, Confirmation } from '../index.ts'
import { examineCard, type StoredCard } from './cards.ts'
import { type LedgerCustomer, PROVIDER } from './ledger.ts'
import { payOpenInvoice } from './subscriptions.ts'

type Intent = {
  status: 'requires_payment_method' | 'requires_action' | 'succeeded'
  card: StoredCard | null
  payment_method_id: string | null
}

/** Derives the secret from the intent's id. A repeated request gets the same secret, and no secret is stored. */
export const clientSecret = (key: Buffer, intentId: string): string =>
  `${toWire('seti', intentId)}_secret_${createHmac('sha256', key).update(intentId).digest('base64url')}`

const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Adds a card that needs no confirmation as a payment method at once. A card that its holder must confirm is stored
 * with the intent at the first confirmation and becomes a payment method at the second, as if the holder had confirmed
 * it with the bank between the two.
 */
export async function confirmIntent(
  tx: Tx,
  customer: LedgerCustomer,
  intent: { id: string; client_secret: string; card: Card },
  secret: string,
  now: Date,
): Promise<Confirmation> {
  const found = await tx.maybe<Intent>(
    `select status, card, payment_method_id from setup_intents
     where workspace_id = $1 and setup_intent_id = $2 and provider = 'builtin' for update`,
    [customer.workspace_id, intent.id],
  )
  if (!found) throw problem('not_found')
  if (!same(intent.client_secret, secret)) throw unknownReference('/client_secret')
  if (found.status === 'succeeded') {
    if (!(await hasMethod(tx, customer, found.payment_method_id!)))
      throw problem(
        'conflict',
        'The card that was added with this setup intent was deleted. Create a new setup intent.',
      )
    return { status: 'succeeded', methodRef: found.payment_method_id! }
  }
  const { stored, setup } = examineCard(intent.card, now)
  if (setup === 'declined')
    throw problem('card_declined', 'The bank declined the card. Use another one, or contact the bank.')
  const awaited = found.card !== null && sameCard(found.card, stored)
  if (setup === 'confirm' && !awaited) {
    await saveIntent(tx, customer, intent.id, 'requires_action', stored, null)
    return { status: 'requires_action' }
  }
  const methodId = await insertMethod(tx, customer, stored)
  await saveIntent(tx, customer, intent.id, 'succeeded', null, methodId)
  return { status: 'succeeded', methodRef: methodId }
}

const hasMethod = async (tx: Tx, { workspace_id }: LedgerCustomer, methodId: string): Promise<boolean> =>
  (await tx.count('select from payment_methods where workspace_id = $1 and payment_method_id = $2', [
    workspace_id,
    methodId,
  ])) === 1

const sameCard = (a: StoredCard, b: StoredCard): boolean =>
  a.brand === b.brand && a.last4 === b.last4 && a.exp_month === b.exp_month && a.exp_year === b.exp_year

const saveIntent = (
  tx: Tx,
  customer: LedgerCustomer,
  id: string,
  status: Intent['status'],
  card: StoredCard | null,
  methodId: string | null,
): Promise<number> =>
  tx.count(
    'update setup_intents set status = $3, card = $4, payment_method_id = $5 where workspace_id = $1 and setup_intent_id = $2',
    [customer.workspace_id, id, status, card, methodId],
  )

/** Inserts a payment method. The first method becomes the default. */
async function insertMethod(tx: Tx, customer: LedgerCustomer, card: StoredCard): Promise<string> {
  const id = newId()
  const { is_default } = await tx.row<{ is_default: boolean }>(
    `insert into payment_methods (workspace_id, payment_method_id, provider, provider_ref, brand, last4, exp_month, exp_year, charge, created_at,
       is_default)
     values ($1, $2, $3, $2::uuid::text, $4, $5, $6, $7, $8, $9,
       not exists (select from payment_methods where workspace_id = $1 and provider = $3 and is_default))
     returning is_default`,
    [
      customer.workspace_id,
      id,
      PROVIDER,
      card.brand,
      card.last4,
      card.exp_month,
      card.exp_year,
      card.charge,
      new Date(),
    ],
  )
  if (is_default) await payOpenInvoice(tx, customer)
  return id
}

export async function setDefault(tx: Tx, customer: LedgerCustomer, methodId: string): Promise<void> {
  await tx.count(
    `update payment_methods set is_default = false where workspace_id = $1 and provider = 'builtin' and is_default and payment_method_id <> $2`,
    [customer.workspace_id, methodId],
  )
  const set = await tx.count(
    `update payment_methods set is_default = true where workspace_id = $1 and provider = 'builtin' and payment_method_id = $2`,
    [customer.workspace_id, methodId],
  )
  if (set === 0) throw problem('not_found')
  await payOpenInvoice(tx, customer)
}

/**
 * Removes a payment method. Checks the rules again under the customer's lock, so that two concurrent requests cannot
 * remove the last methods.
 */
export async function removeMethod(tx: Tx, customer: LedgerCustomer, methodId: string): Promise<void> {
  const methods = await tx.rows<{ payment_method_id: string; is_default: boolean }>(
    `select payment_method_id, is_default from payment_methods where workspace_id = $1 and provider = 'builtin'
     order by created_at desc, payment_method_id desc`,
    [customer.workspace_id],
  )
  const removed = methods.find(({ payment_method_id }) => payment_method_id === methodId)
  if (!removed) throw problem('not_found')
  const [next] = methods.filter(({ payment_method_id }) => payment_method_id !== methodId)
  if (!next) await refuseUnderSubscription(tx, customer)
  await tx.count('delete from payment_methods where workspace_id = $1 and payment_method_id = $2', [
    customer.workspace_id,
    methodId,
  ])
  if (removed.is_default && next) await setDefault(tx, customer, next.payment_method_id)
}

async function refuseUnderSubscription(tx: Tx, customer: LedgerCustomer): Promise<void> {
  const live = await tx.count(
    `select from billing_subscriptions where workspace_id = $1 and provider = 'builtin' and status <> 'cancelled'`,
    [customer.workspace_id],
  )
  if (live > 0) throw problem('method_in_use', 'Add another card first, or cancel the subscription.')
}
