import type { SuiteRun } from '#sdk/types.generated'
import { Badge, StatusBadge } from '#web/ui/badge.tsx'
import { formatNumber, formatTenths } from '#web/ui/format.ts'
import { formatDuration } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'
import { dollars } from '../insights/words.ts'

export const percent = (rate: number): string => `${formatTenths(Math.round(rate * 1000) / 10)} %`

export function PassRate({ run }: { run: Pick<SuiteRun, 'status' | 'pass_rate' | 'passed' | 'total'> }) {
  if (run.pass_rate === null) return <StatusBadge status={run.status} />
  return (
    <Badge tone={run.pass_rate === 1 ? 'success' : run.pass_rate >= 0.8 ? 'waiting' : 'danger'}>
      {percent(run.pass_rate)} passed ({run.passed} of {run.total})
    </Badge>
  )
}

export const outcomeWords = {
  passed: 'Passed',
  failed: 'Not as expected',
  error: 'The workflow failed',
  unjudged: 'Not checked',
} as const
export type Outcome = keyof typeof outcomeWords

const tones = { passed: 'success', failed: 'danger', error: 'danger', unjudged: 'waiting' } as const
export const OutcomeBadge = ({ outcome }: { outcome: Outcome }) => (
  <Badge tone={tones[outcome]}>{outcomeWords[outcome]}</Badge>
)

export const effectWords = { mock: 'Mocked', pinned: 'Recorded', live: 'Live' } as const

type Usage = { input_tokens?: unknown; output_tokens?: unknown; cost?: unknown }

export const tokensOf = ({ input_tokens, output_tokens }: Usage): number =>
  Number(input_tokens ?? 0) + Number(output_tokens ?? 0)

/** Returns tokens and cost; an empty text if no model was called. */
export const usageInWords = (usage: Usage): string => {
  const tokens = tokensOf(usage)
  if (tokens === 0) return t('none')
  const cost = typeof usage.cost === 'number' ? `, ${dollars(usage.cost)}` : ''
  return t('{0} tokens', [formatNumber(tokens)]) + cost
}

export const milliseconds = (ms: number | null): string => (ms === null ? '–' : formatDuration(ms))
