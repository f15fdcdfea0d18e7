import type { Usage } from './index.ts'
import table from './prices.json' with { type: 'json' }

// The cost of a response if the provider does not report it. Prices are list prices for a million tokens, without
// discounts for cached or batched input and without higher prices for long input.

export type Price = { input: number; output: number }
export type NamedPrice = Price & { model: string }

export const shippedPrices: { as_of: string; currency: string; models: NamedPrice[] } = table

const byModel = new Map<string, Price>(table.models.map((price) => [price.model, price]))

/**
 * Matches the suffix of a dated or aliased release, which costs the same as its model: `gpt-4o-2024-08-06`,
 * `claude-sonnet-4-20250514`.
 */
const RELEASE = /(?:-\d{4}-\d{2}-\d{2}|-20\d{6}|@20\d{6}|-latest|-\d{3})$/

/**
 * Returns the names under which a price may be listed, the most specific first. `openai-compatible/openai/gpt-4o` is
 * the name that a router uses for `openai/gpt-4o`. Only operators set prices for names without a provider.
 */
export function namesOf(model: string): string[] {
  const routed = model.replace(/^openai-compatible\//, '')
  const names = [model, routed]
  for (const name of [model, routed]) if (RELEASE.test(name)) names.push(name.replace(RELEASE, ''))
  const bare = model.slice(model.indexOf('/') + 1)
  return [...new Set([...names, bare, bare.replace(RELEASE, '')])]
}

/** Returns the price that ships with the program. Undefined if there is none. */
export function shippedPrice(model: string): Price | undefined {
  for (const name of namesOf(model)) {
    const price = byModel.get(name)
    if (price) return price
  }
  return undefined
}

const PER_TOKENS = table.per_tokens

export const costOf = ({ input_tokens, output_tokens }: Usage, { input, output }: Price): number =>
  (input_tokens * input + output_tokens * output) / PER_TOKENS
