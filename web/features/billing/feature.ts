import { CreditCard } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const billing: Feature = {
  pages: [
    { path: '/billing', page: [() => import('./overview.tsx'), 'BillingPage'] },
    { path: '/billing/cards', page: [() => import('./cards.tsx'), 'CardsPage'] },
    { path: '/billing/invoices', page: [() => import('./invoices.tsx'), 'InvoicesPage'] },
    { path: '/billing/records', page: [() => import('./records.tsx'), 'RecordsPage'] },
    { path: '/billing/records/$subscription_id', page: [() => import('./record.tsx'), 'RecordPage'] },
  ],
  nav: [{ group: 'administration', label: 'Billing', to: '/billing', icon: CreditCard }],
}
