import { Pencil, Plus, Tags, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Plan } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Card, Page, Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { exactTime } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'
import { priceOf, quotaText, usageLines } from '../billing/words.ts'
import { OperatorsOnly } from './operators-only.tsx'
import { PlanDialog } from './plan-dialog.tsx'

export const PlansPage = () => (
  <OperatorsOnly title="Plans">
    <Plans />
  </OperatorsOnly>
)

function Plans() {
  const plans = useList('listPlans', { limit: 100 })
  const [edited, setEdited] = useState<Plan | 'new' | null>(null)
  const [asked, setAsked] = useState<Plan | null>(null)
  const remove = useChange('deletePlan', { stale: ['listPlans'], done: 'Plan deleted' })
  const make = (
    <Button look="primary" icon={Plus} onClick={() => setEdited('new')}>
      New plan
    </Button>
  )
  return (
    <Page
      title="Plans"
      description="Plans that workspaces of this host can subscribe to. Without a subscription, the oldest free plan applies."
      actions={make}
    >
      <Loaded of={plans} what="the plans">
        {(rows) => (
          <Table
            label="Plans"
            rows={rows}
            rowKey={(row) => row.plan_id}
            more={plans.more}
            empty={
              <Empty icon={Tags} title="No plans yet" action={make}>
                Without plans, usage is unlimited and free.
              </Empty>
            }
            columns={[
              { header: 'Name', cell: (row) => <span className="font-medium">{row.name}</span> },
              { header: 'Price', cell: (row) => priceOf(row), width: '9rem' },
              {
                header: 'Trial',
                cell: (row) => (row.trial_days > 0 ? `${row.trial_days} days` : '–'),
                width: '6rem',
                secondary: true,
              },
              {
                header: 'Usage and quotas',
                cell: (row) => (
                  <span className="whitespace-normal text-ink-2">
                    {[...usageLines(row), quotaText(row.quotas)].join(', ')}
                  </span>
                ),
                width: '45%',
                secondary: true,
              },
              {
                header: <span className="sr-only">Actions</span>,
                cell: (row) => (
                  <>
                    <IconButton
                      size="small"
                      icon={Pencil}
                      label={`Change ${row.name}`}
                      onClick={() => setEdited(row)}
                    />
                    <IconButton size="small" icon={Trash2} label={`Delete ${row.name}`} onClick={() => setAsked(row)} />
                  </>
                ),
                width: '5rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
      <TestClock />
      <PlanDialog plan={edited} onClose={() => setEdited(null)} />
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Delete ${asked?.name}?`}
        consequence="No one can subscribe to it any more. You cannot delete a plan that has subscribers."
        action="Delete plan"
        onConfirm={() => remove.mutateAsync({ plan_id: asked!.plan_id })}
      />
    </Page>
  )
}

/**
 * The test clock, for the owner of the workspace. Only the built-in provider has one; Stripe controls its own clock.
 */
function TestClock() {
  const { workspace } = useMe()
  const move = useChange('moveTestClock', {
    stale: ['listInvoices', 'getMyBillingSubscription', 'getUsage'],
    done: ({ now }) => `The billing clock is at ${exactTime(now)}`,
  })
  if (workspace?.role !== 'owner') return null
  return (
    <Section
      className="mt-8"
      title={`Billing clock of ${workspace?.name ?? t('this workspace')}`}
      description="For testing renewals with the built-in provider. Everything that falls due in the skipped time happens at once. The clock cannot go back."
    >
      <Card className="max-w-md">
        <Form<{ now: string }>
          submit="Move forward"
          onSubmit={({ now }) => move.mutateAsync({ now: new Date(now).toISOString() })}
        >
          <Field name="now" label="To">
            <Input type="datetime-local" required />
          </Field>
        </Form>
      </Card>
    </Section>
  )
}
