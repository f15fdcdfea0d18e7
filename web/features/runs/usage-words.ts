import { isObject } from '#model/json'
import type { ModelUsage } from '#sdk/types.generated'
import { formatShort, plural } from '#web/ui/format.ts'
import { t } from '#web/words/language.ts'
import { dollars } from '../insights/words.ts'

type Counted = Partial<ModelUsage> & { input_tokens: number; output_tokens: number }

export const isUsage = (value: unknown): value is Counted =>
  isObject(value) && typeof value.input_tokens === 'number' && typeof value.output_tokens === 'number'

/** Returns the cost, as far as it is known. */
export const costText = ({ cost, unpriced_calls = 0 }: Counted): string =>
  cost == null ? t('cost unknown') : unpriced_calls > 0 ? t('at least {0}', [dollars(cost)]) : dollars(cost)

export const usageText = (usage: Counted): string =>
  [
    costText(usage),
    `${formatShort(usage.input_tokens)} tokens in`,
    `${formatShort(usage.output_tokens)} tokens out`,
    ...(usage.calls === undefined ? [] : [plural(usage.calls, 'call', 'calls')]),
  ].join(' · ')
