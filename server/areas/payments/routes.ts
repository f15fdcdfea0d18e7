import { anyone, operator, owner, viewer, workspaceOwner } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { listCharges } from './charges.ts'
import type { Payments } from './payments.ts'
import { NewPlan, Plan, PlanPatch, planList } from './plan-schema.ts'
import { chargeList, Invoice, InvoicePageQuery, invoiceList, methodList, PaymentMethod, UsageCharge } from './schema.ts'
import { subscriptionRoutes } from './subscription-routes.ts'

const billingRoutes = ({ invoices, methods, plans }: Payments): AnyRoute[] =>
  routes(
    'Payments',
    {
      listInvoices: ['GET', '/api/payments/invoices', viewer('workspace')],
      showInvoice: ['GET', '/api/payments/invoices/:invoice_id/page', anyone],
      listUsageCharges: ['GET', '/api/payments/usage-charges', workspaceOwner],
      downloadInvoice: ['GET', '/api/payments/invoices/:invoice_id/pdf', anyone],
      listPaymentMethods: ['GET', '/api/payments/methods', viewer('workspace')],
      deletePaymentMethod: ['DELETE', '/api/payments/methods/:payment_method_id', owner('payment_method')],
      setDefaultPaymentMethod: ['POST', '/api/payments/methods/:payment_method_id/default', owner('payment_method')],
      listPlans: ['GET', '/api/payments/plans', anyone],
      createPlan: ['POST', '/api/payments/plans', operator],
      getPlan: ['GET', '/api/payments/plans/:plan_id', anyone],
      updatePlan: ['PATCH', '/api/payments/plans/:plan_id', operator],
      deletePlan: ['DELETE', '/api/payments/plans/:plan_id', operator],
    },
    {
      listInvoices: {
        summary: 'Invoices of the workspace, newest first',
        query: invoiceList.query,
        answer: page(Invoice),
        transaction: false,
        run: invoices.listInvoices,
      },
      showInvoice: {
        summary: 'The printable page of an invoice of the built-in provider',
        description: 'The address is in `url` of the invoice; it is signed and expires within two hours.',
        query: InvoicePageQuery,
        produces: ['text/html'],
        transaction: false,
        extension: true,
        run: invoices.showInvoice,
      },
      listUsageCharges: {
        summary: 'Usage that is charged, with the run that used it and the invoice that contains it',
        description:
          'For plans with prices for usage. `execution_id` selects the usage of one run, `invoice_id` the usage behind the lines of one invoice. On the invoice ' +
          'the usage is added up for each price, the included units are subtracted, and the sum is rounded once.',
        query: chargeList.query,
        answer: page(UsageCharge),
        extension: true,
        run: listCharges,
      },
      downloadInvoice: {
        summary: 'An invoice of the built-in provider as a PDF',
        description: 'The address is in `pdf_url` of the invoice; it is signed and expires within two hours.',
        query: InvoicePageQuery,
        produces: ['application/pdf'],
        transaction: false,
        extension: true,
        run: invoices.downloadInvoice,
      },
      listPaymentMethods: {
        summary: 'All payment methods of the workspace, newest first',
        query: methodList.query,
        answer: page(PaymentMethod),
        transaction: false,
        run: methods.listMethods,
      },
      deletePaymentMethod: {
        summary: 'Delete a payment method',
        description:
          'If it was the default, the newest other method becomes the default. The last method of a workspace with a subscription cannot be deleted: 409 `method_in_use`.',
        status: 204,
        transaction: false,
        current: methods.getMethod,
        run: methods.deleteMethod,
      },
      setDefaultPaymentMethod: {
        summary: 'Make a payment method the default one',
        description: 'It then pays an invoice that is open.',
        answer: PaymentMethod,
        transaction: false,
        alsoRefuses: [402],
        run: methods.setDefaultMethod,
      },
      listPlans: {
        summary: 'Billing plans of the org of the request host, cheapest first',
        description: 'A quota that is absent or null is unlimited.',
        query: planList.query,
        answer: page(Plan),
        run: plans.listPlans,
      },
      createPlan: {
        summary: 'Create a plan in the org of the request host',
        body: NewPlan,
        answer: Plan,
        status: 201,
        extension: true,
        location: ({ plan_id }, path) => `${path}/${plan_id}`,
        examples: {
          body: {
            name: 'Team',
            amount: 4900,
            currency: 'eur',
            interval: 'month',
            quotas: { members: 25 },
            features: [],
          },
        },
        transaction: false,
        run: plans.createPlan,
      },
      getPlan: { summary: 'One billing plan', extension: true, answer: Plan, run: plans.getPlan },
      updatePlan: {
        summary: 'Change a plan',
        description:
          'Amount, currency and interval cannot be changed while the plan has subscribers: 409 `plan_in_use`.',
        body: PlanPatch,
        answer: Plan,
        extension: true,
        current: plans.getPlan,
        transaction: false,
        run: plans.updatePlan,
      },
      deletePlan: {
        summary: 'Delete a plan; refused while it has subscribers',
        status: 204,
        extension: true,
        current: plans.getPlan,
        transaction: false,
        run: plans.deletePlan,
      },
    },
  )

export const paymentRoutes = (payments: Payments): AnyRoute[] => [
  ...billingRoutes(payments),
  ...subscriptionRoutes(payments),
]
