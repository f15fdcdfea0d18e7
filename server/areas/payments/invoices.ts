import { createHmac, timingSafeEqual } from 'node:crypto'
import { HOUR, SECOND } from '#platform/clock'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import type { Exchange } from '#platform/http/route'
import { fromWire, toWire } from '#platform/ids'
import type { Vault } from '#platform/secrets'
import { type BillingParts, inTransaction } from './customers.ts'
import { renderInvoice } from './page.ts'
import { type FoundInvoice, invoicePdf } from './pdf.ts'
import * as store from './store.ts'

type SignedAddress = { invoice_id: string; workspace: string; expires: string; signature: string }

/** The unit of expiry: the address of a page is valid for one to two hours. The list returns new addresses. */
const VALID_FOR = 1 * HOUR

export function makeInvoices(parts: BillingParts & { vault: Vault }) {
  const { provider, cache } = parts
  const key = parts.vault.derive('invoice pages')

  const sign = (workspace: string, invoiceId: string, expires: string): Buffer =>
    createHmac('sha256', key).update(`GET ${workspace} ${invoiceId} ${expires}`).digest()

  /** Returns a signed address. It expires on the hour, so that the list returns the same addresses for a while. */
  function addressOf(ctx: Context, workspaceId: string, invoiceId: string, form: 'page' | 'pdf'): string {
    const expires = String(((Math.floor(Date.now() / VALID_FOR) + 2) * VALID_FOR) / SECOND)
    const workspace = toWire('ws', workspaceId)
    const signature = sign(workspace, invoiceId, expires).toString('base64url')
    const query = new URLSearchParams({ workspace, expires, signature })
    return `${ctx.baseUrl}/api/payments/invoices/${toWire('inv', invoiceId)}/${form}?${query}`
  }

  /**
   * Opens a signed address. The signature is the credential: the address can be opened, printed and forwarded until it
   * expires.
   */
  async function openSigned(ctx: Context, input: SignedAddress): Promise<FoundInvoice> {
    const given = Buffer.from(input.signature, 'base64url')
    const wanted = sign(input.workspace, input.invoice_id, input.expires)
    const workspaceId = fromWire('ws', input.workspace)
    // Base64 has several spellings of the same bytes; only the spelling that we produce is accepted.
    const good =
      given.length === wanted.length &&
      timingSafeEqual(given, wanted) &&
      given.toString('base64url') === input.signature
    if (!good || workspaceId === undefined || Number(input.expires) * SECOND < Date.now()) throw problem('not_found')
    const found = await ctx.db.tenant({ workspaceId, userId: null }, async (tx) => {
      const invoice = await store.findInvoice(tx, workspaceId, input.invoice_id)
      return invoice && { invoice, ...(await store.findParties(tx, workspaceId)) }
    })
    if (!found) throw problem('not_found')
    return found
  }

  return {
    async listInvoices(ctx: Context, asked: ListInput) {
      const { workspace_id } = ctx.workspace
      await cache.refreshIfOld(workspace_id)
      const page = await inTransaction(ctx, (tx) => store.listInvoices(tx, workspace_id, provider.name, asked))
      return {
        ...page,
        items: page.items.map(({ hosted_url, pdf_url, ...row }) => ({
          ...row,
          url: provider.cached ? hosted_url : addressOf(ctx, workspace_id, row.invoice_id, 'page'),
          pdf_url: provider.cached ? pdf_url : addressOf(ctx, workspace_id, row.invoice_id, 'pdf'),
        })),
      }
    },

    async showInvoice(ctx: Context, input: SignedAddress, { reply }: Exchange): Promise<void> {
      const found = await openSigned(ctx, input)
      const { html, style } = renderInvoice(found)
      reply
        .type('text/html; charset=utf-8')
        .header('cache-control', 'private, no-store')
        .header(
          'content-security-policy',
          `default-src 'none'; style-src 'sha256-${style}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox allow-modals`,
        )
        .send(html)
    },

    async downloadInvoice(ctx: Context, input: SignedAddress, { reply }: Exchange): Promise<void> {
      const found = await openSigned(ctx, input)
      const name = (found.invoice.number ?? 'draft').replaceAll(/[^A-Za-z0-9._-]/g, '-')
      reply
        .type('application/pdf')
        .header('cache-control', 'private, no-store')
        .header('content-disposition', `attachment; filename="invoice-${name}.pdf"`)
        .header('content-security-policy', "default-src 'none'; sandbox")
        .send(invoicePdf(found))
    },
  }
}
