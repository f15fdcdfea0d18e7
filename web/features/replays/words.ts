import type { Replay } from '#sdk/types.generated'

export const outcomeWords = { same: 'Same', different: 'Different', unreplayable: 'Cannot be replayed' } as const
export type Outcome = keyof typeof outcomeWords

/** Returns a text such as “982 same, 14 different, 4 cannot be replayed”. */
export const countsOf = ({ same, different, unreplayable }: Replay): string =>
  `${same} same, ${different} different, ${unreplayable} cannot be replayed`

const spans: Record<string, number> = { '1': 1, '7': 7, '30': 30 }
export const spanOptions = [
  { value: '', label: 'Any time' },
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
]
export const since = (span: string): string | undefined =>
  spans[span] === undefined ? undefined : new Date(Date.now() - spans[span] * 86_400_000).toISOString()
