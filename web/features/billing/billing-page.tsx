import { Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMe, useRole } from '#web/session.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { TabLinks } from '#web/ui/tabs.tsx'

export function BillingShell({
  section,
  actions,
  children,
}: {
  section: string
  actions?: ReactNode
  children: ReactNode
}) {
  const { workspace } = useMe()
  const { isGuest, isOwner } = useRole()
  if (isGuest) {
    return (
      <Page title="Billing">
        <Empty icon={Lock} title="Guests cannot see billing">
          Ask a workspace owner for access.
        </Empty>
      </Page>
    )
  }
  return (
    <Page
      title={`Billing · ${section}`}
      heading="Billing"
      description={
        isOwner
          ? `Plan, usage and cost of ${workspace?.name}.`
          : `Plan, usage and cost of ${workspace?.name}. Only owners can change them.`
      }
      actions={actions}
    >
      <TabLinks
        label="Sections of billing"
        tabs={[
          { to: '/billing', label: 'Plan and usage', exact: true },
          { to: '/billing/cards', label: 'Cards' },
          { to: '/billing/invoices', label: 'Invoices' },
          { to: '/billing/records', label: 'Subscription records' },
        ]}
      />
      {children}
    </Page>
  )
}
