import type { LedgerRecord } from '#sdk/types.generated'

type Status = LedgerRecord['status']

/**
 * A record that an earlier run processed with the same input is `skipped` on the wire; a record that `only_if` excludes
 * is `filtered`.
 */
export const recordWords: Record<Status, string> = {
  failed: 'Failed',
  succeeded: 'Succeeded',
  running: 'Running',
  pending: 'Not started',
  skipped: 'Unchanged',
  filtered: 'Filtered out',
}

/** Why a record was not processed. */
export const recordReasons: Partial<Record<Status, string>> = {
  skipped: 'An earlier run processed it with the same input.',
  filtered: 'It does not meet the condition of the job.',
}
