import { useState } from 'react'
import type { BillingSubscription, Plan } from '#sdk/types.generated'
import { useApi, useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Loading } from '#web/ui/states.tsx'
import { CardForm } from './add-card.tsx'
import { PlanCard } from './plan-card.tsx'
import { confirmPayment } from './stripe-form.tsx'
import { priceOf, staleAfterBilling } from './words.ts'

type Challenge = { client_secret: string; publishable_key: string | null }

/** The available plans. The plan whose quotas apply is marked, even if the workspace has not subscribed to it. */
export function Choices({ plans, subscription }: { plans: Plan[]; subscription: BillingSubscription | null }) {
  const { isOwner } = useRole()
  const usage = useApi('getUsage')
  const [chosen, setChosen] = useState<Plan | null>(null)
  const [challenge, setChallenge] = useState<Challenge | null>(null)
  const change = useChange('updateMyBillingSubscription', {
    stale: [...staleAfterBilling],
    done: 'The plan was changed',
  })
  const live = subscription !== null && subscription.status !== 'cancelled'
  const current = live ? subscription.plan_id : usage.data?.plan_id
  return (
    <>
      <ul className="grid gap-3 md:grid-cols-3">
        {plans.map((plan) => (
          <PlanCard
            key={plan.plan_id}
            plan={plan}
            current={current === plan.plan_id}
            action={
              isOwner && !(live && subscription.plan_id === plan.plan_id)
                ? live
                  ? 'Change to this plan'
                  : 'Subscribe'
                : null
            }
            onChoose={() => setChosen(plan)}
          />
        ))}
      </ul>
      <ConfirmDialog
        open={live && chosen !== null}
        onClose={() => setChosen(null)}
        look="primary"
        title={`Change to ${chosen?.name}?`}
        consequence="Unused time on the current plan is credited. The rest of the period is charged at the new price, now and on one invoice. A coupon ends with its plan."
        action="Change plan"
        onConfirm={() => change.mutateAsync({ plan_id: chosen!.plan_id })}
      />
      {!live && chosen !== null && (
        <SubscribeDialog plan={chosen} onClose={() => setChosen(null)} onChallenge={setChallenge} />
      )}
      <Dialog open={challenge !== null} onClose={() => setChallenge(null)} title="Confirm the payment" size="medium">
        {challenge && <Confirm challenge={challenge} onDone={() => setChallenge(null)} />}
      </Dialog>
    </>
  )
}

const consequence = (plan: Plan): string =>
  plan.trial_days > 0
    ? `One trial per workspace: ${plan.trial_days} days, then ${priceOf(plan)}. Your default card is charged when the trial ends, or at once if you already used the trial.`
    : plan.amount === 0
      ? 'Nothing is charged.'
      : `${priceOf(plan)}. Your default card is charged now and every ${plan.interval} until you cancel.`

/** Asks for a card first if a paid plan needs one and there is none. */
function SubscribeDialog({
  plan,
  onClose,
  onChallenge,
}: {
  plan: Plan
  onClose(): void
  onChallenge(challenge: Challenge): void
}) {
  const methods = useList('listPaymentMethods')
  const subscribe = useChange('createBillingSubscription', {
    stale: [...staleAfterBilling],
    done: (made) => ('client_secret' in made ? 'Your bank asks you to confirm' : 'You are subscribed'),
    onDone: (made) => {
      if ('client_secret' in made) onChallenge(made)
      onClose()
    },
  })
  const card = methods.data?.find((method) => method.default)
  const needsCard = plan.amount > 0 && methods.data !== undefined && !card
  return (
    <Dialog open onClose={onClose} title={`Subscribe to ${plan.name}?`} description={consequence(plan)} size="medium">
      {methods.isPending ? (
        <Loading rows={3} />
      ) : needsCard ? (
        <>
          <p className="mb-4 font-medium">First, add the card that is charged.</p>
          <CardForm onAdded={() => {}} onCancel={onClose} />
        </>
      ) : (
        <Form<{ coupon: string }>
          submit="Subscribe"
          onCancel={onClose}
          onSubmit={({ coupon }) =>
            subscribe.mutateAsync({ plan_id: plan.plan_id, ...(coupon?.trim() && { coupon: coupon.trim() }) })
          }
        >
          {plan.amount > 0 && card && <p className="text-ink-2">The card ending in {card.last4} is charged.</p>}
          {plan.amount > 0 && (
            <Field name="coupon" label="Coupon (optional)">
              <Input maxLength={40} autoComplete="off" className="max-w-60" />
            </Field>
          )}
        </Form>
      )}
    </Dialog>
  )
}

function Confirm({ challenge, onDone }: { challenge: Challenge; onDone(): void }) {
  const [refused, setRefused] = useState<string | null>(null)
  const [pending, setPending] = useState(false)
  if (challenge.publishable_key === null)
    return (
      <div className="flex flex-col gap-4">
        <p>
          Your bank asks the card holder to confirm the first payment. Use this client secret in Stripe's form (
          <code className="font-mono text-xs">stripe.confirmCardPayment</code>) within 23 hours. The subscription starts
          after the confirmation.
        </p>
        <CopyField label="Client secret" text={challenge.client_secret} secret />
      </div>
    )
  const confirm = async (key: string): Promise<void> => {
    setPending(true)
    const reason = await confirmPayment(key, challenge.client_secret).catch((error: Error) => error.message)
    setPending(false)
    setRefused(reason)
    if (reason === null) onDone()
  }
  return (
    <div className="flex flex-col gap-4">
      <p>Your bank asks you to confirm the first payment. The subscription starts after the confirmation.</p>
      {refused !== null && (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
          {refused}
        </p>
      )}
      <div className="flex justify-end">
        <Button look="primary" pending={pending} onClick={() => void confirm(challenge.publishable_key!)}>
          Confirm at the bank
        </Button>
      </div>
    </div>
  )
}
