import { createHash } from 'node:crypto'
import { formatMoney } from '#providers/billing/money'
import type { InvoiceRow } from './store.ts'

// The printable page of an invoice of the built-in provider: no scripts, and one style whose hash is in the content
// security policy.

const style = `
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 44rem; margin: 3rem auto; padding: 0 1.5rem }
header { display: flex; justify-content: space-between; align-items: baseline; border-bottom: 2px solid #1a1a1a }
h1 { font-size: 1.4rem } dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.5rem }
dt { color: #595959 } dd { margin: 0 } table { width: 100%; border-collapse: collapse; margin-top: 2rem }
th { text-align: left; color: #595959; font-weight: 500 } th, td { padding: .5rem 0; border-bottom: 1px solid #d9d9d9 }
.money { text-align: right; font-variant-numeric: tabular-nums } tfoot td { font-weight: 600; border-bottom: 0 }
@media print { body { margin: 0 auto } }
`
const styleHash = createHash('sha256').update(style).digest('base64')

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => entities[letter]!)
const day = (time: Date | string): string => new Date(time).toISOString().slice(0, 10)

export function renderInvoice({ invoice, seller, buyer }: { invoice: InvoiceRow; seller: string; buyer: string }): {
  html: string
  style: string
} {
  const money = (amount: number): string => escaped(formatMoney(amount, invoice.currency))
  const lines = invoice.lines.map(
    (line) =>
      `<tr><td>${escaped(line.description)}</td><td>${day(line.period_start)} to ${day(line.period_end)}</td><td class="money">${money(line.amount)}</td></tr>`,
  )
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Invoice ${escaped(invoice.number ?? '')}</title><style>${style}</style></head>
<body>
<header><h1>Invoice ${escaped(invoice.number ?? '')}</h1><p>${escaped(seller)}</p></header>
<dl>
<dt>For</dt><dd>${escaped(buyer)}</dd>
<dt>Date</dt><dd>${day(invoice.created_at)}</dd>
<dt>Period</dt><dd>${day(invoice.period_start)} to ${day(invoice.period_end)}</dd>
<dt>Status</dt><dd>${escaped(invoice.status)}</dd>
</dl>
<table>
<thead><tr><th scope="col">Description</th><th scope="col">Period</th><th scope="col" class="money">Amount</th></tr></thead>
<tbody>${lines.join('')}</tbody>
<tfoot><tr><td colspan="2">Due</td><td class="money">${money(invoice.amount_due)}</td></tr>
<tr><td colspan="2">Paid</td><td class="money">${money(invoice.amount_paid)}</td></tr></tfoot>
</table>
</body>
</html>
`
  return { html, style: styleHash }
}
