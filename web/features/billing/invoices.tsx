import { Download, ExternalLink, ReceiptText } from 'lucide-react'
import { useState } from 'react'
import type { Invoice } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button, buttonClass } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { formatMoney } from '#web/ui/format.ts'
import { Facts } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { locale } from '#web/words/language.ts'
import { BillingShell } from './billing-page.tsx'

const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const period = (from: string, to: string): string => `${day.format(new Date(from))} to ${day.format(new Date(to))}`

export function InvoicesPage() {
  const invoices = useList('listInvoices')
  const [shown, setShown] = useState<Invoice | null>(null)
  return (
    <BillingShell section="Invoices">
      <Loaded of={invoices} what="the invoices">
        {(rows) => (
          <Table
            label="Invoices"
            rows={rows}
            rowKey={(row) => row.invoice_id}
            more={invoices.more}
            empty={
              <Empty icon={ReceiptText} title="No invoices yet">
                Your first invoice appears when you subscribe to a paid plan.
              </Empty>
            }
            columns={[
              {
                header: 'Invoice number',
                cell: (row) => <span className="font-medium">{row.number ?? 'Draft'}</span>,
                width: '11rem',
              },
              { header: 'State', cell: (row) => <StatusBadge status={row.status} />, width: '8rem' },
              {
                header: 'Period',
                cell: (row) => <span className="text-ink-2">{period(row.period_start, row.period_end)}</span>,
                secondary: true,
              },
              {
                header: 'Amount',
                cell: (row) => formatMoney(row.amount_due, row.currency),
                align: 'right',
                width: '8rem',
              },
              {
                header: 'Created',
                cell: (row) => <RelativeTime at={row.created_at} />,
                width: '9rem',
                secondary: true,
              },
              {
                header: <span className="sr-only">Actions</span>,
                cell: (row) => (
                  <Button
                    size="small"
                    look="quiet"
                    onClick={() => setShown(row)}
                    aria-label={`Invoice ${row.number ?? ''} in detail`}
                  >
                    Details
                  </Button>
                ),
                width: '6rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={`Invoice ${shown?.number ?? ''}`}
        size="medium"
      >
        {shown && <Details invoice={shown} />}
      </Dialog>
    </BillingShell>
  )
}

const isAddress = (text: string | null): text is string => text !== null && /^(https?:\/\/|\/)/.test(text)

function Details({ invoice }: { invoice: Invoice }) {
  return (
    <div className="flex flex-col gap-5">
      <Facts
        facts={[
          ['State', <StatusBadge key="state" status={invoice.status} />],
          ['Period', period(invoice.period_start, invoice.period_end)],
          ['Due', formatMoney(invoice.amount_due, invoice.currency)],
          ['Paid', formatMoney(invoice.amount_paid, invoice.currency)],
        ]}
      />
      <Table
        label="Lines of the invoice"
        rows={invoice.lines}
        rowKey={(_, index) => String(index)}
        columns={[
          { header: 'For', cell: (line) => line.description },
          { header: 'Quantity', cell: (line) => line.quantity, align: 'right', width: '6rem' },
          {
            header: 'Amount',
            cell: (line) => formatMoney(line.amount, invoice.currency),
            align: 'right',
            width: '8rem',
          },
        ]}
      />
      <div className="flex flex-wrap gap-2">
        {isAddress(invoice.pdf_url) && (
          <a href={invoice.pdf_url} target="_blank" rel="noreferrer noopener" className={buttonClass()}>
            <Download aria-hidden className="size-4" /> Download PDF
          </a>
        )}
        {isAddress(invoice.url) && (
          <a href={invoice.url} target="_blank" rel="noreferrer noopener" className={buttonClass()}>
            <ExternalLink aria-hidden className="size-4" /> Open printable version
          </a>
        )}
      </div>
    </div>
  )
}
