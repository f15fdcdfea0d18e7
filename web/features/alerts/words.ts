import type { AlertRule } from '#sdk/types.generated'
import { formatNumber } from '#web/ui/format.ts'

type Kind = AlertRule['kind']

/** What a rule measures, the unit in which users enter it, and the factor from that unit to the unit of the service. */
export const kinds: Record<Kind, { label: string; unit: string; per: number; usual: string }> = {
  failure_rate: { label: 'Runs fail too often', unit: '% of runs', per: 0.01, usual: '20' },
  duration: { label: 'Runs take too long', unit: 'seconds (p95)', per: 1, usual: '60' },
  queue_age: { label: 'Runs wait too long in the queue', unit: 'seconds', per: 1, usual: '60' },
  silence: { label: 'No run is started', unit: 'minutes', per: 60, usual: '1440' },
  budget: { label: 'A budget runs out', unit: '% spent', per: 0.01, usual: '80' },
}

export const kindOptions = Object.entries(kinds).map(([value, { label }]) => ({ value, label }))

export const hasWindow = (kind: Kind): boolean => kind === 'failure_rate' || kind === 'duration'

/** Converts to the unit of the service; rounded, because 0.01 has no exact binary representation. */
export const thresholdOf = (kind: Kind, typed: number): number => Number((typed * kinds[kind].per).toPrecision(12))

/** Converts to the unit in which users enter it. */
export const typedOf = ({ kind, threshold }: Pick<AlertRule, 'kind' | 'threshold'>): number =>
  Number((threshold / kinds[kind].per).toPrecision(6))

export const limitWords = (rule: Pick<AlertRule, 'kind' | 'threshold'>): string =>
  `${formatNumber(typedOf(rule))} ${kinds[rule.kind].unit}`

export const isSilenced = ({ silenced_until }: AlertRule): boolean =>
  silenced_until !== null && Date.parse(silenced_until) > Date.now()
