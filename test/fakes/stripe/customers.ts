import { type Endpoint, find, list, newestFirst, text } from './endpoint.ts'
import { Refused } from './parameters.ts'
import { type Customer, newRef, type State } from './state.ts'

// Customers and their payment methods.

const methodOf = ({ behaviour: _behaviour, ...shown }: { behaviour: string }) => shown

function setDefault(state: State, customer: Customer, ref: string): void {
  const method = find(state.methods, 'PaymentMethod', ref)
  if (method.customer !== customer.id)
    throw new Refused(400, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `The customer does not have a payment method with the ID ${ref}.`,
    })
  customer.invoice_settings.default_payment_method = ref
}

export const customerEndpoints: Endpoint[] = [
  {
    method: 'POST',
    path: /^\/v1\/customers$/,
    shape: { optional: { name: 'text', email: 'text', metadata: 'metadata' } },
    run(state, params, _ids, emit) {
      const customer: Customer = {
        id: newRef('cus'),
        object: 'customer',
        name: text(params.name),
        email: text(params.email),
        balance: 0,
        created: state.now,
        invoice_settings: { default_payment_method: null },
        metadata: (params.metadata ?? {}) as Record<string, string>,
      }
      state.customers.set(customer.id, customer)
      emit('customer.created', { ...customer, customer: null })
      return customer
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/customers\/([^/]+)$/,
    shape: {},
    run: (state, _params, [id]) => {
      const customer = state.customers.get(id!)
      if (customer?.deleted) return { id, object: 'customer', deleted: true }
      return find(state.customers, 'customer', id!)
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/customers\/([^/]+)$/,
    shape: { optional: { invoice_settings: { default_payment_method: 'text' } } },
    run(state, params, [id], emit) {
      const customer = find(state.customers, 'customer', id!)
      const settings = params.invoice_settings as { default_payment_method: string } | undefined
      if (settings) setDefault(state, customer, settings.default_payment_method)
      emit('customer.updated', { ...customer, customer: null })
      return customer
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/customers\/([^/]+)\/payment_methods$/,
    shape: { optional: { type: ['card'], limit: 'integer' } },
    run(state, _params, [id]) {
      find(state.customers, 'customer', id!)
      const own = [...state.methods.values()].filter((method) => method.customer === id)
      return list(newestFirst(own).map(methodOf), `/v1/customers/${id}/payment_methods`)
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/setup_intents$/,
    shape: {
      required: { customer: 'text' },
      optional: { allowed_payment_method_types: ['text'], usage: ['off_session', 'on_session'] },
    },
    run(state, params) {
      const customer = find(state.customers, 'customer', text(params.customer))
      const id = newRef('seti')
      const intent = {
        id,
        object: 'setup_intent' as const,
        client_secret: `${id}_secret_${newRef('x').slice(2)}`,
        customer: customer.id,
        status: 'requires_payment_method' as const,
        payment_method: null,
        usage: text(params.usage ?? 'off_session'),
      }
      state.intents.set(id, intent)
      return intent
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/payment_methods\/([^/]+)\/detach$/,
    shape: {},
    run(state, _params, [id], emit) {
      const method = find(state.methods, 'PaymentMethod', id!)
      const { customer: ref } = method
      if (ref === null)
        throw new Refused(400, {
          type: 'invalid_request_error',
          message: 'The payment method is not attached to a customer.',
        })
      method.customer = null
      const customer = state.customers.get(ref)!
      if (customer.invoice_settings.default_payment_method === id)
        customer.invoice_settings.default_payment_method = null
      emit('payment_method.detached', methodOf(method) as never, { customer: ref })
      return methodOf(method)
    },
  },
]
