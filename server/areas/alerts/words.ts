import type { AlertKind } from './schema.ts'

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`

export function span(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

type Said = {
  kind: AlertKind
  workflow: string | null
  value: number | null
  threshold: number
  window_s: number
  runs?: number | undefined
}

const measured = ({ kind, value, window_s, runs }: Said): string => {
  if (value === null) return 'Too few runs to say more.'
  switch (kind) {
    case 'failure_rate':
      return `${percent(value)} of ${runs ?? 0} runs failed within ${span(window_s)}.`
    case 'duration':
      return `95 % of runs took up to ${span(value)} in the last ${span(window_s)}.`
    case 'queue_age':
      return `The oldest run has waited for ${span(value)}.`
    case 'silence':
      return `No run was started for ${span(value)}.`
    case 'budget':
      return `${percent(value)} of a budget are spent.`
  }
}

const isShare = (kind: AlertKind): boolean => kind === 'failure_rate' || kind === 'budget'

/** Returns the text of a notification: the workflow or workspace, the measured value and the limit. */
export const bodyOf = (said: Said): string =>
  `${said.workflow === null ? 'The workspace' : `"${said.workflow}"`}: ${measured(said)} The limit is ${
    isShare(said.kind) ? percent(said.threshold) : span(said.threshold)
  }.`
