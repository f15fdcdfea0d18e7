import { useState } from 'react'
import type { BillingSubscription, Plan } from '#sdk/types.generated'
import { useApi, useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { isRefusal } from '#web/ui/messages.ts'
import { Card, Section } from '#web/ui/page.tsx'
import { Empty, ErrorState, Loaded, Loading } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { exactDay } from '#web/ui/time-words.ts'
import { BillingShell } from './billing-page.tsx'
import { Choices } from './choices.tsx'
import { UsageBars } from './usage.tsx'
import { priceOf, staleAfterBilling } from './words.ts'

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
    stale: [...staleAfterBilling],
    done: 'The subscription ends with the current period',
  })
  const keep = useChange('updateMyBillingSubscription', {
    stale: [...staleAfterBilling],
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
