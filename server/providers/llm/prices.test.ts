import { describe, expect, test } from 'vitest'
import { costOf, namesOf, shippedPrice, shippedPrices } from './prices.ts'

describe('the shipped prices', () => {
  test('have a date, and contain each model once', () => {
    expect(shippedPrices.as_of).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    const names = shippedPrices.models.map(({ model }) => model)
    expect(new Set(names).size).toBe(names.length)
    expect(shippedPrices.models.every(({ input, output }) => input >= 0 && output >= input)).toBe(true)
  })

  test.each([
    ['openai/gpt-4o', 2.5],
    ['openai/gpt-4o-2024-08-06', 2.5],
    ['openai/gpt-4o-mini', 0.15],
    ['openai/gpt-4o-mini-2024-07-18', 0.15],
    ['anthropic/claude-sonnet-4-20250514', 3],
    ['anthropic/claude-3-5-haiku-latest', 0.8],
    ['google/gemini-2.0-flash-001', 0.1],
    ['openai-compatible/openai/gpt-4o', 2.5],
    // A private server may give its model any name.
    ['openai-compatible/gpt-4o', undefined],
    ['openai/gpt-4o-audio-preview', undefined],
    ['none', undefined],
  ])('contain %s with the input price %s', (model, input) => {
    expect(shippedPrice(model)?.input).toBe(input)
  })

  test('are looked up by the full name of a model, without its release, and without its provider', () => {
    expect(namesOf('openai-compatible/llama-3-latest')).toEqual([
      'openai-compatible/llama-3-latest',
      'llama-3-latest',
      'openai-compatible/llama-3',
      'llama-3',
    ])
  })

  test('apply to a million tokens', () => {
    expect(costOf({ input_tokens: 2_000_000, output_tokens: 500_000 }, { input: 3, output: 10 })).toBe(11)
    expect(costOf({ input_tokens: 0, output_tokens: 0 }, { input: 3, output: 10 })).toBe(0)
  })
})
