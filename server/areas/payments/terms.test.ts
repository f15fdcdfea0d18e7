import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Billing, startBilling } from '#test/fakes/stripe/bench'
import { makePerson, makeWorkspace, type TestPerson } from '#test/harness/world'

// Taxes and coupons of plans, and invoices as PDF.

const PLANS = '/api/payments/plans'
const SUBSCRIPTIONS = '/api/payments/subscriptions'

let billing: Billing
let operator: TestPerson
let plan_id: string
beforeAll(async () => {
  billing = await startBilling('builtin', { HEDDLE_OPERATORS: 'op@example.com' })
  operator = await makePerson(billing.service, { email: 'op@example.com' })
  await makeWorkspace(billing.service, operator)
  const body = {
    name: 'Team (Größe €)',
    amount: 1000,
    currency: 'eur',
    interval: 'month',
    tax: { name: 'VAT', percent: 19 },
    coupons: [
      { code: 'half', percent_off: 50, duration: 'forever' },
      { code: 'OLD', percent_off: 90, duration: 'once', expires_at: '2020-01-01T00:00:00Z' },
    ],
  }
  const made = await operator.call('POST', PLANS, { body })
  expect(made.status).toBe(201)
  plan_id = made.body.plan_id
})
afterAll(() => billing.stop())

async function newOwner(): Promise<TestPerson> {
  const owner = await makePerson(billing.service)
  await makeWorkspace(billing.service, owner)
  await billing.addCard(owner)
  return owner
}
const invoicesOf = async (owner: TestPerson) => (await owner.call('GET', '/api/payments/invoices')).body.items

describe('a plan', () => {
  test('shows its tax to everyone and its coupons to operators only', async () => {
    const owner = await newOwner()
    const seen = (await owner.call('GET', `${PLANS}/${plan_id}`)).body
    expect(seen.tax).toEqual({ name: 'VAT', percent: 19 })
    expect(seen).not.toHaveProperty('coupons')
    expect((await billing.service.call('GET', PLANS)).body.items[0]).not.toHaveProperty('coupons')
    const { coupons } = (await operator.call('GET', `${PLANS}/${plan_id}`)).body
    expect(coupons.map(({ code }: { code: string }) => code)).toEqual(['HALF', 'OLD'])
  })

  test.each([
    ['a tax over 100 percent', { tax: { name: 'VAT', percent: 101 } }],
    ['a tax without a name', { tax: { percent: 19 } }],
    ['a coupon of zero percent', { coupons: [{ code: 'ABC', percent_off: 0, duration: 'once' }] }],
    ['a code with a space', { coupons: [{ code: 'A B C', percent_off: 5, duration: 'once' }] }],
    [
      'the same code twice',
      {
        coupons: [
          { code: 'abc', percent_off: 5, duration: 'once' },
          { code: 'ABC', percent_off: 6, duration: 'once' },
        ],
      },
    ],
  ])('refuses %s and is not changed', async (_what, body) => {
    expect((await operator.call('PATCH', `${PLANS}/${plan_id}`, { body })).status).toBe(422)
    expect((await operator.call('GET', `${PLANS}/${plan_id}`)).body.tax.percent).toBe(19)
  })
})

describe('subscribing', () => {
  test('with a coupon in lower case subtracts the discount and adds the tax', async () => {
    const owner = await newOwner()
    expect((await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id, coupon: 'half' } })).status).toBe(201)
    const [invoice] = await invoicesOf(owner)
    expect(invoice.amount_paid).toBe(595)
    expect(
      invoice.lines.map(({ description, amount }: { description: string; amount: number }) => [description, amount]),
    ).toEqual([
      ['Team (Größe €), one month', 1000],
      ['Coupon HALF, 50% off', -500],
      ['VAT, 19%', 95],
    ])
  })

  test.each(['OLD', 'UNKNOWN'])('with the coupon %s is refused without a charge', async (coupon) => {
    const owner = await newOwner()
    const answer = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id, coupon } })
    expect([answer.status, answer.body.errors[0].path]).toEqual([422, '/coupon'])
    expect(await invoicesOf(owner)).toEqual([])
  })
})

test('an invoice is available as a PDF with its details, and the address of the PDF opens nothing else', async () => {
  const owner = await newOwner()
  await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id } })
  const [invoice] = await invoicesOf(owner)
  const url = new URL(invoice.pdf_url)
  const get = (path: string) => billing.service.app.http.inject({ method: 'GET', url: path })
  const answer = await get(url.pathname + url.search)
  expect(answer.headers['content-type']).toBe('application/pdf')
  expect(answer.headers['content-disposition']).toBe(`attachment; filename="invoice-${invoice.number}.pdf"`)
  const { extractText, getDocumentProxy } = await import('unpdf')
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(answer.rawPayload)), { mergePages: true })
  expect(text).toContain(`Invoice ${invoice.number}`)
  expect(text).toContain('Team (Größe €), one month')
  expect(text).toContain('€11.90')
  expect((await get(`${url.pathname}${url.search}x`)).statusCode).toBe(404)
})
