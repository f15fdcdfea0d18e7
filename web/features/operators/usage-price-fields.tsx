import type { Plan } from '#sdk/types.generated'
import { Field, Input, Select } from '#web/ui/field.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { DOLLAR, withOwn } from './usage-prices.ts'

const dollars = (units: number): string =>
  units === DOLLAR ? 'One US dollar' : `${formatNumber(units / DOLLAR)} US dollars`

/** What a plan charges for language models, besides its price. */
export function UsagePriceFields({ plan }: { plan: Plan | null }) {
  const tokens = plan?.usage_prices.find(({ meter }) => meter === 'model_tokens')
  const cost = plan?.usage_prices.find(({ meter }) => meter === 'model_cost')
  return (
    <fieldset className="grid gap-4 sm:grid-cols-3">
      <legend className="mb-2 font-medium">Prices for usage of language models (empty: none)</legend>
      <Field name="tokens_price" label="Price for tokens" hint="In minor units.">
        <Input type="number" min={0} step={1} defaultValue={tokens?.unit_amount ?? ''} />
      </Field>
      <Field name="tokens_per" label="Charged per">
        <Select
          defaultValue={String(tokens?.per ?? 1_000_000)}
          options={withOwn([1_000, 1_000_000], tokens?.per).map((per) => ({
            value: String(per),
            label: `${formatNumber(per)} tokens`,
          }))}
        />
      </Field>
      <Field name="tokens_included" label="Tokens included" hint="In each period.">
        <Input type="number" min={0} step={1} defaultValue={tokens?.included ?? ''} />
      </Field>
      <Field name="cost_price" label="Price for the cost of models" hint="In minor units: 120 adds a fifth.">
        <Input type="number" min={0} step={1} defaultValue={cost?.unit_amount ?? ''} />
      </Field>
      <Field name="cost_per" label="Charged per">
        <Select
          defaultValue={String(cost?.per ?? DOLLAR)}
          options={withOwn([DOLLAR], cost?.per).map((per) => ({ value: String(per), label: dollars(per) }))}
        />
      </Field>
      <Field name="cost_included" label="US dollars included" hint="In each period.">
        <Input type="number" min={0} step="any" defaultValue={cost ? cost.included / DOLLAR : ''} />
      </Field>
    </fieldset>
  )
}
