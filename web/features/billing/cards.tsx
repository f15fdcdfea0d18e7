import { CreditCard, Plus, Star } from 'lucide-react'
import { useState } from 'react'
import type { PaymentMethod } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { capitalize } from '#web/ui/format.ts'
import { MenuItem } from '#web/ui/menu.tsx'
import { Card } from '#web/ui/page.tsx'
import { menuColumn, RowMenu } from '#web/ui/row-menu.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { AddCard, CardForm } from './add-card.tsx'
import { BillingShell } from './billing-page.tsx'

export function CardsPage() {
  const { isOwner } = useRole()
  const [adding, setAdding] = useState(false)
  const methods = useList('listPaymentMethods')
  const add = isOwner && (methods.data?.length ?? 0) > 0 && (
    <Button look="primary" icon={Plus} onClick={() => setAdding(true)}>
      Add card
    </Button>
  )
  return (
    <BillingShell section="Cards" actions={add}>
      <Loaded of={methods} what="the cards">
        {(rows) => (
          <Table
            label="Cards"
            rows={rows}
            rowKey={(row) => row.payment_method_id}
            more={methods.more}
            empty={
              isOwner ? (
                <Card className="max-w-xl">
                  <h2 className="mb-1 text-base font-semibold">Add the first card</h2>
                  <p className="mb-4 text-ink-2">A paid plan requires a card. The first one becomes the default.</p>
                  <CardForm onAdded={() => {}} />
                </Card>
              ) : (
                <Empty icon={CreditCard} title="No cards yet">
                  A paid plan requires a card. A workspace owner can add one.
                </Empty>
              )
            }
            columns={[
              {
                header: 'Card',
                cell: (row) => (
                  <span className="flex items-center gap-2 font-medium">
                    {capitalize(row.brand)} ending in {row.last4}
                    {row.default && <Badge tone="accent">Default</Badge>}
                  </span>
                ),
              },
              {
                header: 'Valid until',
                cell: (row) => `${String(row.exp_month).padStart(2, '0')}/${row.exp_year}`,
                width: '8rem',
                secondary: true,
              },
              { header: 'Added', cell: (row) => <RelativeTime at={row.created_at} />, width: '9rem', secondary: true },
              { ...menuColumn, cell: (row) => isOwner && <CardMenu card={row} /> },
            ]}
          />
        )}
      </Loaded>
      <AddCard open={adding} onClose={() => setAdding(false)} />
    </BillingShell>
  )
}

function CardMenu({ card }: { card: PaymentMethod }) {
  const { payment_method_id, last4 } = card
  const remove = useChange('deletePaymentMethod', { stale: ['listPaymentMethods'], done: 'The card was deleted' })
  const prefer = useChange('setDefaultPaymentMethod', {
    stale: ['listPaymentMethods', 'listInvoices', 'getMyBillingSubscription'],
    done: ({ last4 }) => `The card ending in ${last4} is now the default`,
    failed: 'Could not change the default',
  })
  return (
    <RowMenu
      name={`${capitalize(card.brand)} ${last4}`}
      removal={{
        title: `Delete the card ending in ${last4}?`,
        consequence: card.default
          ? 'This is the default card. The newest other card becomes the default. You cannot delete the last card while a subscription uses it.'
          : 'It will no longer be charged. You can add it again.',
        action: 'Delete card',
        onConfirm: () => remove.mutateAsync({ payment_method_id }),
      }}
    >
      {!card.default && (
        <MenuItem icon={Star} onSelect={() => prefer.mutate({ payment_method_id })}>
          Make default
        </MenuItem>
      )}
    </RowMenu>
  )
}
