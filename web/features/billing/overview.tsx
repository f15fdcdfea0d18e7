import { useState } from 'react'
import type { BillingSubscription, Plan } from '#sdk/types.generated'
import { useApi, useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { isRefusal } from '#web/ui/messages.ts'
import { Card, Section } from '#web/ui/page.tsx'
import { Empty, ErrorState, Loaded, Loading } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { exactDay } from '#web/ui/time-words.ts'
import { BillingShell } from './billing-page.tsx'
import { PlanCard } from './plan-card.tsx'
import { UsageBars } from './usage.tsx'
import { priceOf } from './words.ts'

const stale = ['getMyBillingSubscription', 'getUsage', 'listInvoices', 'listPaymentMethods'] as const

export function BillingPage() {
  const plans = useList('listPlans', { limit: 100 })
  const subscription = useApi('getMyBillingSubscription')
  const none = isRefusal(subscription.error, 404)
  return (
    <BillingShell section="Plan and usage">
      <Section title="Subscription">
        {subscription.isPending ? (
          <Loading rows={2} />
        ) : none ? (
          <Card>
            <p>
              No subscription.{' '}
              {plans.data?.some(({ amount }) => amount === 0)
                ? 'You are on the free plan until you choose another one.'
                : 'Choose a plan below.'}
            </p>
          </Card>
        ) : subscription.data ? (
          <Current
            subscription={subscription.data}
            plan={plans.data?.find(({ plan_id }) => plan_id === subscription.data.plan_id)}
          />
        ) : (
          <ErrorState error={subscription.error} what="the subscription" onRetry={() => void subscription.refetch()} />
        )}
      </Section>
      <UsageBars />
      <Section title="Plans">
        <Loaded of={plans} what="the plans">
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No plans">Usage is unlimited and free.</Empty>
            ) : (
              <Choices plans={rows} subscription={none ? null : (subscription.data ?? null)} />
            )
          }
        </Loaded>
      </Section>
    </BillingShell>
  )
}

function Current({ subscription, plan }: { subscription: BillingSubscription; plan: Plan | undefined }) {
  const { isOwner } = useRole()
  const [ending, setEnding] = useState(false)
  const cancel = useChange('cancelMyBillingSubscription', {
    stale: [...stale],
    done: 'The subscription ends with the current period',
  })
  const keep = useChange('updateMyBillingSubscription', {
    stale: [...stale],
    done: 'The subscription continues',
    failed: 'Could not keep the subscription',
  })
  const until = exactDay(subscription.current_period_end)
  return (
    <Card className="flex flex-wrap items-center gap-x-6 gap-y-3">
      <div className="min-w-[min(100%,16rem)] flex-1">
        <p className="flex items-center gap-2 text-base font-semibold">
          {plan?.name ?? 'A plan that is no longer offered'} <StatusBadge status={subscription.status} />
        </p>
        <p className="mt-1 text-ink-2">
          {plan && `${priceOf(plan)}. `}
          {subscription.cancel_at_period_end
            ? 'Expires '
            : subscription.status === 'trialing'
              ? 'The trial ends '
              : 'Renews '}
          <RelativeTime at={subscription.current_period_end} /> ({until}).
        </p>
        {subscription.status === 'past_due' && (
          <p role="alert" className="mt-2 text-danger">
            The last payment failed. Add a valid card and make it the default; it pays the open invoice at once.
          </p>
        )}
      </div>
      {isOwner &&
        (subscription.cancel_at_period_end ? (
          <Button look="primary" pending={keep.isPending} onClick={() => keep.mutate({ cancel_at_period_end: false })}>
            Keep subscription
          </Button>
        ) : (
          <Button onClick={() => setEnding(true)}>Cancel subscription…</Button>
        ))}
      <ConfirmDialog
        open={ending}
        onClose={() => setEnding(false)}
        title="Cancel the subscription?"
        consequence={`You keep the plan until ${until}, then the free plan's quotas apply. Nothing is deleted. You can undo this until then.`}
        action="Cancel at the end of the period"
        onConfirm={() => cancel.mutateAsync({ at: 'period_end' })}
      />
    </Card>
  )
}

function Choices({ plans, subscription }: { plans: Plan[]; subscription: BillingSubscription | null }) {
  const { isOwner } = useRole()
  const [chosen, setChosen] = useState<Plan | null>(null)
  const [challenge, setChallenge] = useState<string | null>(null)
  const subscribe = useChange('createBillingSubscription', {
    stale: [...stale],
    done: (made) => ('client_secret' in made ? 'Your bank asks you to confirm' : 'You are subscribed'),
    onDone: (made) => 'client_secret' in made && setChallenge(made.client_secret),
  })
  const change = useChange('updateMyBillingSubscription', { stale: [...stale], done: 'The plan was changed' })
  const live = subscription !== null && subscription.status !== 'cancelled'
  const consequence = (plan: Plan): string =>
    live
      ? 'Unused time on the current plan is credited. The rest of the period is charged at the new price, now and on one invoice.'
      : plan.trial_days > 0
        ? `One trial per workspace: ${plan.trial_days} days, then ${priceOf(plan)}. Your default card is charged when the trial ends, or at once if you already used the trial.`
        : plan.amount === 0
          ? 'Nothing is charged.'
          : `${priceOf(plan)}. Your default card is charged now and every ${plan.interval} until you cancel.`
  return (
    <>
      <ul className="grid gap-3 md:grid-cols-3">
        {plans.map((plan) => (
          <PlanCard
            key={plan.plan_id}
            plan={plan}
            current={live && subscription.plan_id === plan.plan_id}
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
        open={chosen !== null}
        onClose={() => setChosen(null)}
        look="primary"
        title={live ? `Change to ${chosen?.name}?` : `Subscribe to ${chosen?.name}?`}
        consequence={chosen && consequence(chosen)}
        action={live ? 'Change plan' : 'Subscribe'}
        onConfirm={() =>
          live ? change.mutateAsync({ plan_id: chosen!.plan_id }) : subscribe.mutateAsync({ plan_id: chosen!.plan_id })
        }
      />
      <Dialog open={challenge !== null} onClose={() => setChallenge(null)} title="Confirm the payment" size="medium">
        <div className="flex flex-col gap-4">
          <p>
            Your bank asks the holder of the card to confirm the first payment. Hand this client secret to Stripe's form
            (<code className="font-mono text-xs">stripe.confirmCardPayment</code>) within 23 hours. The subscription
            begins when that is done.
          </p>
          <CopyField label="Client secret" text={challenge ?? ''} secret />
        </div>
      </Dialog>
    </>
  )
}
