import { expect, test } from 'vitest'
import { readUsagePrices, withOwn } from './usage-prices.ts'

const EMPTY = {
  tokens_price: '',
  tokens_per: '1000000',
  tokens_included: '',
  cost_price: '',
  cost_per: '1000000',
  cost_included: '',
}

test('an empty price means no price', () => {
  expect(readUsagePrices(EMPTY)).toEqual([])
  expect(readUsagePrices({ ...EMPTY, tokens_included: '5', cost_included: '5' })).toEqual([])
})

test('dollars are counted in millionths', () => {
  const values = { ...EMPTY, tokens_price: '200', tokens_included: '100000', cost_price: '120', cost_included: '2.5' }
  expect(readUsagePrices(values)).toEqual([
    { meter: 'model_tokens', unit_amount: 200, per: 1_000_000, included: 100_000 },
    { meter: 'model_cost', unit_amount: 120, per: 1_000_000, included: 2_500_000 },
  ])
})

test('prices keep the order of the plan', () => {
  const values = { ...EMPTY, tokens_price: '2', cost_price: '1' }
  const meters = readUsagePrices(values, [
    { meter: 'model_cost', unit_amount: 1, per: 1, included: 0 },
    { meter: 'model_tokens', unit_amount: 1, per: 1, included: 0 },
  ]).map(({ meter }) => meter)
  expect(meters).toEqual(['model_cost', 'model_tokens'])
  const tokens = { meter: 'model_tokens' as const, unit_amount: 1, per: 1, included: 0 }
  expect(readUsagePrices(values, [tokens]).map(({ meter }) => meter)).toEqual(['model_tokens', 'model_cost'])
})

test('the unit of an existing plan is offered even if it is not a default choice', () => {
  expect(withOwn([1_000, 1_000_000], 10)).toEqual([10, 1_000, 1_000_000])
  expect(withOwn([1_000, 1_000_000], 1_000)).toEqual([1_000, 1_000_000])
})
