import type { LedgerRecord } from '#sdk/types.generated'

type Status = LedgerRecord['status']

/** A record that an earlier run did with the same input is `skipped` on the wire; one that `only_if` leaves out is `filtered`. */
export const recordWords: Record<Status, string> = {
  failed: 'Failed',
  succeeded: 'Succeeded',
  running: 'Running',
  pending: 'Not started',
  skipped: 'Unchanged',
  filtered: 'Filtered out',
}

/** Why nothing ran for a record. */
export const recordReasons: Partial<Record<Status, string>> = {
  skipped: 'An earlier run processed it with the same input.',
  filtered: 'It does not meet the condition of the job.',
}
